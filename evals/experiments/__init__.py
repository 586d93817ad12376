"""Experiments: one folder each with a bar that was committed before the run, the run, its rows and its report."""

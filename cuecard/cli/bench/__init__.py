"""Measure it on this machine; every figure as JSON with --json."""

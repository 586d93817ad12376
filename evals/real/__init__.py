"""Measurement on real dialogues: loading, splits, scores and curves."""

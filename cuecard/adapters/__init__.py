"""Thin adapters for voice frameworks; each needs its framework, an optional extra."""

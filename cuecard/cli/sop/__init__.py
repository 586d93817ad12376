"""Check, draw and start procedures."""

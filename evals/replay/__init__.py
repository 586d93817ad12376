"""Recorded calls played again on virtual time: what other settings would have had ready, and wasted."""

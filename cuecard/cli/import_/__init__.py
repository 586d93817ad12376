"""Load recorded conversations as precedents."""

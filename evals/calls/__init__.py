"""Whole simulated calls on virtual time, and what each policy of fetching early would have hidden of their waiting."""

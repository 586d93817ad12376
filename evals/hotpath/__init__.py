"""How long the responder takes from final words to first word, beside the floor that nobody can beat."""

from evals.hotpath.measure import measure

__all__ = ["measure"]

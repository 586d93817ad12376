"""Stops asking a back end that keeps failing, and asks again after a while.

Own code and not a package: the published ones read the system's clock, and ours is passed in.
"""

from dataclasses import dataclass

FAILURES_TO_OPEN = 4
OPEN_S = 20.0


@dataclass(slots=True)
class Breaker:
    """Closed until `failures_to_open` failures in a row; then open for `open_s`; then one trial decides."""

    failures_to_open: int = FAILURES_TO_OPEN
    open_s: float = OPEN_S
    failures: int = 0
    opened_at_s: float | None = None
    trying: bool = False

    def allows(self, now_s: float) -> bool:
        """Whether a fetch may go now; a half-open breaker lets one through until its result is in."""
        if self.opened_at_s is None:
            return True
        if now_s < self.opened_at_s + self.open_s or self.trying:
            return False
        self.trying = True
        return True

    def succeeded(self) -> None:
        self.failures, self.opened_at_s, self.trying = 0, None, False

    def failed(self, now_s: float) -> None:
        self.failures += 1
        if self.trying or self.failures >= self.failures_to_open:
            self.opened_at_s = now_s
        self.trying = False

    def forgot(self) -> None:
        """A trial was cancelled: it says nothing, the next may try."""
        self.trying = False

"""Every error Cuecard raises on purpose. Messages name the place and the remedy."""


class CuecardError(Exception):
    """Base of all of them, so that a front can catch one type and show its message."""


class ProcedureError(CuecardError):
    """A procedure could not be found or does not hold together."""


class WeightsError(CuecardError):
    """Model weights are missing or not the pinned ones."""


class ModelError(CuecardError):
    """A chat model timed out, refused, or answered something that could not be used."""


class FetchError(CuecardError):
    """A dependency could not be fetched."""

    def __init__(self, dep: str, message: str) -> None:
        super().__init__(message)
        self.dep = dep


class FetchTimeout(FetchError):
    """A dependency took longer than its limit."""

    def __init__(self, dep: str, waited_s: float) -> None:
        super().__init__(dep, f"{dep} did not answer within {waited_s:.1f} s")
        self.waited_s = waited_s


class FetchRefused(FetchError):
    """A fetch that must not happen: a write ahead of time, or something personal before identity is verified."""


class StorageError(CuecardError):
    """The data folder or database could not be used."""


class UtteranceError(CuecardError):
    """The caller's words cannot be taken as they are (too long, or nothing in them)."""

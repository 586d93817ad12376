"""One run's knobs: LangGraph's `context_schema`, JSON, shown as a form in Studio."""

from typing import Literal

from pydantic import BaseModel, Field

from cuecard.settings import Settings


class Context(BaseModel):
    """What a caller of the graphs may choose per run; None leaves it to the process's settings."""

    procedure: str = Field(
        default="insurance_renewal", description="Name of a shipped procedure, or path of a YAML file."
    )
    tenant: str = Field(
        default="default", description="Whose callers these are; nothing crosses tenants.", max_length=64
    )
    session_id: str | None = Field(
        default=None, description="Names the call; the thread id when empty.", max_length=128
    )
    prefetch: Literal["value", "none"] = Field(default="value", description="none: answer without working ahead.")
    label: Literal["speculative", "curated"] = Field(
        default="speculative", description="How the prompt presents the items; curated is for comparison only."
    )
    picks: int | None = Field(default=None, ge=0, le=10, description="Items shown to the responder.")
    search: bool | None = Field(default=None, description="Let tree search decide uncertain turns.")
    price_s: float | None = Field(default=None, ge=0, description="Price of a fetch in seconds of stall.")

    def n_picks(self, settings: Settings) -> int:
        return self.picks if self.picks is not None else settings.picks

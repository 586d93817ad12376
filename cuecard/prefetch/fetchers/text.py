"""How a record reads to people and to the embedder."""

from collections.abc import Mapping
from typing import Any

from cuecard.prefetch.slots import fill_partly
from sops.models import Dependency


def summary_of(spec: Dependency, record: Mapping[str, Any]) -> str:
    """The declared summary with its slots filled, else the record's fields in order."""
    if spec.summary:
        return fill_partly(spec.summary, record)
    return "; ".join(f"{name.replace('_', ' ')}: {value}" for name, value in record.items() if value not in (None, ""))

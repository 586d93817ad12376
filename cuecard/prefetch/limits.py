"""How much may run at once and be spent: per back end, per session, per tenant."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from sops.models import Dependency, HttpFetch, RagFetch, SqlFetch, ToolFetch

LONG_SHOT = 0.5
"""A fetch less likely to be used than this is a long shot."""
LONG_SHOT_SHARE = 0.75
"""Of a back end's pipes: a pipe busy with a long shot is not there for what becomes ready next (decision 0141)."""


@dataclass(slots=True)
class Account:
    """What a session or tenant has had so far; background fetches are the ones that cost budget."""

    background: int = 0
    live: int = 0


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on background fetches; a live fetch for a waiting caller passes them all."""

    pipes_per_backend: int = 8
    """Background fetches at once per back end."""
    by_backend: Mapping[str, int] = field(default_factory=dict)
    long_shot_share: float = LONG_SHOT_SHARE
    session_budget: int | None = 200
    """Background fetches a session may start; None: no bound."""
    tenant_budget: int | None = None

    def pipes(self, backend: str) -> int:
        return self.by_backend.get(backend, self.pipes_per_backend)

    def long_shots(self, backend: str) -> int:
        """Pipes that unlikely needs may hold at once; at least one."""
        return max(1, math.ceil(self.pipes(backend) * self.long_shot_share))

    def spent(self, account: Account) -> bool:
        return self.session_budget is not None and account.background >= self.session_budget

    def tenant_spent(self, account: Account) -> bool:
        return self.tenant_budget is not None and account.background >= self.tenant_budget


def backend_of(spec: Dependency) -> str:
    """The machine behind a dependency: its host, corpus, database or tool server."""
    match spec.fetch:
        case RagFetch(corpus=corpus):
            return f"rag:{corpus}"
        case HttpFetch(url=url):
            return f"http:{urlsplit(url).netloc}"
        case SqlFetch(url_env=url_env):
            return f"sql:{url_env}"
        case ToolFetch(type=kind, target=target):
            return f"{kind}:{target}"
        case other:
            return other.type

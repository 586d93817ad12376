"""What must not be fetched now: the one place that says so, asked by scheduler and broker alike."""

from collections.abc import Mapping

from sops.models import Dependency


def forbidden_early(spec: Dependency, verified: bool) -> str | None:
    """Why this dependency may not be fetched ahead of the turn that needs it; None when it may."""
    if spec.effect == "write":
        return "a write is never run early"
    return forbidden(spec, verified)


def forbidden(spec: Dependency, verified: bool) -> str | None:
    """Why it may not be fetched even for the turn itself."""
    if spec.verified and not verified:
        return "nothing about a person is fetched before identity is verified"
    return None


def missing_facts(spec: Dependency, facts: Mapping[str, str], *, broad: bool = True) -> tuple[str, ...]:
    """Required facts that are not known yet; with `broad`, those that a partial fetch can do without don't count."""
    optional = spec.partial if broad else ()
    return tuple(name for name in spec.requires if not facts.get(name) and name not in optional)

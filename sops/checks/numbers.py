"""Priors add up, and times make sense."""

from collections.abc import Mapping

from sops.checks.findings import Findings, Place
from sops.models import Procedure

SLACK = 0.005
"""How far a sum of priors may be from 1: rounding, not a mistake."""


def check_numbers(procedure: Procedure, found: Findings) -> None:
    _adds_up(("cohorts",), {name: cohort.prior for name, cohort in procedure.cohorts.items()}, found)
    for name, cohort in procedure.cohorts.items():
        moods = {mood: declared.prior for mood, declared in cohort.moods.items()}
        _adds_up(("cohorts", name, "moods"), moods, found)
    for name, action in procedure.actions.items():
        total = sum(action.expects.values())
        if total > 1 + SLACK:
            found.error(
                ("actions", name, "expects"),
                f"actions.{name}.expects: the probabilities add up to {total:.2f}.",
                f"Take {total - 1:.2f} off; what is left of 1 is spread over the other states.",
            )
    for name, dependency in procedure.dependencies.items():
        at: Place = ("dependencies", name)
        if dependency.timeout_s <= dependency.latency_s:
            found.error(
                (*at, "timeout_s"),
                f"dependencies.{name}: it usually takes {dependency.latency_s:g} s, "
                f"but is given up after {dependency.timeout_s:g} s.",
                f"Set `timeout_s:` well above {dependency.latency_s:g}.",
            )
        if dependency.effect == "read" and dependency.ttl_s <= dependency.latency_s:
            found.error(
                (*at, "ttl_s"),
                f"dependencies.{name}: what it brings is stale after {dependency.ttl_s:g} s, "
                f"sooner than it arrives ({dependency.latency_s:g} s).",
                "Set `ttl_s:` to how long the answer stays true.",
            )


def _adds_up(place: Place, priors: Mapping[str, float], found: Findings) -> None:
    total = sum(priors.values())
    if abs(total - 1) <= SLACK:
        return
    where = ".".join(str(part) for part in place)
    change = f"Add {1 - total:.2f} to one of them." if total < 1 else f"Take {total - 1:.2f} off one of them."
    found.error(place, f"{where}: the priors add up to {total:.2f}, not 1.", change)

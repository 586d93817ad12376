"""Made-up calls for the store's tests, and its counts in a form that can be compared."""

import random

import numpy as np
import pytest
from sqlalchemy import select

from cuecard.precedents import Precedent, Precedents
from cuecard.precedents.engine import reading
from cuecard.precedents.packed import unpack
from cuecard.precedents.schema import contexts, tenants

Row = dict[int, tuple[int, float]]


def vector(seed: int) -> np.ndarray:
    """A unit vector of its own per seed."""
    raw = np.random.default_rng(seed).standard_normal(384).astype(np.float32)
    return raw / np.linalg.norm(raw)


def turn(session: str, number: int, action: str, **more: object) -> Precedent:
    values = {"tenant": "acme", "sop": "renewal", "at": 1_000.0 + number, "state": f"said_{action}", **more}
    return Precedent(session=session, turn=number, action=action, **values)  # type: ignore[arg-type]


def call(session: str, actions: str, **more: object) -> list[Precedent]:
    """One turn per letter."""
    return [turn(session, number, action, **more) for number, action in enumerate(actions)]


def random_calls(seed: int, n_calls: int, letters: str = "abcd", **more: object) -> list[list[Precedent]]:
    rng = random.Random(seed)
    return [
        [
            turn(
                f"s{index}",
                number,
                rng.choice(letters),
                state=rng.choice(("calm", "cross", "")),
                source=rng.choice(("", "policy", "quote")),
                cohort=rng.choice(("young", "old")),
                mood=rng.choice(("glad", "sad")),
                due=rng.choice(("", *letters)),
                **more,
            )
            for number in range(rng.randint(1, 8))
        ]
        for index in range(n_calls)
    ]


def stored_counts(store: Precedents, tenant: str = "acme") -> dict[int, Row]:
    """Every context's entries as (n, weight now worth so many turns), read straight from the tables."""
    with reading(store._reader.engine) as connection:
        row = connection.execute(select(tenants).where(tenants.c.name == tenant)).mappings().one()
        scale = 2.0 ** (row["shift"] - row["n_sessions"] / row["half_life"])
        packed = connection.execute(select(contexts.c.key, contexts.c.packed).where(contexts.c.tenant_id == row["id"]))
        return {
            key: {int(entry["code"]): (int(entry["n"]), float(entry["weight"]) * scale) for entry in unpack(data)}
            for key, data in packed
        }


def assert_same(one: dict[int, Row], other: dict[int, Row]) -> None:
    assert one.keys() == other.keys()
    for key in one:
        assert one[key].keys() == other[key].keys()
        for code, (n, weight) in one[key].items():
            assert n == other[key][code][0]
            # Weights of one entry may span many half-lives; what a forgotten newer one leaves behind is rounding dust.
            assert weight == pytest.approx(other[key][code][1], rel=1e-9, abs=1e-12)

"""What the learned predictor looks at: marks (short names that are there or not) and embeddings of what was said.

Everything is derived from a SessionView and the procedure's drawing, so training on recorded calls and predicting in a
live one cannot differ.
"""

import re
from collections import Counter
from collections.abc import Iterator

import numpy as np

from cuecard.predictors.graph import NOTHING_DRAWN, Expected
from cuecard.predictors.types import UNLABELLED, SessionView, TurnView, Vector

DIM = 384
N_TEXTS = 3
"""Embeddings per position: the caller's last words, the agent's own words if they had no label, the words before."""
_TYPED = frozenset({UNLABELLED, "custom"})
"""Actions whose words are the agent's own: only there does the reply say more than the label."""
_MAX_WORDS = 40
_N_DRAWN = 3
_FAINT = 0.05
"""Steps that the drawing gives less than this are no marks."""
_WORD = re.compile(r"[a-z]+|\d+|[?!.]")


def marks(view: SessionView, expected: Expected = NOTHING_DRAWN) -> list[str]:
    """The marks of a call after its last agent turn, without repeats. `expected`: what the procedure's drawing says."""
    return list(dict.fromkeys((*_marks(view), *_drawn(expected))))


def texts(view: SessionView) -> Vector:
    """The N_TEXTS embeddings of a call, one after another; zeros where nothing was said or nothing was embedded."""
    out = np.zeros(N_TEXTS * DIM, np.float32)
    last = view.turns[-1]
    parts = [last.embedding, last.reply_embedding if typed(last) else None]
    parts.append(view.turns[-2].embedding if len(view.turns) > 1 else None)
    for index, part in enumerate(parts):
        if part is not None:
            out[index * DIM : (index + 1) * DIM] = part
    return out


def typed(turn: TurnView) -> bool:
    """Whether the reply's words matter: they were typed, not taken from a template."""
    return turn.action in _TYPED


def _marks(view: SessionView) -> Iterator[str]:
    last = view.turns[-1]
    yield from _words("u", last.utterance)
    if typed(last):
        yield from _words("g", last.reply)
    yield from (f"first {last.label}", f"last {last.action}", f"sop {view.sop}", f"turn {min(len(view.turns), 13)}")
    if last.state:
        yield f"state {last.state}"
    if view.belief.mood:
        yield f"mood {view.belief.likely_mood}"
    if view.belief.cohort:
        yield f"cohort {view.belief.likely_cohort}"
    if view.verified:
        yield "verified"
    yield from (f"fact {name}" for name in view.facts)
    yield from (f"now {mark}" for mark in last.fetched)
    yield from _past(view)
    yield from _just_before(view)
    yield from _wandering(view)


def _drawn(expected: Expected) -> Iterator[str]:
    """The drawing's likeliest steps at each offset, with their rank and without."""
    for offset, p in enumerate(expected.actions, start=1):
        for rank, name in enumerate(sorted(p, key=lambda one: -p[one])[:_N_DRAWN]):
            if p[name] > _FAINT:
                yield f"drawn +{offset} {rank} {name}"
                yield f"drawn +{offset} {name}"


def _past(view: SessionView) -> Iterator[str]:
    """What has happened so far in the call, and in the procedure that is open."""
    n_done = Counter(name for turn in view.turns for name in {turn.label, turn.action})
    for name, n in n_done.items():
        yield f"done {name}"
        if n > 1:
            yield f"twice {name}"
    # A call that never names the open procedure is about its own.
    one = not any(turn.sop for turn in view.turns)
    sops = [view.sop if one else turn.sop for turn in view.turns]
    yield from (f"seen {sop}" for sop in set(sops[:-1]))
    n_same = next((back for back, sop in enumerate(reversed(sops)) if sop != view.sop), len(sops))
    yield f"since {min(n_same, 9)}"
    if n_same == 1 and len(sops) > 1:
        yield f"from {sops[-2]}"
    given = f"in {view.sop}."
    asked = f"asked {view.sop}"
    yield from (f"known {mark}" for turn in view.turns for mark in turn.fetched if mark.startswith(given))
    yield f"queries {min(sum(asked in turn.fetched for turn in view.turns), 4)}"


def _just_before(view: SessionView) -> Iterator[str]:
    """The two turns before the last one."""
    for back in (2, 3):
        if len(view.turns) < back:
            return
        turn = view.turns[-back]
        yield f"-{back - 1} first {turn.label}"
        yield f"-{back - 1} last {turn.action}"
        if back == 2:
            yield from _words("-1 u", turn.utterance)


def _wandering(view: SessionView) -> Iterator[str]:
    """How the call came to the open procedure, where it stood in it, and where others were left."""
    now = view.turns[-1].sop
    lately: dict[str, TurnView] = {}
    for turn in reversed(view.turns):
        lately.setdefault(turn.sop, turn)
    for place, turn in enumerate([turn for sop, turn in lately.items() if sop != now]):
        if place == 0:
            yield f"before {turn.sop}"
            yield f"before {turn.sop} last {view.turns[-1].action}"
        yield f"left {turn.action}"
        yield f"left {place} {turn.sop}"
    yield f"procedures {len(lately)}"
    here = [turn for turn in view.turns if turn.sop == now]
    yield f"within {min(len(here), 9)}"
    for back in (2, 3):
        if len(here) >= back:
            yield from (f"here -{back - 1} first {here[-back].label}", f"here -{back - 1} last {here[-back].action}")
    yield from (f"-{back - 1} last {view.turns[-back].action}" for back in (4, 5) if len(view.turns) >= back)


def _words(where: str, text: str) -> Iterator[str]:
    for word in _WORD.findall(text.lower())[:_MAX_WORDS]:
        yield f"{where} {'#' if word.isdigit() else word}"

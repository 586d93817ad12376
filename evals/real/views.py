"""Recorded sessions as a predictor sees them: one TurnView per agent turn, nothing from the future.

A turn is what the agent does between two utterances of the user: a query and the sentence after it are one. Its label
is the first labelled act; a query's label names its source. Words typed without a label are history, never a target.
"""

import re
from collections.abc import Iterable, Iterator

from cuecard.predictors.types import UNLABELLED, SessionView, TurnView
from evals.real.sessions import RawTurn, Session

_MAX_VALUE_CHARS = 30
_MAX_WORDS = 25
_WORD = re.compile(r"[a-z]+|\d+")


def turn_views(session: Session) -> tuple[TurnView, ...]:
    """All agent turns of a session, in order, without embeddings."""
    return tuple(_view(heard, acts) for heard, acts in _turns(session.turns))


def view_at(sop_turns: tuple[TurnView, ...], index: int) -> SessionView:
    """The call after agent turn `index` and before the user's answer."""
    return SessionView(sop=sop_turns[index].sop, turns=sop_turns[: index + 1])


def _turns(turns: Iterable[RawTurn]) -> Iterator[tuple[list[RawTurn], list[RawTurn]]]:
    heard: list[RawTurn] = []
    acts: list[RawTurn] = []
    for turn in turns:
        if turn.speaker == "agent":
            acts.append(turn)
            continue
        if acts:
            yield heard, acts
            heard, acts = [], []
        heard.append(turn)
    if acts:
        yield heard, acts


def _view(heard: list[RawTurn], acts: list[RawTurn]) -> TurnView:
    labelled = [act for act in acts if act.action and act.action != UNLABELLED]
    queries = [act.query for act in acts if act.query is not None]
    last = acts[-1]
    return TurnView(
        utterance=" ".join(turn.text for turn in heard if turn.text),
        state=heard[-1].state[0] if heard and heard[-1].state else "",
        action=_label(last),
        reply=" ".join(act.text for act in acts if act.text),
        source=queries[0].source if queries else "",
        first=_label(labelled[0]) if labelled else "",
        sop=last.task or "",
        fetched=tuple(dict.fromkeys(mark for act in acts for mark in _marks(act))),
    )


def _label(act: RawTurn) -> str:
    return f"{act.action}:{act.query.source}" if act.query is not None else act.action or UNLABELLED


def _marks(act: RawTurn) -> Iterator[str]:
    """What went in and came out, short enough to be counted: long values as their words."""
    if act.query is None:
        return
    yield f"asked {act.query.source}"
    for name, value in act.query.args.items():
        yield f"in {act.query.source}.{name}"
        yield from _value("in", name, value)
    if act.result is None:
        yield "out nothing"
    fields = act.result.items() if isinstance(act.result, dict) else ()
    for name, value in fields:
        yield f"out {name}"
        yield from _value("out", name, value)
    yield f"found {act.n_results if act.n_results < 4 else 'few' if act.n_results < 20 else 'many'}"


def _value(way: str, name: str, value: object) -> Iterator[str]:
    text = str(value).lower()
    if len(text) < _MAX_VALUE_CHARS:
        yield f"{way} {name}={text}"
    elif way == "out":
        for word in _WORD.findall(text)[:_MAX_WORDS]:
            yield f"out {name}~{word}"

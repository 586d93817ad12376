"""Which replies could have been written before the caller spoke: what a recorded call says of facts and records."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from cuecard.models.embeddings import Embedder
from cuecard.predictors.garbage import SENTENCES
from cuecard.prefetch.instructions import instruction
from cuecard.prefetch.slots import SLOT, slots
from cuecard.prefetch.types import Item
from evals.experiments.shared.recorded import Call, history
from sops.loader import load_procedure
from sops.models import Action, RagFetch

ACTIONS, SENTENCES_EACH = 3, 3
"""Replies are prepared for so many forecast actions, each for so many sentences that callers said before them."""
SPOKEN = {"answer", "inform", "small_talk", "ask", "confirm"}
"""Kinds of steps whose replies the product writes ahead."""
TTL_S = 60.0


class Imagined(NamedTuple):
    """A sentence that callers of earlier calls said, what they were doing, and its vector."""

    text: str
    state: str
    vector: Any


class Imagination:
    """What callers said before each action; embedded once a procedure."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, list[Imagined]]] = {}
        self._nonsense: list[Imagined] = []

    def before(self, sop: str, action: str, embedder: Embedder) -> list[Imagined]:
        if sop not in self._known:
            self._known[sop] = _said_most(sop, embedder)
        return self._known[sop].get(action, [])

    def nonsense(self, embedder: Embedder) -> list[Imagined]:
        if not self._nonsense:
            said = list(SENTENCES)[:SENTENCES_EACH]
            self._nonsense = [
                Imagined(text, "", vector) for text, vector in zip(said, embedder.embed(said), strict=True)
            ]
        return self._nonsense


def _said_most(sop: str, embedder: Embedder) -> dict[str, list[Imagined]]:
    """For each action the sentences that came before it most often, each with what its speaker mostly did by it."""
    said: dict[str, Counter[str]] = {}
    states: dict[str, Counter[str]] = {}
    for call in history(sop):
        for view in call.views:
            if view.utterance:
                said.setdefault(view.action, Counter())[view.utterance] += 1
                states.setdefault(view.utterance, Counter())[view.state] += 1
    found = {}
    for action, counts in said.items():
        texts = [text for text, _ in counts.most_common(SENTENCES_EACH)]
        vectors = embedder.embed(texts)
        found[action] = [
            Imagined(text, states[text].most_common(1)[0][0], vector)
            for text, vector in zip(texts, vectors, strict=True)
        ]
    return found


def prepared(call: Call, index: int, actions: Sequence[str], imagined: Sequence[Sequence[Imagined]]) -> list[Item]:
    """The replies that could lie ready for agent turn `index`, made from what was known after the turn before.

    Their text is the template: whose values it will hold is settled by its slots, which must all be known.
    """
    items = []
    for action, sentences in zip(actions, imagined, strict=True):
        declared = load_procedure(call.sop).actions[action]
        if declared.kind not in SPOKEN or not _met(call, index, declared):
            continue
        for said in sentences:
            template = variant(declared, said.state, action == call.views[index - 1].action, known_before(call, index))
            if template is not None:
                items.append(
                    instruction(
                        action=action,
                        utterance=said.text,
                        vector=said.vector,
                        reply=template,
                        p=1.0,
                        now_s=0.0,
                        ttl_s=TTL_S,
                        state=said.state,
                    )
                )
    return items


def variant(declared: Action, state: str, repeated: bool, known: frozenset[str]) -> str | None:
    """The approved reply that the product would take, by its own order; None when all want something unknown."""
    texts = (*(declared.again if repeated else ()), *declared.when.get(state, ()), *declared.replies)
    return next((text for text in texts if {slot.partition(".")[0] for slot in slots(text)} <= known), None)


def known_before(call: Call, index: int) -> frozenset[str]:
    """Names of facts and of records that the call held before agent turn `index`."""
    fetched = {dep for turn in call.turns[:index] for dep in turn["needs"]}
    return frozenset(call.turns[index - 1]["facts"]) | fetched


def _met(call: Call, index: int, declared: Action) -> bool:
    """All that the step needs lay there already; answers to questions are never written ahead."""
    dependencies = load_procedure(call.sop).dependencies
    searched = {name for name, dep in dependencies.items() if isinstance(dep.fetch, RagFetch)}
    return not searched & set(declared.needs) and set(declared.needs) <= known_before(call, index)


@lru_cache(maxsize=512)
def _pattern(template: str) -> re.Pattern[str]:
    parts = SLOT.split(template)
    # Every other part is a slot's name.
    return re.compile(".+?".join(re.escape(part) for part in parts[::2]))


def said_by(template: str, reply: str) -> bool:
    """Whether the agent's reply is this template with some values in it."""
    return _pattern(template).fullmatch(reply) is not None

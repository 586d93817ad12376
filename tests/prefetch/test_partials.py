"""Unfinished words: queries leave early, and the end of the turn costs nothing."""

from collections.abc import Awaitable, Callable, Sequence

import numpy as np

from cuecard.clock import LoopClock, run_virtual
from cuecard.pool import Vector
from cuecard.prefetch.partials import DEBOUNCE_S, PartialListener

TOPICS = ("windscreen", "daughter", "price")


class Ear:
    """A listener over a toy embedder (one axis a topic), and what came of it."""

    def __init__(self) -> None:
        self.embedded: list[str] = []
        self.words: list[str] = []
        self.understood: list[str] = []
        self.listener = PartialListener(
            self.embed, LoopClock(), on_words=self.words.append, on_vector=lambda text, _: self.understood.append(text)
        )

    def embed(self, texts: Sequence[str]) -> Vector:
        self.embedded += texts
        rows = np.array([[1.0 + 9.0 * (topic in text) for topic in TOPICS] for text in texts], np.float32)
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def listening(scene: Callable[[Ear], Awaitable[None]]) -> Ear:
    async def run() -> Ear:
        ear = Ear()
        await scene(ear)
        return ear

    return run_virtual(run())


async def pause(seconds: float = 2 * DEBOUNCE_S) -> None:
    await LoopClock().sleep(seconds)


def test_an_unchanged_final_is_not_embedded_again() -> None:
    async def scene(ear: Ear) -> None:
        ear.listener.hear("does it cover a windscreen")
        await pause()
        ear.embedded.clear()
        heard = await ear.listener.finish("Does it cover a windscreen?")
        assert heard.reused
        assert heard.text == "Does it cover a windscreen?"
        assert not ear.embedded

    listening(scene)


def test_a_final_that_says_more_is_embedded() -> None:
    async def scene(ear: Ear) -> None:
        ear.listener.hear("does it cover a")
        await pause()
        assert not (await ear.listener.finish("does it cover a windscreen")).reused

    assert listening(scene).embedded[-1] == "does it cover a windscreen"


def test_pieces_that_come_fast_are_looked_at_once() -> None:
    async def scene(ear: Ear) -> None:
        for end in range(1, 6):
            ear.listener.hear(" ".join(["does", "it", "cover", "my", "windscreen"][:end]))
            await pause(DEBOUNCE_S / 3)
        await pause()

    assert listening(scene).embedded == ["does it cover my windscreen"]


def test_every_settled_piece_is_passed_on_with_its_meaning() -> None:
    said = ["is my windscreen covered", "is my windscreen covered too", "no the price I meant is what"]

    async def scene(ear: Ear) -> None:
        for words in said:
            ear.listener.hear(words)
            await pause()

    ear = listening(scene)
    assert ear.words == ear.understood == said


def test_two_words_are_no_question_yet_but_may_hold_a_fact() -> None:
    async def scene(ear: Ear) -> None:
        ear.listener.hear("AB12 CDE")
        await pause()

    ear = listening(scene)
    assert ear.words == ["AB12 CDE"]
    assert not ear.understood


def test_a_barge_in_forgets_what_had_not_settled() -> None:
    async def scene(ear: Ear) -> None:
        ear.listener.hear("is my windscreen covered")
        ear.listener.cancel()
        await pause()

    assert not listening(scene).embedded


def test_a_new_turn_hears_the_same_question_anew() -> None:
    async def scene(ear: Ear) -> None:
        for _ in range(2):
            ear.listener.hear("is my windscreen covered")
            await pause()
            await ear.listener.finish("is my windscreen covered")

    assert len(listening(scene).understood) == 2

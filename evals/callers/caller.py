"""A caller with an agenda, who answers what the agent *does* and knows nothing of how it came to it.

The caller sees an agent's action, its kind, the facts it asks for and how long it took; never the answer's content. So
a call's words are the same whatever was fetched early, and policies can be compared on one script. All chance comes
from the `rng` passed in.
"""

import random
from dataclasses import dataclass, field, replace

from evals.callers.agenda import Agenda
from evals.callers.noise import Noise, garble
from evals.callers.speech import Lines, Sayer
from evals.callers.timing import Interim, draw_turn_s, interims, long_enough, speech_s
from evals.callers.wording import Wording

MOST_ASIDES = 4
"""Side remarks a call: people wander, but they called for something."""
WAIT_S = 6.0
"""Seconds of waiting that wear on a caller as much as one repeated question, where waits are felt."""


@dataclass(frozen=True, slots=True)
class Cue:
    """What a caller notices of the agent's turn."""

    action: str
    kind: str
    asks: tuple[str, ...] = ()
    waited_s: float = 0.0
    ended: bool = False


@dataclass(frozen=True, slots=True)
class CallerTurn:
    """One utterance, with its timing from the end of the caller's turn before (waiting excluded)."""

    words: str
    """As the recogniser delivers them."""
    meant: str
    """As the caller said them."""
    act: str
    turn_s: float
    """End of speech to end of speech."""
    speech_s: float
    interims: tuple[Interim, ...] = ()
    barge_in: bool = False
    """Begins before the agent has finished."""
    gold: tuple[str, ...] = ()
    """Documents that answer the question in it."""
    hangs_up: bool = False
    """Puts the phone down after these words (or, without words, instead of answering)."""


def spoken(turn: CallerTurn, meant: str, noise: Noise, rng: random.Random) -> CallerTurn:
    """The turn with these words in it: as the recogniser hears them, and as long as they take."""
    words = garble(meant, noise, rng) if meant else ""
    turn_s = long_enough(words, turn.turn_s)
    lasting_s = speech_s(words, turn_s)
    heard = interims(words, lasting_s, rng)
    return replace(turn, words=words, meant=meant, turn_s=turn_s, speech_s=lasting_s, interims=heard)


@dataclass(slots=True)
class Mind:
    """What changes in a caller during the call."""

    patience: float
    given: set[str] = field(default_factory=set)
    """Facts said at least once."""
    wrong: dict[str, str] = field(default_factory=dict)
    questions: list[int] = field(default_factory=list)
    asides: int = 0
    aside_last: bool = False
    objections: int = 0
    leaving: bool = False
    looked_for_papers: bool = False
    changed_mind: bool = False
    last_action: str = ""
    last_act: str = ""
    repeats: int = 0
    reached: bool = False
    wants_person: bool = False
    glad_of_person: bool = False
    """Asks for one of their own accord, not because the agent failed them."""
    said_bye: int = 0


class AgendaCaller:
    """Plays an agenda. `opens` gives the first words, `replies` the next; None once the caller has hung up."""

    def __init__(self, agenda: Agenda, wording: Wording, rng: random.Random, *, feels_waits: bool = False) -> None:
        self.agenda = agenda
        self._wording = wording
        self._goal = wording.goals[agenda.goal]
        self._rng = rng
        self._lines = Lines(wording, rng)
        self._sayer = Sayer(wording, self._lines, rng)
        self._feels_waits = feels_waits
        """Off where policies are compared on the same words; on, waiting costs patience as repeats do."""
        self.mind = Mind(
            patience=agenda.manner.patience,
            wrong=dict(agenda.wrong),
            questions=list(range(len(agenda.questions))),
            objections=agenda.objections,
            leaving=agenda.ends == "closed",
            wants_person=agenda.ends == "person",
            glad_of_person=agenda.ends == "person",
        )

    # --- the conversation -----------------------------------------------------------------------------------------

    def opens(self) -> CallerTurn:
        """The first words, spoken to a greeting or to silence."""
        line = self._lines.pick(self._goal.opens, "opens")
        askable = [name for name in self._first_asked() if name in self.agenda.facts]
        if self.agenda.ends == "done" and askable and self._chance(self.agenda.manner.details_at_once):
            return self._turn(f"{line} {self._give(askable)}", "opens+gives")
        return self._turn(line, "opens")

    def replies(self, cue: Cue) -> CallerTurn | None:
        """The next words after this turn of the agent, or None: the line is dead or the caller has gone."""
        mind = self.mind
        mind.repeats = mind.repeats + 1 if cue.action == mind.last_action else 0
        mind.last_action = cue.action
        mind.patience -= self._repeat_wears(cue) + self._felt(cue)
        mind.reached = mind.reached or cue.kind == "write"
        if cue.ended or mind.said_bye >= 2:
            return None
        if cue.kind == "hand_over":
            return self._turn(self._lines.act("thanks_for_handing_over"), "goodbye", hangs_up=True)
        if cue.kind == "close" or mind.said_bye:
            return self._goodbye()
        if mind.patience <= 0 and not mind.reached:
            return self._fed_up()
        if mind.wants_person and not self._goal.cooperates:
            return self._turn(self._lines.act("wants_person"), "wants_person")
        return self._aside(cue) or self._answer(cue)

    def reached(self, outcome: str, last_kind: str) -> bool:
        """Whether the caller got what they wanted: their goal, or a proper close once they wanted to leave.

        One who asks for a person of their own accord wants that; one who was driven to it does not count.
        """
        if outcome == "success":
            return self.agenda.ends == "done"
        if self.mind.leaving:
            return last_kind == "close" and outcome != "handed_over"
        return self.mind.glad_of_person and outcome == "handed_over"

    # --- what to say ----------------------------------------------------------------------------------------------

    def _answer(self, cue: Cue) -> CallerTurn:
        match cue.kind:
            case "ask" | "greet":
                return self._to_request(cue)
            case "inform":
                return self._to_offer()
            case "confirm":
                return self._to_read_back(cue)
            case "write":
                return self._question("last_question") or self._goodbye()
            case _:
                return self._to_answer(cue)

    def _to_request(self, cue: Cue) -> CallerTurn:
        """To a question for facts: them, one of them, or what a caller says who has no wish to give any."""
        mind = self.mind
        known = [name for name in cue.asks if name in self.agenda.facts]
        if mind.leaving:
            return self._question("question") or self._leave(insist=mind.repeats == 0)
        if any(name in self._goal.lacks for name in cue.asks):
            return self._insist()
        if not known:
            return self._turn(self._lines.act("agrees"), "agrees")
        if cue.action in self._wording.offers and mind.objections > 0:
            return self._other_offer(self._wording.offers[cue.action])
        wanted = [name for name in known if name not in mind.given]
        if not wanted:
            # Asked again for what was said: this time the truth, and all of it.
            for name in known:
                mind.wrong.pop(name, None)
            return self._turn(self._give(known, again=True), "gives")
        if not mind.looked_for_papers and self._chance(self.agenda.manner.late):
            mind.looked_for_papers = True
            return self._turn(self._lines.act("looks_for_papers"), "hesitates", silent_s=4.0)
        if len(wanted) > 1 and self._chance(self.agenda.manner.in_pieces):
            wanted = wanted[:1]
        return self._turn(self._give(wanted), "gives")

    def _other_offer(self, fact: str) -> CallerTurn:
        """None of what is offered suits: no, and another wish when asked for it again."""
        mind, agenda = self.mind, self.agenda
        mind.objections -= 1
        others = [value for value in self._wording.facts[fact].values if value != agenda.facts[fact]]
        if others:
            agenda.facts[fact] = self._rng.choice(others)
        mind.given.discard(fact)
        return self._turn(self._lines.act("objects"), "declines")

    def _to_offer(self) -> CallerTurn:
        mind = self.mind
        if mind.leaving:
            return self._leave()
        if self._goal.lacks:
            return self._insist()
        if mind.objections > 0:
            mind.objections -= 1
            return self._turn(self._lines.act("objects"), "objects")
        if self.agenda.objections and self.agenda.leaves_over_it:
            mind.leaving = True
            return self._leave()
        return self._turn(self._lines.act("accepts"), "agrees")

    def _to_read_back(self, cue: Cue) -> CallerTurn:
        mind = self.mind
        if mind.leaving:
            return self._leave()
        wrong = [name for name in mind.wrong if name in mind.given]
        if wrong:
            return self._correct(wrong[0])
        if self.agenda.changes_mind and not mind.changed_mind:
            mind.changed_mind = True
            return self._turn(self._lines.act("declines"), "declines")
        return self._turn(self._lines.act("confirms"), "agrees")

    def _to_answer(self, cue: Cue) -> CallerTurn:
        """To an answer, a reassurance or small talk: on with what they called for."""
        mind = self.mind
        if mind.leaving or mind.reached:
            return self._question("question") or (self._goodbye() if mind.reached else self._leave())
        if cue.kind == "answer" and mind.questions and self._chance(0.35):
            return self._question("question") or self._carry_on()
        return self._carry_on()

    def _carry_on(self) -> CallerTurn:
        return self._turn(self._lines.act("carries_on"), "agrees")

    def _aside(self, cue: Cue) -> CallerTurn | None:
        """Something beside the point: a question, a worry, the weather. Never two in a row."""
        mind, manner = self.mind, self.agenda.manner
        wrong = [name for name in mind.wrong if name in mind.given and name not in cue.asks]
        allowed = not mind.aside_last and mind.asides < MOST_ASIDES and not mind.leaving
        mind.aside_last = False
        if not allowed:
            return None
        if wrong and cue.kind in {"ask", "inform"} and self._chance(0.35):
            return self._correct(wrong[0])
        if cue.kind in {"ask", "inform", "confirm"} and mind.questions and self._chance(0.3):
            return self._noted(self._question("question"))
        rates = ("small_talk", "worries", "hesitates", "unclear", "annoyed")
        for act in rates if not mind.reached else ("small_talk",):
            if self._chance(getattr(manner, act)):
                return self._noted(self._turn(self._lines.act(act), act))
        if not mind.reached and self._chance(manner.person):
            mind.wants_person = mind.glad_of_person = True
            return self._turn(self._lines.act("wants_person"), "wants_person")
        return None

    def _noted(self, turn: CallerTurn | None) -> CallerTurn | None:
        if turn is not None:
            self.mind.asides += 1
            self.mind.aside_last = True
        return turn

    def _question(self, lead: str) -> CallerTurn | None:
        """The next question of the agenda, with a few words before it; None when all are asked."""
        if not self.mind.questions:
            return None
        question = self.agenda.questions[self.mind.questions.pop(0)]
        line = self._lines.act(lead).replace("{question}", question.text)
        return self._turn(line, "asks_question", gold=question.gold)

    def _correct(self, name: str) -> CallerTurn:
        old = self.mind.wrong.pop(name)
        return self._turn(self._sayer.correct(name, old, self.agenda.facts[name]), "corrects")

    def _give(self, names: list[str], *, again: bool = False) -> str:
        values = {name: self.mind.wrong.get(name, self.agenda.facts[name]) for name in names}
        self.mind.given.update(names)
        return self._sayer.give(values, again=again)

    def _leave(self, *, insist: bool = False) -> CallerTurn:
        """A caller who wants to go says so, then says goodbye."""
        if insist and self._goal.insists:
            return self._insist()
        return self._goodbye()

    def _insist(self) -> CallerTurn:
        return self._turn(self._lines.pick(self._goal.insists, "insists"), "declines")

    def _goodbye(self) -> CallerTurn:
        mind = self.mind
        mind.said_bye += 1
        act = "bye_content" if mind.reached else "bye_leaving" if mind.leaving else "bye_plain"
        return self._turn(self._lines.act(act), "goodbye")

    def _fed_up(self) -> CallerTurn:
        """Patience is gone: a person, an angry goodbye, or the phone goes down."""
        way = self._rng.random()
        if way < 0.6:
            self.mind.wants_person = True
            self.mind.patience = 2.0
            return self._turn(self._lines.act("wants_person_annoyed"), "wants_person")
        if way < 0.85:
            self.mind.said_bye = 1
            return self._turn(self._lines.act("bye_annoyed"), "goodbye")
        return self._turn("", "hangs_up", hangs_up=True)

    # --- how it comes out -----------------------------------------------------------------------------------------

    def _turn(
        self, meant: str, act: str, *, gold: tuple[str, ...] = (), hangs_up: bool = False, silent_s: float = 0.0
    ) -> CallerTurn:
        rng, manner = self._rng, self.agenda.manner
        self.mind.last_act = act
        barge_in = bool(meant) and self._chance(manner.barges_in)
        turn_s = draw_turn_s(rng, manner.hurry * (0.4 if barge_in else 1.0)) + silent_s
        if self._chance(manner.silent):
            turn_s += rng.uniform(5.0, 12.0)
        bare = CallerTurn("", "", act, turn_s, 0.0, (), barge_in, gold, hangs_up)
        return spoken(bare, meant, self.agenda.noise, rng)

    def _repeat_wears(self, cue: Cue) -> float:
        """1 for being asked the same again by an agent that was given what it asked for."""
        asked = [name for name in cue.asks if name in self.agenda.facts]
        cooperative = self.mind.last_act in {"gives", "agrees"} and all(name in self.mind.given for name in asked)
        return 1.0 if self.mind.repeats and cooperative and cue.kind != "answer" else 0.0

    def _felt(self, cue: Cue) -> float:
        return cue.waited_s / WAIT_S if self._feels_waits else 0.0

    def _first_asked(self) -> list[str]:
        """The facts people have ready when they call: those the back office knows them by."""
        return [name for name, fact in self._wording.facts.items() if fact.column][:2]

    def _chance(self, p: float) -> bool:
        return self._rng.random() < p

"""The boards of this process: those of its own sessions, and those of runs that a graph server sent here."""

from collections import OrderedDict
from dataclasses import dataclass

from cuecard.blackboard import Board
from cuecard.prefetch.flight import SessionId

KEPT = 500
"""Boards of nobody in particular that may lie here; a board with a full pool is some 200 kB."""
SETTLED_S = 60.0
"""A board used within this time may have a turn, a pass or a fetch under way, however many there are."""


@dataclass(slots=True)
class _Kept:
    board: Board
    used_s: float
    held: bool


class Boards:
    """A session holds its board until it is hung up. A graph server never says that a call is over: its boards are let
    go when they have lain idle, and are made again from checkpoint and store when the call goes on."""

    def __init__(self) -> None:
        self._kept: OrderedDict[SessionId, _Kept] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def all(self) -> list[Board]:
        return [kept.board for kept in self._kept.values()]

    def get(self, who: SessionId, now_s: float, *, held: bool = False) -> Board | None:
        """The board, which counts as used now; `held` by whoever asks, from now on."""
        kept = self._kept.get(who)
        if kept is None:
            return None
        kept.used_s = now_s
        kept.held = kept.held or held
        self._kept.move_to_end(who)
        return kept.board

    def add(self, who: SessionId, board: Board, now_s: float, *, held: bool = False) -> Board:
        """The board that counts from now on: an earlier one of that session, if somebody was faster."""
        known = self.get(who, now_s, held=held)
        if known is not None:
            return known
        self._kept[who] = _Kept(board, now_s, held)
        return board

    def pop(self, who: SessionId) -> None:
        self._kept.pop(who, None)

    def idle(self, now_s: float, idle_s: float) -> list[Board]:
        """Those that may be let go: nobody holds them, and they are too long unused or too many."""
        free = [kept for kept in self._kept.values() if not kept.held]
        n_over = len(free) - KEPT
        chosen = []
        for n, kept in enumerate(free):
            unused_s = now_s - kept.used_s
            if unused_s >= idle_s or (n < n_over and unused_s >= SETTLED_S):
                chosen.append(kept.board)
        return chosen

    def clear(self) -> None:
        self._kept.clear()

"""A call as JSON: what is believed, expected, pooled, and what happened. Everything a console or a monitor shows."""

import asyncio
from pathlib import Path
from typing import Any

from cuecard.blackboard import Board, forecast_to_json
from cuecard.events import Event, read_lines
from cuecard.ledger import ledger_of
from cuecard.predictors.types import Forecast
from cuecard.prefetch.flight import SessionId
from cuecard.server.calls import Call


def session_json(call: Call) -> dict[str, Any]:
    board = call.session.board
    return {
        "id": board.session_id,
        "object": "session",
        "model": board.kit.procedure.name,
        "title": board.kit.procedure.title,
        "turn": board.turn,
        "speaking": call.speaking,
        "ended": board.desk.ended,
        "outcome": board.desk.outcome,
        "last_action": board.desk.last_action,
        "verified": board.desk.verified,
        "facts": dict(board.desk.facts),
        "belief": belief_json(board),
        "turns": [{"heard": turn.utterance, "action": turn.action, "said": turn.reply} for turn in board.turns],
    }


def belief_json(board: Board) -> dict[str, Any]:
    belief = board.belief
    return {
        "cohort": dict(belief.cohort),
        "mood": dict(belief.mood),
        "state": dict(belief.state),
        "p_change": belief.p_change,
    }


def pool_json(board: Board) -> dict[str, Any]:
    now_s = board.now_s
    picked = {pick.item.id: round(pick.cosine, 3) for pick in board.live.picks}
    items = [
        {
            "id": item.id,
            "dep": item.dep,
            "kind": item.kind,
            "title": item.title,
            "text": item.text,
            "pinned": item.pinned,
            "uses": item.uses,
            "picked": item.id in picked,
            "cosine": picked.get(item.id),
            "origin": item.origin,
            "for_action": item.for_action,
            "for_offset": item.for_offset,
            "p": round(item.p, 3),
            "age_s": round(now_s - item.fetched_at_s, 1),
            "expires_in_s": None if item.expires_at_s == float("inf") else round(item.expires_at_s - now_s, 1),
            "took_s": round(item.latency_s, 3),
        }
        for item in board.pool.items
    ]
    who = SessionId(board.tenant, board.session_id)
    flying = [
        {
            "dep": key.dep,
            "state": work.state,
            "background": work.background,
            "for_action": work.wanted[who].for_action,
            "since_s": round(now_s - work.started_at_s, 1) if work.state == "running" else 0.0,
        }
        for key, work in board.kit.broker.in_flight(who).items()
    ]
    return {"object": "pool", "cap": board.pool.cap, "version": board.pool.version, "items": items, "in_flight": flying}


def forecast_json(forecast: Forecast) -> dict[str, Any]:
    said = [{"text": u.text, "p": u.p, "offset": u.offset, "origin": u.origin} for u in forecast.utterances]
    return {"object": "forecast", **forecast_to_json(forecast), "utterances": said}


def ledger_json(events: list[Event]) -> dict[str, Any]:
    ledger = ledger_of(events)
    return {"object": "ledger", **ledger.to_json(), "by_turn": [turn.to_json() for turn in ledger.turns]}


async def events_of(call: Call | None, path: Path | None) -> list[Event]:
    """All events of a call. The file has also those of earlier processes; memory has those not yet written."""
    if call is None or call.session.board.log.path is not None:
        if call is not None:
            await asyncio.to_thread(call.session.log.flush)
        if path is not None and await asyncio.to_thread(path.is_file):
            return await asyncio.to_thread(read_lines, path)
    return [] if call is None else list(call.session.log.events)

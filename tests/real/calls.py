"""Small recorded calls for tests: two procedures in STAR's way of labelling."""

from typing import Any

from evals.real.sessions import Session


def user(text: str) -> dict[str, Any]:
    return {"speaker": "user", "text": text, "guide": "Say something random."}


def said(action: str, text: str = "", task: str = "bank") -> dict[str, Any]:
    return {"speaker": "agent", "action": action, "text": text or action, "task": task}


def asked(source: str, result: dict[str, Any] | None, action: str = "query", **args: str) -> dict[str, Any]:
    return {
        "speaker": "agent",
        "action": action,
        "task": source,
        "query": {"source": source, "args": args},
        "result": result,
        "n_results": 1 if result else 0,
    }


def raw(number: int, *turns: dict[str, Any], sop: tuple[str, ...] = ("bank",), **more: Any) -> dict[str, Any]:
    timed = [{**turn, "t": 1000 * number + index} for index, turn in enumerate(turns)]
    return {"session_id": f"s{number}", "sop": list(sop), "turns": timed, "meta": {"happy": True}, **more}


def session(number: int, *turns: dict[str, Any], **more: Any) -> Session:
    return Session.model_validate(raw(number, *turns, **more))


def balance_call(number: int) -> dict[str, Any]:
    """A call whose ending hangs on what the query returned, and whose middle hangs on what the caller said."""
    found = {"Balance": "7"} if number % 2 else None
    wants = "what is my balance" if number % 3 else "I want to report a fraud"
    return raw(
        number,
        user(wants),
        said("ask_name", "Your name, please?"),
        user("Alexis"),
        said("ask_pin" if number % 3 else "ask_fraud"),
        user("1234"),
        asked("bank", found, Name="Alexis"),
        said("inform_balance" if found else "inform_nothing"),
        user("thank you"),
        said("goodbye_1"),
        user(""),
    )

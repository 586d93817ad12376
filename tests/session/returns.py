"""A small procedure of one's own that writes: the starter, and a return that is booked after a yes."""

import asyncio
from pathlib import Path

from sops.starter import write_starter

WRITTEN: list[str] = []
"""Orders whose return the back office has booked, in this process."""
WRITE_S = 0.2

_RETURN = """
  confirm_return:
    kind: confirm
    description: Reads back what will be returned and asks for a yes.
    requires: [order_number]
    verified: true
    replies: ["So I book a collection for order {order_number}. Shall I?"]
    on: {agrees: book_return}
  book_return:
    kind: write
    description: Books the collection.
    needs: [collection]
    requires: [order_number]
    verified: true
    confirmed_by: confirm_return
    confirm_states: [agrees]
    outcome: success
    replies:
      - Booked, reference {collection.reference}. Is there anything else?
      - I could not book that just now. A colleague will call you back today.

cohorts:"""
_COLLECTION = """
  collection:
    kind: tool
    effect: write
    description: Books the collection.
    fetch: {type: python, target: "tests.session.returns:book"}
    requires: [order_number]
    latency_s: 1.0
    holding: One moment while I book that.
"""
TO_THE_YES = ("hello, where's my order", "it's 440 192", "yes please")
"""What a caller says until only the yes is missing."""
YES = "yes please"


async def order(order_number: str) -> dict[str, str]:
    return {"item": "lamp", "status": "with the driver", "due": "today", "number": order_number}


async def book(order_number: str) -> dict[str, str]:
    await asyncio.sleep(WRITE_S)
    WRITTEN.append(order_number)
    return {"reference": "RT-77"}


def write_returns(folder: Path, name: str = "returns") -> Path:
    """The procedure's file, made in `folder`."""
    path = write_starter(name, folder)[0]
    text = path.read_text(encoding="utf-8")
    for old, new in (
        ("path: [ask_order, tell_status, close_call]", "path: [ask_order, tell_status, book_return, close_call]"),
        ("Is there anything else?\n      - I can't", "Would you like to send it back?\n      - I can't"),
        (
            "      agrees: close_call\n    expects: {agrees: 0.3",
            "      agrees: confirm_return\n    expects: {agrees: 0.3",
        ),
        ("\ncohorts:", _RETURN),
        ("{type: table, table: orders, key: order_number}", '{type: python, target: "tests.session.returns:order"}'),
        ("latency_s: 2.0", "latency_s: 0.1"),
    ):
        assert old in text, old
        text = text.replace(old, new)
    path.write_text(text + _COLLECTION, encoding="utf-8")
    return path

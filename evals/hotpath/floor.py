"""The responder's graph with nothing in it: what LangGraph and the persistence cost by themselves."""

from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from nodes.state import ResponderInput, ResponderState


async def _empty(state: ResponderState) -> ResponderState:
    return {}


async def _speak(state: ResponderState, runtime: Runtime[Any]) -> ResponderState:
    runtime.stream_writer({"say": "."})
    return {"messages": [{"type": "human", "content": state.get("utterance", "")}, {"type": "ai", "content": "."}]}


def floor_graph() -> StateGraph[ResponderState, Any, ResponderInput, ResponderState]:
    """Same state, same number of steps, first word in the third."""
    b = StateGraph(ResponderState, input_schema=ResponderInput)
    names = ("recall", "decide", "respond", "handoff")
    for name in names:
        b.add_node(name, _speak if name == "respond" else _empty)
    for source, target in zip((START, *names), (*names, END), strict=True):
        b.add_edge(source, target)
    return b

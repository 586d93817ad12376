"""Finds and reads corpora: those that come with the product, those generated from tables, and a user's own folder."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from corpus.documents import CorpusInvalid, CorpusNotFound, Document, parse
from corpus.generate import EDITIONS, generate

if TYPE_CHECKING:
    from langchain_core.documents import Document as LoadedFile

FOLDER = Path(__file__).parent
SUFFIXES = (".md", ".txt")


def names() -> list[str]:
    """Corpora that can be opened by name."""
    folders = [path.name for path in FOLDER.iterdir() if path.is_dir() and any(path.glob("*.md"))]
    return sorted([*folders, *EDITIONS])


def load_corpus(name_or_path: str | Path) -> list[Document]:
    """The documents of a corpus, sorted by id.

    A name of `names()`, or the path of a folder of .md and .txt files (searched in depth). Raises CorpusNotFound and
    CorpusInvalid.
    """
    if str(name_or_path) in EDITIONS:
        return generate(str(name_or_path))
    return _read_folder(_find(name_or_path))


def _find(name_or_path: str | Path) -> Path:
    shipped = FOLDER / str(name_or_path)
    if shipped.parent == FOLDER and shipped.name.isidentifier() and shipped.is_dir():
        return shipped
    path = Path(name_or_path).expanduser()
    if path.is_dir():
        return path
    raise CorpusNotFound(
        f"No corpus {str(name_or_path)!r}. There are {', '.join(names())}; "
        "or give the path of a folder of .md or .txt files."
    )


def _read_folder(folder: Path) -> list[Document]:
    documents: dict[str, Document] = {}
    for file in _load_files(folder):
        path = Path(file.metadata["source"])
        stem = path.relative_to(folder).with_suffix("").as_posix()
        for document in parse(file.page_content, stem, str(path)):
            if document.id in documents:
                raise CorpusInvalid(
                    f"{path}: another document is already called {document.id!r}. Give one a new `id:`."
                )
            documents[document.id] = document
    if not documents:
        raise CorpusInvalid(f"{folder}: no text in any .md or .txt file. Put at least one document there.")
    return [documents[key] for key in sorted(documents)]


def _load_files(folder: Path) -> "list[LoadedFile]":
    """Every text file below the folder. langchain-community has this one job (its sunset is announced at import)."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="`langchain-community` is being sunset", category=DeprecationWarning)
        from langchain_community.document_loaders import DirectoryLoader, TextLoader
    loader = DirectoryLoader(
        str(folder),
        glob=[f"**/*{suffix}" for suffix in SUFFIXES],
        loader_cls=TextLoader,
        loader_kwargs={"encoding": "utf-8"},
    )
    try:
        return loader.load()
    except RuntimeError as error:
        raise CorpusInvalid(f"{error}. Save that file as UTF-8 text.") from error

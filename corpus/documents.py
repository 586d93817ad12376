"""A document, and how one text file becomes one or several of them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import yaml

PASSAGE_WORDS = 180
"""Longer texts are cut at paragraphs and sentences: the embedder reads about 250 word pieces and no further."""

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"\A#{1,6}[ \t]+(.+)")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


class CorpusNotFound(LookupError):
    """No such corpus; the message lists those there are."""


class CorpusInvalid(ValueError):
    """A document cannot be read; the message says which file and how to mend it."""


class Document(NamedTuple):
    """One passage that can be found and, where an approved sentence is given, spoken."""

    id: str
    title: str
    topic: str
    text: str
    answer: str
    """A sentence approved to be said word for word; empty when there is none."""


def parse(raw: str, stem: str, where: str) -> list[Document]:
    """The documents in one file: as many as its length needs, none if it is empty.

    Front matter is optional. Without it the title is the first heading, else the file's name. `where` names the file
    in messages. A file that is cut into passages gives them ids `stem#1`, `stem#2`, ...
    """
    meta, body = _front_matter(raw.replace("\r\n", "\n"), where)
    heading = _HEADING.match(body)
    if heading:
        body = body[heading.end() :]
    body = body.strip()
    if not body:
        return []
    title = _text(meta, "title") or (heading.group(1).strip() if heading else stem.replace("_", " ").replace("-", " "))
    first = Document(_text(meta, "id") or stem, title, _text(meta, "topic"), body, _text(meta, "answer"))
    passages = list(_passages(body))
    if len(passages) == 1:
        return [first]
    return [first._replace(id=f"{first.id}#{n}", text=text) for n, text in enumerate(passages, start=1)]


def render(document: Document) -> str:
    """The document as a Markdown file that `parse` reads back."""
    meta = {"id": document.id, "title": document.title, "topic": document.topic, "answer": document.answer}
    head = yaml.safe_dump(meta, sort_keys=False, allow_unicode=True, width=10_000)
    return f"---\n{head}---\n{document.text}\n"


def _front_matter(raw: str, where: str) -> tuple[Mapping[str, Any], str]:
    found = _FRONT_MATTER.match(raw)
    if not found:
        return {}, raw.strip()
    try:
        meta = yaml.safe_load(found.group(1)) or {}
    except yaml.YAMLError as error:
        raise CorpusInvalid(
            f"{where}: the front matter is not valid YAML ({error}). Quote values with colons."
        ) from error
    if not isinstance(meta, dict):
        raise CorpusInvalid(f"{where}: the front matter must be `name: value` lines, such as `title: Opening hours`.")
    return meta, raw[found.end() :].strip()


def _text(meta: Mapping[str, Any], key: str) -> str:
    value = meta.get(key)
    return "" if value is None else " ".join(str(value).split())


def _passages(text: str) -> Iterator[str]:
    """Pieces of at most PASSAGE_WORDS words, cut between paragraphs where that is enough, else between sentences."""
    if len(text.split()) <= PASSAGE_WORDS * 1.2:
        yield text
        return
    piece: list[str] = []
    n_words = 0
    for unit in _units(text):
        n = len(unit.split())
        if piece and n_words + n > PASSAGE_WORDS:
            yield "\n".join(piece)
            piece, n_words = [], 0
        piece.append(unit)
        n_words += n
    if piece:
        yield "\n".join(piece)


def _units(text: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", text):
        if len(paragraph.split()) <= PASSAGE_WORDS:
            yield paragraph.strip()
            continue
        for sentence in _SENTENCE_END.split(paragraph):
            words = sentence.split()
            for start in range(0, len(words), PASSAGE_WORDS):
                yield " ".join(words[start : start + PASSAGE_WORDS])

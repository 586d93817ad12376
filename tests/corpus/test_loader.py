from pathlib import Path

import pytest

from corpus import CorpusInvalid, CorpusNotFound, load_corpus, names
from corpus.documents import PASSAGE_WORDS, parse, render
from corpus.loader import FOLDER

SHIPPED = [path.name for path in sorted(FOLDER.iterdir()) if path.is_dir() and any(path.glob("*.md"))]


@pytest.mark.parametrize("name", SHIPPED)
def test_each_shipped_document_has_a_title_a_topic_and_a_sentence_that_may_be_spoken(name: str) -> None:
    documents = load_corpus(name)
    assert len(documents) == 25
    for document in documents:
        assert document.title, document.id
        assert document.topic, document.id
        assert 75 <= len(document.text.split()) <= 200, document.id
        assert document.answer.endswith("."), document.id
        assert 8 <= len(document.answer.split()) <= 40, document.id


def test_a_folder_of_the_users_own_files_is_a_corpus(tmp_path: Path) -> None:
    (tmp_path / "hours.txt").write_text("We open at nine.", encoding="utf-8")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "returns.md").write_text("# Returning goods\n\nThirty days.", encoding="utf-8")
    hours, returns = sorted(load_corpus(tmp_path), key=lambda d: d.text, reverse=True)
    assert (hours.id, hours.title, hours.answer) == ("hours", "hours", "")
    assert (returns.id, returns.title, returns.text) == ("deep/returns", "Returning goods", "Thirty days.")


def test_a_long_file_becomes_passages_that_lose_no_word() -> None:
    sentence = "Parcel number {} leaves the depot before noon on every working day."
    paragraphs = [" ".join(sentence.format(10 * p + s) for s in range(10)) for p in range(12)]
    passages = parse("\n\n".join(paragraphs), "handbook", "handbook.md")
    assert [p.id for p in passages][:2] == ["handbook#1", "handbook#2"]
    assert all(len(p.text.split()) <= PASSAGE_WORDS for p in passages)
    assert " ".join(p.text for p in passages).split() == " ".join(paragraphs).split()


def test_one_endless_paragraph_without_a_full_stop_is_cut_too() -> None:
    passages = parse("word " * 1000, "log", "log.txt")
    assert sum(len(p.text.split()) for p in passages) == 1000
    assert max(len(p.text.split()) for p in passages) <= PASSAGE_WORDS


def test_a_document_survives_being_written_and_read_back() -> None:
    (document,) = parse('---\ntitle: "Fees: a list"\ntopic: price\nanswer: It is £5.\n---\nFive pounds.', "fees", "f")
    assert parse(render(document), "other-name", "f") == [document]


def test_an_unknown_corpus_is_answered_with_those_there_are() -> None:
    with pytest.raises(CorpusNotFound, match="insurance_renewal"):
        load_corpus("insurance_removal")


def test_two_documents_of_one_id_are_refused_by_name(tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text("---\nid: same\n---\nText.", encoding="utf-8")
    with pytest.raises(CorpusInvalid, match="same"):
        load_corpus(tmp_path)


def test_front_matter_that_is_not_yaml_names_its_file(tmp_path: Path) -> None:
    (tmp_path / "bad.md").write_text("---\ntitle: a: b: c\n---\nText.", encoding="utf-8")
    with pytest.raises(CorpusInvalid, match=r"bad\.md"):
        load_corpus(tmp_path)


def test_a_file_that_is_not_text_names_itself(tmp_path: Path) -> None:
    (tmp_path / "picture.txt").write_bytes(b"\xff\xfe\x00\x81binary")
    with pytest.raises(CorpusInvalid, match=r"picture\.txt"):
        load_corpus(tmp_path)


def test_an_empty_folder_says_what_to_put_there(tmp_path: Path) -> None:
    with pytest.raises(CorpusInvalid, match="at least one document"):
        load_corpus(tmp_path)


def test_every_name_listed_can_be_loaded() -> None:
    assert "insurance_renewal" in names()
    for name in names():
        assert load_corpus(name)

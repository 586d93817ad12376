import re
from collections import defaultdict
from pathlib import Path

import pytest

from corpus import load_corpus
from corpus.__main__ import main
from corpus.generate import table


@pytest.mark.parametrize(("edition", "at_least"), [("insurance_fine", 400), ("insurance_large", 1500)])
def test_an_edition_is_as_large_as_it_says_and_the_same_every_time(edition: str, at_least: int) -> None:
    documents = load_corpus(edition)
    assert len(documents) >= at_least
    assert documents == load_corpus(edition)
    assert len({document.text for document in documents}) == len(documents)


def test_documents_of_one_topic_differ_in_what_they_say_and_not_only_in_whom_they_name() -> None:
    by_topic = defaultdict(list)
    for document in load_corpus("insurance_fine"):
        by_topic[document.topic].append(document)
    for topic, documents in by_topic.items():
        numbers = {tuple(re.findall(r"\d+", document.text)) for document in documents}
        assert len(numbers) > 0.8 * len(documents), topic
        conditions = {table("situations")[document.id.split(".")[1]]["cost"] for document in documents}
        assert len(conditions) == len(documents), topic


def test_no_slot_of_a_table_is_left_open() -> None:
    for document in load_corpus("insurance_large"):
        assert "{" not in document.text + document.title + document.answer, document.id


def test_an_edition_written_to_a_folder_reads_back_the_same(tmp_path: Path) -> None:
    assert main(["insurance_fine", str(tmp_path)]) == 0
    assert load_corpus(tmp_path) == load_corpus("insurance_fine")

import re

import orjson
import pytest
from langsmith.schemas import ExampleCreate

from corpus import load_corpus
from evals.retrieve import CORPORA, Question, load_questions
from evals.retrieve.generate import generate
from evals.retrieve.questions import path_of
from evals.retrieve.run import bench
from evals.retrieve.score import rank, summary
from tests.corpus.conftest import WordEmbedder

COARSE = CORPORA[:3]
GENERATED = CORPORA[3:]


def _asked(corpus: str) -> list[Question]:
    return [*load_questions(corpus, "dev"), *load_questions(corpus, "test")]


@pytest.mark.parametrize("corpus", CORPORA)
def test_every_row_is_an_example_that_langsmith_takes(corpus: str) -> None:
    rows = [orjson.loads(line) for line in path_of(corpus).read_bytes().splitlines()]
    assert len({ExampleCreate.model_validate(row).id for row in rows}) == len(rows)


@pytest.mark.parametrize("corpus", CORPORA)
def test_every_gold_document_exists(corpus: str) -> None:
    ids = {document.id for document in load_corpus(corpus)}
    for question in _asked(corpus):
        assert question.doc_ids, question.words
        assert question.doc_ids <= ids, question.words


@pytest.mark.parametrize("corpus", CORPORA)
def test_no_question_stands_in_both_splits(corpus: str) -> None:
    dev = {(q.words, q.previous_caller) for q in load_questions(corpus, "dev")}
    assert not dev & {(q.words, q.previous_caller) for q in load_questions(corpus, "test")}


@pytest.mark.parametrize("corpus", COARSE)
def test_each_small_corpus_has_sixty_test_questions_and_asks_for_every_document(corpus: str) -> None:
    assert len(load_questions(corpus, "test")) >= 60
    asked_for = {doc_id for question in _asked(corpus) for doc_id in question.doc_ids}
    assert asked_for == {document.id for document in load_corpus(corpus)}


@pytest.mark.parametrize("corpus", GENERATED)
def test_generated_questions_are_those_that_are_committed(corpus: str) -> None:
    committed = [orjson.loads(line) for line in path_of(corpus).read_bytes().splitlines()]
    assert list(generate(corpus)) == committed
    assert len(load_questions(corpus, "test")) >= 300


@pytest.mark.parametrize("corpus", CORPORA)
def test_no_question_quotes_five_words_in_a_row_from_its_document(corpus: str) -> None:
    documents = {document.id: document for document in load_corpus(corpus)}
    for question in _asked(corpus):
        (doc_id,) = question.doc_ids
        document = documents[doc_id]
        told = _runs(f"{document.title}. {document.text} {document.answer}")
        assert not _runs(question.words) & told, question.words


def _runs(text: str, n: int = 5) -> set[tuple[str, ...]]:
    words = re.findall(r"[a-z']+", text.lower())
    return {tuple(words[i : i + n]) for i in range(len(words) - n + 1)}


def test_rank_is_the_place_of_the_first_gold_document_and_0_without_one() -> None:
    assert rank(["a", "b", "c"], frozenset({"b", "c"})) == 2
    assert rank(["a", "b"], frozenset({"z"})) == 0


def test_a_summary_of_known_ranks() -> None:
    scores = summary([1, 2, 4, 0])
    assert (scores["n"], scores["recall@1"], scores["recall@3"]) == (4, 0.25, 0.5)
    assert scores["mrr"] == pytest.approx((1 + 0.5 + 0.25) / 4, abs=1e-3)
    low, high = scores["recall@3_ci95"]
    assert low < 0.5 < high


def test_the_benchmark_scores_live_words_above_the_turn_before(embedder: WordEmbedder) -> None:
    report = bench("medical_booking", embedder, None)
    assert report["documents"] == 25
    assert report["live"]["n"] == report["before"]["n"] == len(load_questions("medical_booking", "test"))
    assert report["live"]["mrr"] > report["before"]["mrr"] > 0

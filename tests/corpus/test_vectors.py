import numpy as np
import pytest

from corpus import Document
from corpus.vectors import WINDOW_WORDS, document_vectors, windows
from tests.corpus.conftest import WordEmbedder


def _document(text: str, answer: str = "") -> Document:
    return Document("id", "Fees", "price", text, answer)


def test_every_row_has_length_one(embedder: WordEmbedder) -> None:
    rows = document_vectors([_document("A fee is due."), _document("Another fee.", "It is five pounds.")], embedder)
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1.0, 1.0], abs=1e-5)


def test_the_end_of_a_long_text_counts_too(embedder: WordEmbedder) -> None:
    filler = "The office keeps a paper file of every letter. " * 30
    (short, long) = document_vectors([_document(filler), _document(f"{filler}Zebras graze outside.")], embedder)
    (query,) = embedder(["zebras graze"])
    assert float(long @ query) > float(short @ query)


def test_the_approved_sentence_draws_a_document_towards_its_words(embedder: WordEmbedder) -> None:
    plain, spoken = document_vectors(
        [_document("A fee is due."), _document("A fee is due.", "Refunds arrive by Friday.")], embedder
    )
    (query,) = embedder(["when do refunds arrive"])
    assert float(spoken @ query) > float(plain @ query)


@pytest.mark.parametrize("n_sentences", [1, 9, 10, 25, 60])
def test_windows_hold_every_word_and_stay_short(n_sentences: int) -> None:
    text = " ".join(f"Sentence {n} has just about eight words here." for n in range(n_sentences))
    pieces = list(windows(text))
    assert " ".join(pieces) == text
    assert max(len(piece.split()) for piece in pieces) <= WINDOW_WORDS + 8

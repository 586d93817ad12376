import asyncio
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from corpus import open_index
from tests.corpus.conftest import WordEmbedder


def _write(folder: Path, **files: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return _write(
        tmp_path / "shop",
        hours="---\ntopic: visit\nanswer: We open at nine.\n---\nThe shop opens at nine on weekdays.",
        returns="# Returns\nGoods may be sent back within thirty days.",
        parking="# Parking\nThe car park behind the church is free after six.",
    )


async def test_the_nearest_document_comes_first_with_its_approved_sentence(shop: Path, embedder: WordEmbedder) -> None:
    hits = await open_index(shop, embedder).search("when does the shop open on weekdays", k=2)
    assert hits[0].doc_id == "hours"
    assert (hits[0].answer, hits[0].topic) == ("We open at nine.", "visit")
    assert hits[0].score > hits[1].score


async def test_the_score_is_the_cosine(shop: Path, embedder: WordEmbedder) -> None:
    query = "free parking behind the church"
    (hit,) = await open_index(shop, embedder).search(query, k=1)
    rows = embedder([query, "Parking. The car park behind the church is free after six."])
    assert hit.score == pytest.approx(float(rows[0] @ rows[1]), abs=1e-4)


async def test_words_that_are_embedded_already_are_not_embedded_again(shop: Path, embedder: WordEmbedder) -> None:
    index = open_index(shop, embedder)
    vector = embedder(["goods sent back"])[0]
    embedder.asked.clear()
    hits = await index.search(vector=vector, k=1)
    assert hits[0].doc_id == "returns"
    assert embedder.asked == []


async def test_asking_for_more_than_there_is_gives_what_there_is(shop: Path, embedder: WordEmbedder) -> None:
    assert len(await open_index(shop, embedder).search("anything", k=30)) == 3


async def test_a_search_needs_words_or_a_vector_and_not_both(shop: Path, embedder: WordEmbedder) -> None:
    index = open_index(shop, embedder)
    with pytest.raises(ValueError, match="either"):
        await index.search()
    with pytest.raises(ValueError, match="either"):
        await index.search("words", vector=np.zeros(256, dtype=np.float32))


async def test_searches_side_by_side_each_get_their_own_answer(shop: Path, embedder: WordEmbedder) -> None:
    index = open_index(shop, embedder)
    queries = ["shop opens at nine", "goods sent back thirty days", "car park church"] * 5
    found = await asyncio.gather(*(index.search(query, k=1) for query in queries))
    assert [hits[0].doc_id for hits in found] == ["hours", "returns", "parking"] * 5


async def test_an_index_on_disk_is_read_and_not_built_again(shop: Path, tmp_path: Path) -> None:
    open_index(shop, WordEmbedder(), tmp_path / "data")
    second = WordEmbedder()
    index = open_index(shop, second, tmp_path / "data")
    assert len(second.asked) == 1, "only the probe that tells one embedder from another"
    assert (await index.search("car park church", k=1))[0].doc_id == "parking"


async def test_a_changed_document_is_found_by_its_new_words(shop: Path, tmp_path: Path, embedder: WordEmbedder) -> None:
    open_index(shop, embedder, tmp_path / "data")
    _write(shop, parking="# Parking\nVisitors leave bicycles underneath the bridge.")
    index = open_index(shop, embedder, tmp_path / "data")
    (hit,) = await index.search("bicycles underneath the bridge", k=1)
    assert hit.score > 0.5
    assert len({hit.doc_id for hit in await index.search("anything", k=9)}) == 3


async def test_another_embedder_builds_the_index_again(shop: Path, tmp_path: Path) -> None:
    open_index(shop, WordEmbedder(), tmp_path / "data")
    other = WordEmbedder(seed="other weights ")
    index = open_index(shop, other, tmp_path / "data")
    assert any("church" in text for text in other.asked)
    assert (await index.search("car park church", k=1))[0].doc_id == "parking"


async def test_two_folders_of_one_name_share_nothing(tmp_path: Path, embedder: WordEmbedder) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one = _write(tmp_path / "a" / "docs", first="Apples are red.")
    two = _write(tmp_path / "b" / "docs", second="Pears are green.")
    open_index(one, embedder, tmp_path / "data")
    open_index(two, embedder, tmp_path / "data")
    again = open_index(one, embedder, tmp_path / "data")
    assert [hit.doc_id for hit in await again.search("pears", k=3)] == ["first"]


async def test_a_closed_index_in_memory_is_gone(shop: Path, embedder: WordEmbedder) -> None:
    closed, other = open_index(shop, embedder), open_index(shop, embedder)
    closed.close()
    asked = len(embedder.asked)
    await other.search("parking", k=1)
    assert len(embedder.asked) == asked + 1, "the other index was not touched"
    await closed.search("parking", k=1)
    assert len(embedder.asked) > asked + 3, "the closed one had to be built again"


async def test_an_index_replaced_by_another_process_goes_on_with_its_own_documents(
    shop: Path, tmp_path: Path, embedder: WordEmbedder
) -> None:
    old = open_index(shop, embedder, tmp_path / "data")
    _write(shop, parking="# Parking\nVisitors leave bicycles underneath the bridge.")
    new = open_index(shop, embedder, tmp_path / "data")
    assert "church" in (await old.search("car park church", k=1))[0].text
    assert "bridge" in (await new.search("bicycles bridge", k=1))[0].text


@pytest.mark.parametrize("junk", ["database", "folder"])
async def test_a_folder_that_cannot_be_used_costs_a_warning_and_no_answer(
    junk: str, shop: Path, tmp_path: Path, embedder: WordEmbedder, caplog: pytest.LogCaptureFixture
) -> None:
    data = tmp_path / "data"
    if junk == "database":
        data.mkdir()
        (data / "chroma.sqlite3").write_bytes(b"this is not a database " * 100)
    else:
        data.write_text("a file where the folder should be", encoding="utf-8")
    index = open_index(shop, embedder, data)
    assert (await index.search("car park church", k=1))[0].doc_id == "parking"
    assert "Going on in memory" in caplog.text


async def test_threads_that_open_one_corpus_at_once_build_it_and_all_find_it(shop: Path, tmp_path: Path) -> None:
    embedders = [WordEmbedder() for _ in range(4)]
    opened = [asyncio.to_thread(open_index, shop, embedder, tmp_path / "data") for embedder in embedders]
    for index in await asyncio.gather(*opened):
        assert (await index.search("car park church", k=1))[0].doc_id == "parking"


@pytest.mark.slow
def test_processes_that_open_one_corpus_at_once_all_find_it(shop: Path, tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from corpus import open_index; "
        "from tests.corpus.conftest import WordEmbedder; "
        "index = open_index(sys.argv[1], WordEmbedder(), Path(sys.argv[2])); "
        "print(index.search_now('car park church', k=1)[0].doc_id, index._persistent)"
    )
    command = [sys.executable, "-c", program, str(shop), str(tmp_path / "data")]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate(timeout=120)[0].split() for process in running] == [["parking", "True"]] * 2

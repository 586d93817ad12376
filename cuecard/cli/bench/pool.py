"""Does the pool hold and find the right document? By predictor recall, beside plain search."""

from pathlib import Path
from typing import Annotated, Any

import typer

from cuecard.cli.output import console, print_json, progress


def command(
    data: Annotated[Path | None, typer.Option(help="MTRAG-UN passages (mtragun_docs.jsonl.gz), to score too.")] = None,
    corpus: Annotated[list[str] | None, typer.Option(help="Only this corpus; may be repeated.")] = None,
    split: Annotated[str, typer.Option(help="test (for figures) or dev (for choices).")] = "test",
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Right document among three picks of the pool, with a predictor of known recall; facts kept; speed.

    Questions on the shipped corpora are generated; those of MTRAG-UN are people's, none are callers'. The first run
    embeds each corpus once, which takes a minute or two; the vectors are kept in the user's cache folder.
    """
    from cuecard.models.embeddings import load_embedder, weights_name
    from cuecard.models.vector_cache import CachedEmbedder
    from cuecard.settings import get_settings
    from evals.poolbench.corpora import Library, conversations, shipped
    from evals.poolbench.keeping import kept_facts, select_us, wrong_context
    from evals.poolbench.run import score

    if data is not None and not data.is_file():
        raise typer.BadParameter(f"--data: there is no file {data}.")
    model = get_settings().embedding_model
    embed = CachedEmbedder(load_embedder(model), weights_name(model)).embed
    names = ["insurance_fine", "insurance_large"] if corpus is None else list(corpus)
    report: dict[str, Any] = {}
    library: Library | None = None
    with progress() as bar:
        task = bar.add_task("pool", total=len(names) + (data is not None))
        for name in names:
            library = shipped(name, "dev" if split == "dev" else "test", embed)
            report[name] = score(library)
            bar.advance(task)
        if data is not None:
            library = conversations(data, embed)
            report[library.name] = score(library)
            bar.advance(task)
    p50_us, p95_us = select_us()
    report["select_us_p50"], report["select_us_p95"] = round(p50_us, 1), round(p95_us, 1)
    if library is not None:
        report["pinned_kept"] = kept_facts(library, pinned=True).rate
        report["unpinned_kept"] = kept_facts(library, pinned=False).rate
        talk = wrong_context(library, embed)
        report["wrong_context"], report["wrong_context_n"] = round(talk.rate, 3), talk.n
    if json:
        print_json(report)
        return
    for name, row in report.items():
        if not isinstance(row, dict):
            continue
        by_recall = "  ".join(f"{recall} {row[recall]:.2f} (x{times})" for recall, times in row["times_plain"].items())
        console.print(
            f"[bold]{name}[/bold], {row['documents']} documents, n {row['questions']}: plain {row['plain']:.2f}"
        )
        console.print(f"  pool by recall: {by_recall}")
        for variant, rates in row["variants"].items():
            console.print(f"  {variant:28} " + "  ".join(f"{recall} {rate:.2f}" for recall, rate in rates.items()))
    console.print(f"select p50 {report['select_us_p50']} us, p95 {report['select_us_p95']} us")

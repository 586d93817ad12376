"""Does search find the document that answers the caller? recall@1, recall@3 and MRR on five corpora."""

from typing import Annotated, Any

import typer

from cuecard.cli.output import console, print_json, progress


def command(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
    split: Annotated[str, typer.Option(help="test (for figures) or dev (for choices).")] = "test",
) -> None:
    """Score retrieval for the live question and for what was known a turn before it.

    The three small corpora have questions written by hand; those of the fine and the large one are generated. The
    first run indexes the large corpus, which takes a minute or two; the index is kept in the data folder.
    """
    from cuecard.models.embeddings import load_embedder
    from cuecard.settings import get_settings
    from evals.retrieve import CORPORA, bench

    if split not in ("test", "dev"):
        raise typer.BadParameter("--split is test or dev.")
    settings = get_settings()
    embed = load_embedder(settings.embedding_model).embed
    report: dict[str, Any] = {}
    with progress() as bar:
        task = bar.add_task("retrieve", total=len(CORPORA))
        for corpus in CORPORA:
            bar.update(task, description=corpus)
            report[corpus] = bench(corpus, embed, settings.data_dir / "indexes", "dev" if split == "dev" else "test")
            bar.advance(task)
    if json:
        print_json(report)
        return
    for corpus, row in report.items():
        console.print(f"[bold]{corpus}[/bold], {row['documents']} documents, {row['live']['n']} questions")
        for query in ("live", "before", "live_with_before"):
            score = row[query]
            low, high = score["recall@3_ci95"]
            console.print(
                f"  {query:17} recall@1 {score['recall@1']:.2f}  recall@3 {score['recall@3']:.2f} "
                f"({low:.2f}-{high:.2f})  MRR {score['mrr']:.2f}"
            )

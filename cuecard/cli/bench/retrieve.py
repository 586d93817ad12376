"""Does search find the document that answers the caller? recall@1, recall@3 and MRR on five corpora."""

from typing import Annotated

import typer

from cuecard.cli.output import console, print_json, stderr


def command(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
    split: Annotated[str, typer.Option(help="test (for figures) or dev (for choices).")] = "test",
) -> None:
    """Score retrieval for the live question and for what was known a turn before it.

    The three small corpora have questions written by hand; those of the fine and the large one are generated.
    """
    from cuecard.models.embeddings import load_embedder
    from evals.retrieve import bench

    if split not in ("test", "dev"):
        raise typer.BadParameter("--split is test or dev.")
    with stderr.status("building indexes and asking questions"):
        report = bench(load_embedder().embed, None, "dev" if split == "dev" else "test")
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

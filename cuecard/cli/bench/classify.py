"""How well callers are understood: state, change, mood and cohort on held-out utterances."""

from pathlib import Path
from typing import Annotated

import typer


def command(
    data: Annotated[
        Path | None,
        typer.Option(help="JSON lines of {sop, action, utterance, state}; the committed held-out sets when absent."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object as the last line.")] = False,
) -> None:
    """Score the embedded classifier on labelled utterances, for each procedure in the data.

    transition_recall is the share of turns that differ in state from the turn before and were named right; auc_change
    says how well P(change) ranks the turns after which the state changed. Both need dialogues in the data.
    """
    from itertools import chain

    from rich.table import Table

    from cuecard.belief.classifier import EmbeddedClassifier
    from cuecard.cli.output import console, print_json, progress
    from cuecard.models.embeddings import load_embedder
    from cuecard.settings import get_settings
    from evals.classify import read_examples, score, shipped_sets
    from sops import load_procedure

    files = [data] if data is not None else shipped_sets()
    examples = list(chain.from_iterable(read_examples(file) for file in files))
    names = list(dict.fromkeys(one.sop for one in examples))
    settings = get_settings()
    embedder = load_embedder(settings.embedding_model)
    report = {}
    with progress() as bar:
        for name in bar.track(names, description="procedures"):
            procedure = load_procedure(name)
            classifier = EmbeddedClassifier(procedure, embedder.embed, cache=settings.data_dir / "cache")
            rows = [one for one in examples if one.sop == name]
            report[name] = score(procedure, rows, classifier.judge_text)
    if json:
        print_json({name: scores.to_json() for name, scores in report.items()})
        return
    table = Table("procedure", "n", *(next(iter(report.values()))._fields if report else ()))
    for name, scores in report.items():
        cells = [f"{rate.value:.3f} [{rate.low:.2f}, {rate.high:.2f}]" if rate.n else "-" for rate in scores]
        table.add_row(name, str(scores.state_acc.n), *cells)
    console.print(table)

"""Predictors side by side on simulated calls: actions, documents, tokens, milliseconds."""

from typing import Annotated

import typer


def command(
    procedure: Annotated[str, typer.Argument(help="A shipped procedure's name, or a YAML file.")] = "insurance_renewal",
    train: Annotated[int, typer.Option(min=0, help="Simulated calls that are counted.")] = 40,
    test: Annotated[int, typer.Option(min=1, help="Simulated calls that are scored.")] = 20,
    seed_base: Annotated[int, typer.Option(help="First seed.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="One JSON object as the last line.")] = False,
) -> None:
    """Empirical, LLM, tree search and garbage, on the same calls. Without a model the LLM row is a stand-in's.

    `query_coarse`, `query_fine`, `query_large`: how often one of five predicted sentences finds a document that the
    real question then finds, on the procedure's own corpus and on the fine and large editions that car insurance has
    (null for the others). Indexing those takes minutes the first time.
    """
    from cuecard.cli.output import console, print_json, stderr
    from cuecard.settings import get_settings
    from evals.predictors import compare
    from sops import load_procedure

    name = load_procedure(procedure).name
    editions = {"fine": "insurance_fine", "large": "insurance_large"} if name == "insurance_renewal" else {}
    with stderr.status("...") as status:
        figures = compare(
            procedure,
            get_settings(),
            n_train=train,
            n_test=test,
            corpora={"coarse": name, **editions},
            seed_base=seed_base,
            on_step=lambda step: status.update(step),
        )
    if json:
        print_json(figures)
        return
    console.print(f"{name}: {train} simulated calls counted, {test} scored")
    for predictor, row in figures["predictors"].items():
        console.print(f"  {predictor}: {row}", markup=False)

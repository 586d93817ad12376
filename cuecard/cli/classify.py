"""Try the classifier: what state, mood, cohort and facts it hears in each line."""

from typing import Annotated

import typer


def command(
    sop: Annotated[str, typer.Argument(help="Name of a shipped procedure, or path of a YAML file.")],
    utterances: Annotated[list[str] | None, typer.Argument(help="What the caller says, one argument each.")] = None,
    stdin: Annotated[bool, typer.Option("--stdin", help="Read lines from standard input.")] = False,
    one_call: Annotated[
        bool, typer.Option("--one-call", help="Lines follow each other in one call; otherwise each is a call's first.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object for each line.")] = False,
) -> None:
    """Judge caller words, one utterance a line; `action<TAB>utterance` names the agent's step that they answer."""
    import sys

    from cuecard.belief.classifier import EmbeddedClassifier
    from cuecard.belief.facts import FactExtractor
    from cuecard.belief.types import Belief, top
    from cuecard.cli.output import console, print_json
    from cuecard.models.embeddings import load_embedder
    from cuecard.settings import get_settings
    from sops import load_procedure

    procedure = load_procedure(sop)
    settings = get_settings()
    embedder = load_embedder(settings.embedding_model)
    classifier = EmbeddedClassifier(procedure, embedder.embed, cache=settings.data_dir / "cache")
    extractor = FactExtractor(procedure)
    belief = Belief()
    known: dict[str, str] = {}
    for line in sys.stdin if stdin else utterances or []:
        action, words = _parts(line.rstrip("\r\n"))
        if not words.strip():
            continue
        words = words[: settings.max_utterance_chars]
        if not one_call:
            belief, known = Belief(), {}
        belief = classifier.judge_text(words, action, belief)
        updates = extractor.extract(words, last_action=action, known=known)
        known |= {update.name: update.value for update in updates}
        state = top(belief.state)
        answer = {
            "state": state.name,
            "p_state": round(state.p, 4),
            "mood": belief.likely_mood,
            "cohort": belief.likely_cohort,
            "facts": {update.name: update.value for update in updates},
        }
        if json:
            print_json(answer)
        else:
            facts = ", ".join(f"{update.name}={update.value}" for update in updates)
            console.print(
                f"{state.name} {state.p:.2f}  {belief.likely_cohort}/{belief.likely_mood}  {facts}", markup=False
            )


def _parts(line: str) -> tuple[str | None, str]:
    """(action or None, words)."""
    action, tab, words = line.partition("\t")
    return (action.strip() or None, words) if tab else (None, line)

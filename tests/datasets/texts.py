"""Three groups of caller speech that must not know each other: examples, held-out utterances, simulated callers.

Examples teach the classifier, held-out utterances score it, and simulated callers speak to it. A phrase in two of the
groups would turn a score into a memory test.
"""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, cast

import evals
from sops import load_procedure, names, plain_yaml

SETS = Path(evals.__file__).parent / "datasets" / "classify"
CALLERS = Path(evals.__file__).parent / "callers"
BREAK = re.compile(r"\{[^{}]*\}|[|\n]")
"""A slot or an alternative: what stands on its two sides was not written as one run of words."""
WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)*")


class Text(NamedTuple):
    where: str
    said: str


def held_out_rows(procedure: str) -> list[dict[str, object]]:
    """Every line of the procedure's held-out set, as written."""
    lines = (SETS / f"{procedure}.jsonl").read_text(encoding="utf-8").splitlines()
    return [cast(dict[str, object], json.loads(line)) for line in lines]


def examples(procedure: str) -> list[Text]:
    """What the procedure gives the classifier to learn from: the examples of its states, cohorts and moods."""
    loaded = load_procedure(procedure)
    said = {f"state {name}": state.examples for name, state in loaded.states.items()}
    for name, cohort in loaded.cohorts.items():
        said[f"cohort {name}"] = cohort.examples
        said.update({f"mood {name}.{mood}": spec.examples for mood, spec in cohort.moods.items()})
    return [Text(f"sops {procedure}, {where}", text) for where, texts in said.items() for text in texts]


def all_examples() -> list[Text]:
    return [text for procedure in names() for text in examples(procedure)]


def held_out() -> list[Text]:
    """All held-out utterances, of every procedure that has a set."""
    found = []
    for path in sorted(SETS.glob("*.jsonl")):
        for number, row in enumerate(held_out_rows(path.stem), start=1):
            inputs = cast(dict[str, str], row["inputs"])
            found.append(Text(f"{path.name}:{number}", inputs["utterance"]))
    return found


def caller_wording() -> list[Text]:
    """Every string a simulated caller may say: values of its data files, and strings in its code but docstrings."""
    found = []
    for path in sorted(CALLERS.rglob("*")):
        strings: Iterator[str] = iter(())
        if path.suffix in {".yaml", ".yml"}:
            strings = _leaves(plain_yaml.load(path.read_text(encoding="utf-8")))
        elif path.suffix == ".json":
            strings = _leaves(json.loads(path.read_text(encoding="utf-8")))
        elif path.suffix == ".jsonl":
            strings = _leaves([json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()])
        elif path.suffix == ".txt":
            strings = iter(path.read_text(encoding="utf-8").splitlines())
        elif path.suffix == ".py":
            strings = _code_strings(path.read_text(encoding="utf-8"))
        found += [Text(f"callers {path.relative_to(CALLERS)}", said) for said in strings]
    return found


def folded(said: str) -> str:
    """The text with case and punctuation gone, for comparison."""
    return " ".join(WORD.findall(said.casefold().replace("’", "'")))


def runs(said: str, n_words: int) -> set[str]:
    """All runs of that many words in the text, case and punctuation gone; none crosses a slot or an alternative."""
    found = set()
    for part in BREAK.split(said):
        words = folded(part).split()
        found |= {" ".join(words[i : i + n_words]) for i in range(len(words) - n_words + 1)}
    return found


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for child in value.values():
            yield from _leaves(child)
    elif isinstance(value, list):
        for child in value:
            yield from _leaves(child)


def _code_strings(code: str) -> Iterator[str]:
    tree = ast.parse(code)
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.value

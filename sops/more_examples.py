"""Further examples beside a procedure: plain text, one utterance a line, so that hundreds don't swell the YAML.

A heading names the place in the YAML whose examples the lines go on with: `## states.opens`, `## cohorts.loyal`,
`## cohorts.loyal.moods.calm`. Lines that start with `#` are comments.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sops.checks.findings import Finding, nearest
from sops.models import Cohort, Procedure


class Line(NamedTuple):
    number: int
    heading: str
    """The last one before this line; "" before the first."""
    text: str


def examples_path(procedure_path: str | Path) -> Path | None:
    """`examples/<name>.txt` or `<name>.examples.txt` beside the procedure's file; None when there is neither."""
    path = Path(procedure_path)
    candidates = (path.parent / "examples" / f"{path.stem}.txt", path.with_name(f"{path.stem}.examples.txt"))
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def read_lines(text: str) -> Iterator[Line]:
    """Headings come as lines with no text of their own, so that an unknown one is found though nothing follows it."""
    heading = ""
    for number, line in enumerate(text.splitlines(), start=1):
        bare = line.strip()
        if bare.startswith("## "):
            heading = bare[3:].strip()
            yield Line(number, heading, "")
        elif bare and not bare.startswith("#"):
            yield Line(number, heading, bare)


def places(procedure: Procedure) -> list[str]:
    """Every heading there can be."""
    found = [f"states.{name}" for name in procedure.states]
    for name, cohort in procedure.cohorts.items():
        found += [f"cohorts.{name}", *(f"cohorts.{name}.moods.{mood}" for mood in cohort.moods)]
    return found


def with_examples(procedure: Procedure, text: str) -> Procedure:
    """The procedure with these examples after its own. Headings must be known: `check_examples` says which are not."""
    more: dict[str, list[str]] = {}
    for line in read_lines(text):
        if line.text:
            more.setdefault(line.heading, []).append(line.text)
    states = {
        name: state.model_copy(update={"examples": (*state.examples, *more.get(f"states.{name}", ()))})
        for name, state in procedure.states.items()
    }
    cohorts = {name: _cohort(f"cohorts.{name}", cohort, more) for name, cohort in procedure.cohorts.items()}
    return procedure.model_copy(update={"states": states, "cohorts": cohorts})


def _cohort(place: str, cohort: Cohort, more: dict[str, list[str]]) -> Cohort:
    moods = {
        name: mood.model_copy(update={"examples": (*mood.examples, *more.get(f"{place}.moods.{name}", ()))})
        for name, mood in cohort.moods.items()
    }
    return cohort.model_copy(update={"examples": (*cohort.examples, *more.get(place, ())), "moods": moods})


def check_examples(procedure: Procedure, text: str, where: str) -> Iterator[Finding]:
    """Headings that name no place, lines before the first, and sentences that teach two states at once."""
    known = places(procedure)
    taught = {_bare(said): name for name, state in procedure.states.items() for said in state.examples}
    for line in read_lines(text):
        if line.heading not in known:
            if not line.heading or not line.text:
                said = f"There is no {line.heading!r}." if line.heading else "This example stands under no heading."
                remedy = nearest(line.heading, known) if line.heading else "Put `## states.<name>` above it."
                yield Finding(where, line.number, "error", said, remedy)
        elif line.text and line.heading.startswith("states."):
            name = line.heading.removeprefix("states.")
            other = taught.setdefault(_bare(line.text), name)
            if other != name:
                said = f"states.{name}: the example {line.text!r} stands under {other!r} too."
                yield Finding(where, line.number, "error", said, "Keep it where a stranger would put it.")


def _bare(said: str) -> str:
    return "".join(letter for letter in said.lower() if letter.isalnum() or letter == " ").strip()

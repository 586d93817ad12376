import re
from pathlib import Path

import pytest

from sops.graph import mermaid
from sops.loader import load_procedure, names
from sops.models import Procedure
from sops.starter import write_starter

_OPEN = r"(?:\[\[|\[\(|\[/|\(\(|\(\[|\{\{|\[|\{)"
_CLOSE = r"(?:\]\]|\)\]|/\]|\)\)|\]\)|\}\}|\]|\})"
NODE = re.compile(rf'  (\w+){_OPEN}"([^"]*)"{_CLOSE}')
ARROW = re.compile(r"  (\w+) (?:==>|-\.->|-->\|\"[^\"]+\"\|) (\w+)")
OTHER = re.compile(r"  (?:classDef \w+ [\w:-]+(?: \d+)?|classDef \w+ stroke-dasharray:6 3|class [\w,]+ \w+)")


@pytest.mark.parametrize("name", names())
def test_every_line_is_a_node_an_arrow_or_a_class(name: str) -> None:
    lines = mermaid(load_procedure(name)).splitlines()
    assert lines[0] == "flowchart TD"
    for line in lines[1:]:
        assert NODE.fullmatch(line) or ARROW.fullmatch(line) or OTHER.fullmatch(line), line


@pytest.mark.parametrize("name", names())
def test_arrows_join_nodes_that_are_there(name: str) -> None:
    procedure = load_procedure(name)
    lines = mermaid(procedure).splitlines()
    nodes = {match[1] for line in lines if (match := NODE.fullmatch(line))}
    ends = {end for line in lines if (match := ARROW.fullmatch(line)) for end in match.groups()}
    assert ends <= nodes
    assert {f"a_{action}" for action in procedure.actions} <= nodes
    needed = {need for action in procedure.actions.values() for need in action.needs}
    assert {f"d_{need}" for need in needed} <= nodes


def test_the_path_is_drawn_thick_and_in_order() -> None:
    procedure = load_procedure("insurance_renewal")
    thick = [line.split() for line in mermaid(procedure).splitlines() if "==>" in line]
    assert [end for _, _, end in thick] == [f"a_{step}" for step in procedure.path]


def test_names_that_mermaid_keeps_for_itself_do_no_harm(tmp_path: Path) -> None:
    write_starter("mine", tmp_path)
    path = tmp_path / "mine.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("close_call", "end"), encoding="utf-8")
    drawn = mermaid(load_procedure(path))
    assert '  a_end(["end' in drawn
    assert re.search(r"(?m)^  end\b", drawn) is None


def test_labels_cannot_end_their_quotes() -> None:
    procedure = load_procedure("insurance_renewal")
    greet = procedure.actions["greet"].model_copy(update={"asks": ('x"] --> <b>y',)})
    odd = Procedure.model_construct(**{**dict(procedure), "actions": {**procedure.actions, "greet": greet}})
    assert "x#quot;] --#gt; #lt;b#gt;y" in mermaid(odd)

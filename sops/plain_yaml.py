"""YAML as people expect it: `on`, `yes` and `no` are words, 09:30 and 1984-06-15 are text.

PyYAML reads YAML 1.1, where `on:` is the key True and 09:30 the number 570. Only the core types of YAML 1.2 are kept.
"""

import re
from typing import Any, ClassVar

import yaml

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The C loader is ten times as quick and behaves the same."""


class PlainLoader(_Base):  # type: ignore[misc]
    """Safe loading with the scalars of YAML 1.2 only."""

    yaml_implicit_resolvers: ClassVar[dict[str, list[tuple[str, re.Pattern[str]]]]] = {}


for _tag, _pattern, _first in (
    ("null", r"^(?:~|null|)$", ["~", "n", ""]),
    ("bool", r"^(?:true|false)$", ["t", "f"]),
    ("int", r"^[-+]?(?:0|[1-9][0-9]*)$", list("-+0123456789")),
    ("float", r"^[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$", list("-+.0123456789")),
    ("merge", r"^<<$", ["<"]),
):
    PlainLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), _first)


def load(text: str) -> Any:
    """The document as dicts, lists, text, numbers, true/false and null. Raises yaml.YAMLError."""
    return yaml.load(text, Loader=PlainLoader)


def compose(text: str) -> yaml.Node | None:
    """The document as nodes that know their lines."""
    return yaml.compose(text, Loader=PlainLoader)

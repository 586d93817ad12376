"""Fills `{name}` slots with callers' words, and can do nothing else with them.

`str.format` would follow attributes and run format specs of whatever stands between braces; here a slot is
a bare name, a value is a string, and values are never looked at for slots again.
"""

import re
from collections.abc import Callable, Collection, Mapping

SLOT = re.compile(r"\{([A-Za-z_][A-Za-z0-9_.]*)\}")


def slots(template: str) -> tuple[str, ...]:
    """The slot names of a template, in order of appearance, each once."""
    return tuple(dict.fromkeys(SLOT.findall(template)))


def fill(
    template: str,
    values: Mapping[str, object],
    encode: Callable[[str], str] = str,
    optional: Collection[str] = (),
) -> str | None:
    """The template with every slot filled, each value passed through `encode`; None when one is unknown.

    Unknown slots named in `optional` are left empty instead.
    """
    missing = False

    def one(match: re.Match[str]) -> str:
        nonlocal missing
        value = values.get(match[1])
        if value is None or value == "":
            missing = missing or match[1] not in optional
            return ""
        return encode(str(value))

    filled = SLOT.sub(one, template)
    return None if missing else filled


def fill_partly(template: str, values: Mapping[str, object]) -> str:
    """The template with unknown slots left out and the gaps closed: a broad query is better than none."""
    filled = SLOT.sub(lambda match: str(values.get(match[1]) or ""), template)
    return re.sub(r"\s+", " ", filled).strip()

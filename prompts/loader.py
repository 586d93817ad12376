"""Prompts are Markdown files with declared slots, checked when loaded."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from string import Template

import yaml

FOLDER = Path(__file__).parent


class PromptError(ValueError):
    """A prompt file's declared slots are not the ones it uses."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt; `render` takes exactly the declared slots. Values are inserted once and never read as slots again."""

    name: str
    slots: frozenset[str]
    template: Template

    def render(self, **values: str) -> str:
        if values.keys() != self.slots:
            raise PromptError(f"prompts/{self.name}.md takes {sorted(self.slots)}, was given {sorted(values)}.")
        return self.template.substitute(values)


@lru_cache(maxsize=32)
def load_prompt(name: str) -> Prompt:
    """`prompts/<name>.md`: front matter with `slots:`, then the text with `$slot` marks."""
    path = FOLDER / f"{name}.md"
    _, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
    declared = frozenset(yaml.safe_load(front).get("slots") or ())
    template = Template(body.strip())
    used = frozenset(template.get_identifiers())
    if not template.is_valid() or used != declared:
        raise PromptError(f"{path.name}: declares slots {sorted(declared)} but uses {sorted(used)}.")
    return Prompt(name, declared, template)

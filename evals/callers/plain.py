"""What callers of somebody's own procedure know and say, when nobody has written wording for them.

Plain words around values of the simulated back office, so that a new procedure can be called at once. A figure worth
quoting needs a wording file of its own.
"""

from evals.callers.spoken import Form
from evals.callers.wording import FactWords, Numbers, Wording
from sops.models import Procedure, Simulated
from sops.tables import Tables

SAYS = ("It's {value}.", "{value}.", "Sure, {value}.", "Let me see, {value}.", "That would be {value}.")
AMOUNTS = Numbers(low=1, high=12)
"""How many of something a caller wants where the procedure only says that it is an amount."""


def with_plain_facts(wording: Wording, procedure: Procedure, tables: Tables) -> Wording:
    """The wording, with every fact that a step asks for and somebody can be given a value of."""
    asked = dict.fromkeys(fact for action in procedure.actions.values() for fact in action.asks)
    found = {fact: words for fact in asked if (words := _plain_words(fact, procedure, tables)) is not None}
    return wording.model_copy(update={"facts": {**found, **wording.facts}})


def _plain_words(fact: str, procedure: Procedure, tables: Tables) -> FactWords | None:
    declared = procedure.facts[fact]
    forms: dict[str, Form] = {"digits": "digits", "date": "date", "number": "number"}
    form = forms.get(declared.keep, "asis")
    if declared.choices:
        return FactWords(values=dict.fromkeys(declared.choices, 1.0), says=SAYS)
    if column := _column(fact, procedure, tables):
        return FactWords(column=column, form=form, says=SAYS)
    return FactWords(numbers=AMOUNTS, form=form, says=SAYS) if declared.keep == "number" else None


def _column(fact: str, procedure: Procedure, tables: Tables) -> str:
    """Where the back office keeps it: the key of a table, or a field of that name."""
    fetches = [dependency.fetch for dependency in procedure.dependencies.values()]
    keyed = [fetch.table for fetch in fetches if isinstance(fetch, Simulated) and fetch.key == fact]
    for table in keyed:
        if tables.get(table):
            return f"{table}.key"
    named = (name for name, rows in tables.items() if "" not in rows and all(fact in row for row in rows.values()))
    return next((f"{name}.{fact}" for name in named), "")

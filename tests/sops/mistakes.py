"""Edits that break `sound.yaml`, each in one way, and what the check must say about it."""

from typing import NamedTuple


class Mistake(NamedTuple):
    """An edit of the sound file, and what must be said about it."""

    old: str
    new: str
    at: str
    """The line that must be named, by what stands on it in the broken file."""
    message: str
    remedy: str
    level: str = "error"


MISTAKES = {
    "unknown field": Mistake("    prior: 0.6", "    prio: 0.6", "prio: 0.6", "no field 'prio'", "'prior'"),
    "unknown field of a fetch": Mistake(
        "{type: table, table: prices, key: policy_number}",
        "{type: table, tabel: prices, key: policy_number}",
        "tabel: prices",
        "no field 'tabel'",
        "'table'",
    ),
    "a host that a caller chooses": Mistake(
        "{type: table, table: prices, key: policy_number}",
        '{type: http, url: "https://{policy_number}.rating.example/quotes"}',
        "rating.example",
        "would choose the host",
        "Write the host out",
    ),
    "missing field": Mistake(
        "    description: Gives the price.\n", "", "  quote:", "'description' is missing", "sentence"
    ),
    "a number for a text": Mistake("[yes a, yes b", "[yes a, 42", "yes a", "valid string", '"42"'),
    "a name in capitals": Mistake("  greet:\n", "  Greet:\n", "  Greet:", "'Greet' is no name", "lower-case"),
    "an unknown kind of fetch": Mistake(
        "{type: rag, corpus", "{type: raag, corpus", "raag", "no fetch of type 'raag'", "'rag'"
    ),
    "a single value for a list": Mistake("    needs: [guide]", "    needs: guide", "needs: guide", "tuple", "list"),
    "a write without an effect": Mistake(
        "    effect: write\n", "", "  renewal:", "'effect' is missing", "`effect: write` if a call changes anything"
    ),
    "a pattern that doesn't compile": Mistake(
        "['(<digits 6>)']", "['(<digits 6>']", "(<digits 6>'", "does not compile", "Mend the expression"
    ),
    "the same key twice": Mistake(
        "title: A sound", "name: again\ntitle: A sound", "name: again", "stands twice", "Keep one"
    ),
    "an unknown state": Mistake(
        "      agrees: renew", "      agres: renew", "agres: renew", "state 'agres'", "'agrees'"
    ),
    "an unknown transition target": Mistake(
        "  asks: answer", "  asks: anwser", "asks: anwser", "transition target 'anwser'", "'answer'"
    ),
    "an unknown dependency": Mistake(
        "    needs: [price]", "    needs: [prise]", "[prise]", "dependency 'prise'", "'price'"
    ),
    "an unknown fact": Mistake("    asks: [plan]", "    asks: [plam]", "[plam]", "fact 'plam'", "'plan'"),
    "an unknown step of the path": Mistake("[verify, quote,", "[verify, qoute,", "qoute", "action 'qoute'", "'quote'"),
    "an unknown action to start with": Mistake(
        "start: greet", "start: great", "start: great", "action 'great'", "'greet'"
    ),
    "a key that is no argument": Mistake(
        "prices, key: policy_number}", "prices, key: nobody}", "key: nobody", "unknown fact", "policy_number"
    ),
    "a state nobody expects": Mistake(
        "{agrees: 0.5, asks: 0.3}", "{agreed: 0.5, asks: 0.3}", "agreed: 0.5", "state 'agreed'", "'agrees'"
    ),
    "an action nobody reaches": Mistake("  asks: answer\n", "", "  answer:", "no call ever gets here", "`otherwise`"),
    "priors of cohorts": Mistake("prior: 0.6", "prior: 0.7", "cohorts:", "add up to 1.10", "Take 0.10 off"),
    "priors of moods": Mistake("calm: {prior: 0.7", "calm: {prior: 0.5", "    moods:", "add up to 0.80", "Add 0.20"),
    "expectations over 1": Mistake("agrees: 0.5, asks", "agrees: 0.9, asks", "expects:", "add up to 1.20", "Take 0.20"),
    "a slot for no fact": Mistake("paid {plan}", "paid {plam}", "{plam}", "filled by nobody", "'plan'"),
    "a slot for no dependency": Mistake(
        "{price.pounds} pounds.", "{prise.pounds} pounds.", "{prise.pounds}", "filled by nobody", "'price'"
    ),
    "a slot for no field": Mistake(
        "{price.pounds} pounds.", "{price.pound} pounds.", "{price.pound}", "no such field", "'pounds'"
    ),
    "a slot that is an expression": Mistake("paid {plan}", "paid {plan!r}", "{plan!r}", "no plain name", "{fact}"),
    "an answer where none is": Mistake(
        "[Goodbye.]", '["{answer}", Goodbye.]', "{answer}", "kind: answer", "kind: answer"
    ),
    "a slot that no action needs": Mistake(
        "    needs: [price]\n", "", "{price.pounds} pounds.", "no action needs it", "Add 'price'"
    ),
    "replies that all have slots": Mistake(
        "      - How would you like to pay?\n", "", "    replies:", "every reply has a slot", "reply without slots"
    ),
    "a query with an unknown slot": Mistake(
        'query_template: "{user_text}"', 'query_template: "{user_txt}"', "user_txt", "filled by nobody", "'user_text'"
    ),
    "documents without a query": Mistake(
        '    query_template: "{user_text}"\n', "", "  guide:", "there is no query", "query_template"
    ),
    "a summary of no field": Mistake(
        '"{pounds} pounds"', '"{pound}"', 'summary: "{pound}"', "no field of it", "'pounds'"
    ),
    "too few examples": Mistake(
        "yes c, yes d, ", "", "examples: [yes a", "6 examples are too few", "varied sentences", level="warning"
    ),
    "an example in two states": Mistake("what b", "Yes b!", "Yes b!", "stands under 'agrees' too", "a stranger"),
    "a write without confirmation": Mistake(
        "    confirmed_by: confirm\n", "", "  renew:", "without the caller's yes", "confirmed_by"
    ),
    "a yes that leads elsewhere": Mistake(
        "      agrees: renew", "      agrees: close", "    on:", "never written", "`agrees: renew`"
    ),
    "a write step that writes nothing": Mistake(
        "    needs: [renewal]\n", "", "  renew:", "needs a dependency with `effect: write`", "Add one"
    ),
    "a write in passing": Mistake("kind: write", "kind: inform", "  renew:", "is no write step", "`kind: write`"),
    "something personal before identity": Mistake(
        "    needs: [guide]",
        "    needs: [guide, price]",
        "[guide, price]",
        "only a verified caller",
        "`verified: true`",
    ),
    "an identity check that waits for identity": Mistake(
        "    verified: false\n    latency_s: 0.5",
        "    latency_s: 0.5",
        "  identity:",
        "proves identity",
        "`verified: false`",
    ),
    "an identity nobody asks for": Mistake(
        "    verifies: true\n", "", "facts:", "no step asks for a fact that verifies", "`verifies: true`"
    ),
    "a fact required but never asked for": Mistake(
        "    asks: [plan]\n", "", "requires: [plan]", "nobody asks for it", "`asks:`"
    ),
    "a fact nothing can recognise": Mistake(
        "    choices: {monthly: [by the month], annual: [at once]}\n", "", "  plan:", "nothing can tell it", "patterns"
    ),
    "a step that never becomes done": Mistake(
        "    choices: {monthly: [by the month], annual: [at once]}\n", "", "path:", "never becomes done", "facts.plan"
    ),
    "an answer from no documents": Mistake(
        "    needs: [guide]", "    needs: [identity]", "  answer:", "from documents but needs none", "type: rag"
    ),
    "a caller's own shared with others": Mistake(
        "    ttl_s: 300\n", "    scope: shared\n", "scope: shared", "one caller's own", "`scope: session`"
    ),
    "a step after the end": Mistake(
        "[verify, quote, confirm, renew, close]",
        "[verify, close, quote, confirm, renew]",
        "path:",
        "the call is over at 'close'",
        "Move it to the end",
    ),
    "a caller who leaves unanswered": Mistake("  leaves: close\n", "", "  leaves:", "no closing answers", "always"),
    "no way to end": Mistake("    kind: close", "    kind: inform", "actions:", "no call can end", "Add one"),
    "nobody to hand over to": Mistake(
        "    kind: hand_over", "    kind: inform", "actions:", "callers who want a person", "Add one", level="warning"
    ),
    "no success": Mistake("    outcome: success\n", "", "actions:", "no call counts as one", "goal", level="warning"),
    "given up before it comes": Mistake(
        "timeout_s: 10", "timeout_s: 1", "timeout_s: 1", "given up after 1 s", "above 2"
    ),
    "stale before it comes": Mistake("ttl_s: 300", "ttl_s: 1", "ttl_s: 1", "is stale after 1 s", "stays true"),
    "a table that isn't there": Mistake(
        "table: prices", "table: prizes", "table: prizes", "no table 'prizes'", "'prices'"
    ),
    "no key for a table of rows": Mistake(
        "table: prices, key: policy_number}", "table: prices}", "table: prices}", "no `key` picks a row", "`key: ...`"
    ),
    "a Python module that isn't there": Mistake(
        "{type: table, table: prices, key: policy_number}",
        "{type: python, target: 'no_such_shop.orders:find'}",
        "no_such_shop",
        "no Python module 'no_such_shop.orders'",
        "PYTHONPATH",
        level="warning",
    ),
    "a pattern that may take for ever": Mistake(
        "['(<digits 6>)']", "['(<digits 6>)', '((?:a+b?)+c)']", "(?:a+b?)+c", "may take for ever", "Limit one"
    ),
    "a pattern that matches nothing": Mistake(
        "['(<digits 6>)']", "['(<digits 6>)', '(x?)']", "(x?)", "matches nothing at all", "required"
    ),
}

"""The procedure format: what a YAML file under `sops/` may say, field by field.

Unknown fields are errors, so that a typo is found at load and not in a call.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from sops.spoken import expand

NEXT = "@next"
"""Transition target: the first step of `path` that is not done yet."""
REPEAT = "@repeat"
"""Transition target: the action just taken, said again in other words."""

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Probability = Annotated[float, Field(ge=0.0, le=1.0)]
Seconds = Annotated[float, Field(ge=0.0)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Mood(_Model):
    """One disposition within a cohort; priors of a cohort's moods add up to 1."""

    prior: Probability
    description: str
    examples: tuple[str, ...] = ()


class Cohort(_Model):
    """A kind of caller; priors of all cohorts add up to 1."""

    prior: Probability
    description: str
    examples: tuple[str, ...] = ()
    moods: dict[Name, Mood] = Field(min_length=1)


class State(_Model):
    """What a caller may be doing in one utterance: content and affect together."""

    description: str
    affect: Literal["calm", "pleased", "hurried", "unsure", "worried", "annoyed"] = "calm"
    examples: tuple[str, ...] = Field(min_length=1)
    asks: bool = False
    """The utterance holds a question that documents may answer; it is the live query."""
    ends_call: bool = False
    """After the agent's answer to this the call is over."""


class Fact(_Model):
    """A slot: something the caller says once and every later fetch may need."""

    description: str
    patterns: tuple[str, ...] = ()
    """Regular expressions; group 1 (or the whole match) is the value. They may use `<date>`, `<digits 6>`, `<amount>`,
    `<time>` and `<name>` (`sops.spoken`), which are written out at load."""
    after: dict[Name, str] = Field(default_factory=dict)
    """Extra pattern that counts only right after this action ("yes" after "is that your car?")."""
    choices: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Canonical value to the words that mean it; an alternative to patterns."""
    keep: Literal["asis", "digits", "number", "date", "lower", "title", "upper"] = "asis"
    """How a matched value is normalised before it is stored and compared (`sops.values.normalise`): digits as spoken
    ("double eight two" is 882), number as an amount ("twelve thousand" is 12000), date as "28 May 1968"."""
    verifies: bool = False
    """Identity counts as verified once every verifying fact is known (and the lookup named by `verify_with` agrees)."""
    personal: bool = True
    """Personal facts are redacted before anything is stored for learning."""

    @field_validator("patterns")
    @classmethod
    def _expand_patterns(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(expand(pattern) for pattern in patterns)

    @field_validator("after")
    @classmethod
    def _expand_after(cls, after: dict[str, str]) -> dict[str, str]:
        return {action: expand(pattern) for action, pattern in after.items()}


class Action(_Model):
    """A step of the agent, with the only words it may say without a model."""

    kind: Literal["greet", "ask", "inform", "answer", "confirm", "write", "close", "hand_over", "small_talk"]
    description: str
    replies: tuple[str, ...] = Field(min_length=1)
    """Approved replies, best first; the first whose `{slots}` can all be filled is said.

    Slots: `{fact}`, `{dep.field}`, `{answer}`.
    """
    again: tuple[str, ...] = ()
    """Said instead when the step comes a second time in a row."""
    when: dict[Name, tuple[str, ...]] = Field(default_factory=dict)
    """Said instead of `replies` when the caller is in this state: an apology to one, a friendly word to another."""
    needs: tuple[Name, ...] = ()
    """Dependencies that the replies draw on: fetched early when this action is forecast, awaited when it is taken."""
    asks: tuple[Name, ...] = ()
    """Facts this step asks for; the step is done when all are known."""
    requires: tuple[Name, ...] = ()
    """Facts that must be known first; the step that asks for a missing one comes instead."""
    verified: bool = False
    """Identity must be verified first."""
    confirmed_by: Name | None = None
    """A write is taken only right after this action and one of `confirm_states`."""
    confirm_states: tuple[Name, ...] = ()
    on: dict[Name, str] = Field(default_factory=dict)
    """Caller state to the next action (or "@next", "@repeat")."""
    expects: dict[Name, Probability] = Field(default_factory=dict)
    """Prior over the caller states that follow this action; the rest is spread over all other states."""
    outcome: Literal["success", "declined", "handed_over"] | None = None
    """What the call counts as once this action has been taken. A success once reached stays one, so that a single
    closing step serves callers who got what they wanted and callers who leave without."""


class Simulated(_Model):
    """A stand-in back office for demos and tests: a row of `sops/data/<procedure>.yaml`, after a simulated delay."""

    type: Literal["table"] = "table"
    table: Name
    key: Name | None = None
    """Fact whose value selects the row; None: the whole table is one record."""


class RagFetch(_Model):
    """The best passages of this procedure's corpus for the rendered query."""

    type: Literal["rag"] = "rag"
    corpus: str = Field(min_length=1)
    """A corpus that comes with the product, or a folder of .md and .txt files, seen from the procedure's file."""
    k: int = Field(default=3, ge=1, le=10)
    simulate_latency: bool = True
    """Wait the declared latency, as a remote search would; off for a corpus that really is in process."""


class CallableFetch(_Model):
    """An async (or plain) Python function `package.module:function`, called with the arguments by name."""

    type: Literal["python"] = "python"
    target: Annotated[str, Field(pattern=r"^[\w.]+:[\w.]+$")]


class HttpFetch(_Model):
    """One HTTP request; `{slots}` in url, params and body are filled with percent-encoded arguments."""

    type: Literal["http"] = "http"
    url: str
    method: Literal["GET", "POST", "PUT", "PATCH"] = "GET"
    params: dict[str, str] = Field(default_factory=dict)
    body: dict[str, str] = Field(default_factory=dict)
    auth_env: str | None = None
    """Environment variable that holds the bearer token; never the token itself."""


class SqlFetch(_Model):
    """One read-only SELECT with bound `:name` parameters; the connection URL comes from the environment."""

    type: Literal["sql"] = "sql"
    url_env: str
    select: str


class ToolFetch(_Model):
    """A LangChain tool (`package.module:tool`), an MCP tool (server URL or command) or an OpenAPI operation."""

    type: Literal["langchain", "mcp", "openapi"]
    target: str
    tool: str = ""
    auth_env: str | None = None


Fetch = Annotated[
    Simulated | RagFetch | CallableFetch | HttpFetch | SqlFetch | ToolFetch,
    Field(discriminator="type"),
]


class Dependency(_Model):
    """Something an action needs that takes time to get."""

    kind: Literal["record", "rag", "sql", "http", "tool"]
    effect: Literal["read", "write"]
    """No default: whether a call changes the world must be said. Writes never run early."""
    description: str
    fetch: Fetch
    requires: tuple[Name, ...] = ()
    """Facts that are its arguments; all must be known, except those listed in `partial`."""
    partial: tuple[Name, ...] = ()
    """Arguments that may still be missing: fetch broad now, narrow when the last word arrives."""
    verified: bool = True
    """Identity must be verified before it is fetched. True unless nothing in it is personal."""
    query_template: str | None = None
    """Free-text query with plain `{name}` slots: facts, `{user_text}`, `{cohort}`, `{mood}`, `{state}`, `{action}`."""
    latency_s: Annotated[float, Field(gt=0.0, le=60.0)]
    """Prior of the typical latency; the scheduler learns the rest."""
    timeout_s: Seconds = 15.0
    price: Seconds = 0.0
    """What one fetch costs, in seconds of stall it must be worth."""
    ttl_s: Seconds = 600.0
    scope: Literal["session", "tenant", "shared"] = "session"
    holding: str = "One moment, please."
    """Said before a live fetch that the caller has to wait for."""
    summary: str = ""
    """How an item reads in the pool, with `{field}` slots; the record's fields in order when empty."""


class Procedure(_Model):
    """One kind of call, from hello to goodbye."""

    name: Name
    version: int = Field(default=1, ge=1)
    title: str
    description: str
    start: Name
    """Action that opens the call when the agent speaks first, and answers the first words otherwise."""
    path: tuple[Name, ...] = Field(min_length=1)
    """The main steps in order; "@next" is the first that is not done."""
    always: dict[Name, str] = Field(default_factory=dict)
    """Transitions that hold after any action, before the action's own `on`: hand-over, goodbyes."""
    otherwise: dict[Name, str] = Field(default_factory=dict)
    """Transitions that hold after any action when its own `on` says nothing: questions, small talk, topic jumps."""
    verify_with: Name | None = None
    """Dependency whose record must exist before identity counts as verified; None: the facts alone verify."""
    facts: dict[Name, Fact] = Field(default_factory=dict)
    states: dict[Name, State] = Field(min_length=2)
    actions: dict[Name, Action] = Field(min_length=2)
    cohorts: dict[Name, Cohort] = Field(min_length=1)
    dependencies: dict[Name, Dependency] = Field(default_factory=dict)
    aliases: dict[str, Name] = Field(default_factory=dict)
    """Old names of renamed actions and states, so that their counts live on."""

    @property
    def verifying(self) -> frozenset[str]:
        return frozenset(name for name, fact in self.facts.items() if fact.verifies)

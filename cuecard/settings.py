"""The process's knobs, from the environment, read once."""

from functools import lru_cache
from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Set as `CUECARD_<NAME>`; an explicit argument beats the environment, which beats the default."""

    model_config = SettingsConfigDict(env_prefix="CUECARD_", extra="ignore")

    data_dir: Path = Path(".cuecard")
    """Where checkpoints, store, precedents, indexes and logs live."""
    database_url: str | None = None
    """`postgresql://...` moves checkpoints, store and precedents there; None keeps SQLite files in `data_dir`."""
    embedding_model: Path | None = None
    """A local ONNX file of MiniLM-L6-v2 instead of the packaged one."""
    learned_model: Path | None = None
    """A predictor trained by `cuecard train`; None: counts and the drawn graph."""

    openai_api_key: SecretStr | None = Field(default=None, validation_alias="OPENAI_API_KEY")
    openai_base_url: str | None = Field(default=None, validation_alias="OPENAI_BASE_URL")
    chat_model: str = "gpt-4o-mini"
    """Model that speaks and decides, where an endpoint is configured."""
    supervisor_model: str | None = None
    """Model of the slow side; None: the same; `none`: it judges and predicts without one, at a tenth of the CPU."""
    chat_timeout_s: float = 8.0
    """First try and one retry together; after that the approved replies answer."""
    prompt_budget_tokens: int = 3000

    fetch_concurrency: int = 8
    """Background fetches at once, per back end."""
    fetch_budget: int = 200
    """Background fetches a session."""
    pool_cap: int = 30
    picks: int = 3
    price_s: float = 0.0
    """Extra price of every fetch, in seconds of stall: the knob that trades waste for waiting."""
    waste_allowance: float = Field(default=4.0, ge=0.0)
    """Fetches a call may make in vain, on average, because past calls suggest them; their price follows from it."""

    playbook_agreement: float = 0.8
    """Share of similar precedents that must agree before no model is asked."""
    playbook_min_precedents: int = 5
    prewrite: bool = False
    """Write replies to likely sentences ahead, to be said only if they fit. Off: one turn in fifty uses one (E10)."""
    search: bool = False
    """Let tree search decide uncertain turns. Never in the critical path by default."""
    thompson: bool = False
    """Draw forecasts from their posterior instead of taking the mean; measured to lose (evidence 2)."""

    max_utterance_chars: int = 4000
    """Longer words are cut there, and the event log says so."""
    retention_days: int = 90
    redact: bool = True
    log_content: bool = False
    """Put words into structured logs and traces. Off: only names, times and numbers."""
    event_logs: bool = True
    """Keep one event log per session under `data_dir/events`."""

    api_keys: SecretStr | None = None
    """`tenant:key` pairs, comma-separated. Without any the gateway serves this machine only, as tenant `default`."""
    api_keys_file: Path | None = None
    """The same, one pair a line; lines that begin with # are comments."""
    session_idle_s: float = 900.0
    """A call at the gateway that nobody has touched for so long is hung up."""
    webhook_url: str | None = None
    """Told when a call is handed over to a person and when it ends."""
    webhook_secret: SecretStr | None = None
    """Signs webhooks (HMAC-SHA256); None: they are not signed."""
    json_logs: bool = False
    """One JSON object a line on stderr, with session ids, instead of plain log lines."""
    otel: bool = False
    """Send OpenTelemetry spans to OTEL_EXPORTER_OTLP_ENDPOINT."""

    @property
    def has_model(self) -> bool:
        """An endpoint is configured; variables that are set but empty configure none."""
        key = self.openai_api_key.get_secret_value() if self.openai_api_key is not None else ""
        return bool(key or self.openai_base_url)


@lru_cache(maxsize=1)
def get_settings() -> Settings:
    """The environment's settings, read the first time they are asked for."""
    return Settings()

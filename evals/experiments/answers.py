"""What a chat model answered, kept on disk by prompt: a run of an hour goes on after an interruption, and no prompt
that two experiments share is paid for twice. Times and tokens are those of the first asking."""

import hashlib
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from cuecard.errors import ModelError
from cuecard.models.chat import Chat, Message
from cuecard.predictors.llm import LLMPredictor, messages_for
from cuecard.predictors.types import Forecast, SessionView, Utterance
from cuecard.turn.ask import step_named
from sops.loader import load_procedure


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer as it was streamed."""

    text: str
    error: str = ""
    tokens: int = 0
    first_ms: float = 0.0
    """Until the first word that is spoken: what comes after a line that names the step."""
    took_ms: float = 0.0

    @property
    def step(self) -> str:
        """The step named in the first line, "" for none."""
        return step_named(self.text.strip().partition("\n")[0])


class Answers:
    """Asks one chat model, one question at a time."""

    def __init__(self, chat: Chat, model: str, folder: Path | None) -> None:
        self._chat = chat
        self._model = model
        self._folder = folder

    async def to(self, messages: Sequence[Message]) -> Answer:
        """The streamed answer; its `error` says why there is none."""
        kept = self._kept("text", messages)
        if kept is not None and kept.is_file():
            return Answer(**orjson.loads(kept.read_bytes()))
        began_s, spent, first_s, text, error = time.perf_counter(), self._chat.tokens, 0.0, "", ""
        try:
            async for piece in self._chat.stream(messages):
                text += piece
                if not first_s and _speaks(text):
                    first_s = time.perf_counter() - began_s
        except ModelError as failed:
            error = str(failed)
        took_s = time.perf_counter() - began_s
        answer = Answer(
            text, error, self._chat.tokens - spent, round(1000.0 * (first_s or took_s), 1), round(1000.0 * took_s, 1)
        )
        if not error:
            _keep(kept, asdict(answer))
        return answer

    async def forecast(self, view: SessionView, horizon: int) -> Forecast:
        """The model's forecast of this call, as the product asks for it."""
        kept = self._kept("forecast", messages_for(load_procedure(view.sop), view, horizon))
        if kept is not None and kept.is_file():
            return _forecast(orjson.loads(kept.read_bytes()))
        made = await LLMPredictor(self._chat, load_procedure).predict(view, horizon)
        if made.by == "llm":
            # Otherwise it says why there is none, and is asked for again next time.
            _keep(kept, {**asdict(made), "utterances": [tuple(one) for one in made.utterances]})
        return made

    def _kept(self, what: str, messages: Sequence[Message]) -> Path | None:
        if self._folder is None:
            return None
        name = hashlib.sha256(orjson.dumps([what, self._model, list(messages)])).hexdigest()[:24]
        return self._folder / f"{name}.json"


def _speaks(text: str) -> bool:
    line, newline, rest = text.lstrip().partition("\n")
    return bool(rest.strip()) if newline and step_named(line) else not line.upper().startswith("STEP") and bool(line)


def _forecast(data: dict[str, object]) -> Forecast:
    made = Forecast(**data)  # type: ignore[arg-type]  # written from a forecast
    said = tuple(Utterance(*one) for one in made.utterances)
    return Forecast(**{**data, "utterances": said})  # type: ignore[arg-type]


def _keep(path: Path | None, data: dict[str, object]) -> None:
    if path is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_bytes(orjson.dumps(data))
    unfinished.rename(path)

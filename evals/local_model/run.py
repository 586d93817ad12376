"""The experiments that a chat model can take part in, as many rounds as fit into the given minutes.

`python -m evals.local_model.run --minutes 45 --mark "1.5B code model" --record`, with OPENAI_BASE_URL and
CUECARD_CHAT_MODEL set. Round r asks about r calls of each procedure (E7: r questions of each corpus), so every round
adds to the one before; an interrupted run goes on, and no prompt is paid for twice.
"""

import argparse
import sys
import time
from pathlib import Path

from cuecard.settings import get_settings
from evals.experiments.bars import FOLDER
from evals.experiments.command import run_experiments
from evals.experiments.types import PROCEDURES, Options

ORDER = ("E5", "E7", "E4", "E10", "E6", "E2", "E3")
"""E2 and E3 read the forecasts that E6 asked for."""
MOST_ROUNDS = 10


def rounds(minutes: float, options: Options, out: Path, mark: str, keep_in: Path | None) -> None:
    """Begin no experiment after the minutes are over; the one under way is finished."""
    settings = get_settings()
    if not settings.has_model:
        raise SystemExit("Set OPENAI_BASE_URL (and CUECARD_CHAT_MODEL): these runs need a chat model.")
    until_s = time.monotonic() + 60.0 * minutes
    for n in range(1, MOST_ROUNDS + 1):
        for name in ORDER:
            if time.monotonic() > until_s:
                return
            found = run_experiments(
                [name],
                Options(procedures=options.procedures, seeds=n, workers=1),
                settings,
                out,
                mark=mark,
                keep_in=keep_in,
                say=lambda text: print(text, file=sys.stderr, flush=True),
            )
            print(f"round {n}: {found.lines[0]}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=45.0)
    parser.add_argument("--procedure", action="append")
    parser.add_argument("--out", type=Path, default=get_settings().data_dir / "evals" / "with_model")
    parser.add_argument("--mark", default="")
    parser.add_argument("--record", action="store_true", help="keep rows and reports in this source tree")
    args = parser.parse_args()
    options = Options(procedures=tuple(args.procedure or PROCEDURES))
    rounds(args.minutes, options, args.out, args.mark, FOLDER if args.record else None)


if __name__ == "__main__":
    main()

"""The bank of speech acts teaches every classifier, so it keeps apart from what scores them, as examples do."""

from cuecard.belief.ear import read_acts
from tests.datasets.test_held_apart import shared_runs
from tests.datasets.texts import Text, caller_wording, held_out


def test_the_bank_shares_no_run_of_five_words_with_held_out_utterances_or_simulated_callers() -> None:
    bank = [Text(f"speech_acts.txt, {act.name}", act.text) for act in read_acts()]
    shared = [*shared_runs(bank, held_out()), *shared_runs(bank, caller_wording())]
    assert not shared, "\n".join(shared)

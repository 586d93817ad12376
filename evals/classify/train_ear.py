"""Renews the shipped head of everyday speech acts: `python -m evals.classify.train_ear`, after the bank has changed."""

from cuecard.belief.ear import TRAINED_FILE, train, write_trained
from cuecard.models.embeddings import load_embedder


def main() -> None:
    write_trained(train(load_embedder().embed))
    print(f"{TRAINED_FILE.name}: {TRAINED_FILE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()

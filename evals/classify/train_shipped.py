"""Renews what the classifier ships trained: `python -m evals.classify.train_shipped`, after a change of examples.

Out of date is never wrong, only slow: a start then trains by itself, which takes some seconds.
"""

from cuecard.belief.ear import TRAINED, Ear, train, write_trained
from cuecard.belief.lessons import train_heads
from cuecard.belief.remembered import each_once, heads_key, shipped_path, write_heads
from cuecard.models.embeddings import load_embedder
from sops import load_procedure, names


def main() -> None:
    embed = each_once(load_embedder().embed)
    TRAINED.mkdir(exist_ok=True)
    write_trained(train(embed))
    for name in names():
        procedure = load_procedure(name)
        write_heads(shipped_path(procedure), train_heads(procedure, Ear(embed)), heads_key(procedure, embed))
    for path in sorted(TRAINED.glob("*.npz")):
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()

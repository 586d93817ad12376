"""`python -m corpus NAME FOLDER` writes a corpus as Markdown files, also the generated editions."""

import sys
from pathlib import Path

from corpus.documents import render
from corpus.loader import load_corpus, names


def main(arguments: list[str]) -> int:
    """Write every document of a corpus to a folder, one file each."""
    if len(arguments) != 2:
        sys.stderr.write(f"usage: python -m corpus NAME FOLDER    (names: {', '.join(names())})\n")
        return 2
    name, folder = arguments[0], Path(arguments[1])
    folder.mkdir(parents=True, exist_ok=True)
    for document in load_corpus(name):
        (folder / f"{document.id}.md").write_text(render(document), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

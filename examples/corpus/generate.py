"""Write the corpus: every contract of the catalogue, and the index of what each is an example of.

    python examples/corpus/generate.py [folder]

A contract is the base contract with a few members changed; `index.json` lists, per contract, its artifact digest, what
it shows, and what compile, coverage, seal and the brief's audit make of it. Everything is written as canonical JSON and
one newline; a test compares it byte for byte.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from eval_quality.core.explain.corpus import CORPUS, index_entry
from eval_quality.value.canonical import canonicalize


def files() -> Iterator[tuple[str, bytes]]:
    """Relative path and bytes of every file of the corpus."""
    for contract in CORPUS:
        yield f"contracts/{contract.name}.json", canonicalize(contract.document(), "EvalContract") + b"\n"
    yield "index.json", canonicalize({"contracts": [index_entry(each) for each in CORPUS]}, "CorpusIndex") + b"\n"


def main(folder: Path) -> None:
    """Write every file below `folder`."""
    for name, data in files():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)

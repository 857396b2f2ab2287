"""Reading RDF: triples per second and core, against pyoxigraph in the same run.

python -m benchmarks.rdf [file.nt, a generated one of a million triples unless told]
"""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pyoxigraph

from tidelog.io.bad_rows import BadRows
from tidelog.rdf.files import opened
from tidelog.rdf.lines import LineReader
from tidelog.store.native import load
from tidelog.store.symbols import Symbols

ROUNDS = 3


def generated(triples: int = 1_000_000) -> bytes:
    """Resources with ten triples each: a type, links to others, texts and numbers."""
    lines = []
    for i in range(triples // 10):
        subject = f"<http://www.example.org/resource/thing{i}>"
        lines.append(f"{subject} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://www.example.org/#Thing> .\n")
        lines += (
            f"{subject} <http://www.example.org/#link{k}> <http://www.example.org/resource/thing{i * 7 % 9973 + k}> .\n"
            for k in range(6)
        )
        lines.append(f'{subject} <http://www.example.org/#name> "thing number {i}" .\n')
        lines.append(f'{subject} <http://www.example.org/#label> "thing {i}"@en .\n')
        number = f'"{i}"^^<http://www.w3.org/2001/XMLSchema#integer>'
        lines.append(f"{subject} <http://www.example.org/#number> {number} .\n")
    return "".join(lines).encode()


def tidelog(text: bytes) -> int:
    reader = LineReader(Symbols(load()), BadRows(), "text")
    return sum(len(words) for words in reader.read(io.BytesIO(text)))


def grammar(text: bytes) -> int:
    return sum(1 for _ in pyoxigraph.parse(input=text, format=pyoxigraph.RdfFormat.N_TRIPLES))


def processor_time(action: Callable[[bytes], int], text: bytes) -> tuple[float, int]:
    began = time.process_time()
    count = action(text)
    return time.process_time() - began, count


def main() -> None:
    if len(sys.argv) > 1:
        with opened(Path(sys.argv[1])) as stream:
            text = stream.read()
    else:
        text = generated()
    tidelog(text[: text.index(b"\n") + 1])  # loads the kernels
    best = {name: float("inf") for name in ("tidelog", "pyoxigraph")}
    count = 0
    for _ in range(ROUNDS):
        for name, action in (("tidelog", tidelog), ("pyoxigraph", grammar)):
            seconds, count = processor_time(action, text)
            best[name] = min(best[name], seconds)
    print(f"{count:,} triples, {len(text) / 2**20:,.0f} MiB, best of {ROUNDS}, load {os.getloadavg()[0]:.1f}")
    for name, seconds in best.items():
        print(f"{name:12} {seconds:6.2f} s of processor time  {count / seconds / 1e6:5.2f} million triples per second")
    print(f"ratio {best['pyoxigraph'] / best['tidelog']:.1f}")


if __name__ == "__main__":
    main()

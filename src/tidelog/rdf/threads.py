"""RDF files read by several threads.

Each thread takes the next window of lines of some file, decompressing it if need be, splits it and numbers its terms in
a dictionary of its own; whoever asks for the words gives each term that is new its number in the common dictionary. So
threads never wait for each other's terms, and the work left to one thread is one look-up for each term that is new to
a thread, and a gather.

What is always true: windows are given in the order in which they were taken from the files; every thread has ended when
the iterator ends, is closed, or raises. Cost: besides the result, two windows for each thread and the texts that a
thread has met, once for each thread.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from contextvars import copy_context
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from tidelog.io.bad_rows import BadRows
from tidelog.plain import dataclass, field
from tidelog.rdf.files import LINES, format_of, opened, read_triples, readable, scope_of
from tidelog.rdf.lines import WINDOW, LineReader
from tidelog.store.memory import Array
from tidelog.store.native import load
from tidelog.store.symbols import Symbols
from tidelog.store.triple_lines import line_ends


def read_files(
    paths: Sequence[str | Path], symbols: Symbols, bad: BadRows, threads: int = 1, keep_labels: bool = False
) -> Iterator[Array]:
    """Words of (subject, predicate, object, graph) of files, some at a time; see `files.read_triples`.

    N-Triples and N-Quads are read by all threads, files of other formats by the one that asks.
    """
    files = [Path(path) for path in paths]
    lines = [file for file in files if format_of(file) in LINES]
    if threads < 2:
        lines = []
    if lines:
        yield from _Readers(lines, symbols, bad, threads, keep_labels).read()
    for file in files:
        if file not in lines:
            yield from read_triples(file, symbols, bad, keep_labels)
    bad.check()


@dataclass
class _File:
    """A file that threads read in turns."""

    path: Path
    scope: str
    stream: BinaryIO
    first: int = 1
    lock: threading.Lock = field(default_factory=threading.Lock)


class _Window(NamedTuple):
    """Some lines of a file."""

    number: int
    file: _File
    text: bytes
    first: int


class _Read(NamedTuple):
    """What a thread made of a window: words in its own dictionary, which then had so many texts."""

    number: int
    thread: int
    words: Array
    texts: int
    bad: list[tuple[Any, ...]]


class _Noted(BadRows):
    """Malformed lines, noted to be added to others later."""

    def __init__(self) -> None:
        super().__init__(skip=True)
        self.noted: list[tuple[Any, ...]] = []

    def add(self, *what: Any, **more: Any) -> None:
        self.noted.append(what)


class _Readers:
    """The threads that read some files, and what they share."""

    def __init__(self, files: list[Path], symbols: Symbols, bad: BadRows, threads: int, keep_labels: bool) -> None:
        self.paths, self.symbols, self.bad, self.keep_labels = files, symbols, bad, keep_labels
        self.own = [Symbols(load()) for _ in range(threads)]
        self.common = [np.zeros(0, np.int64) for _ in range(threads)]  # by a thread's number the common one
        self.done: queue.Queue[_Read | BaseException | None] = queue.Queue(2 * threads)
        self.stopped = threading.Event()
        self.windows = 0
        self.lock = threading.Lock()

    def read(self) -> Iterator[Array]:
        with ExitStack() as stack:
            self.files = [
                _File(path, "" if self.keep_labels else scope_of(path), stack.enter_context(opened(path)))
                for path in self.paths
            ]
            running = [
                threading.Thread(target=copy_context().run, args=(self._work, i), name=f"tidelog-rdf-{i}", daemon=True)
                for i in range(len(self.own))
            ]
            for thread in running:
                thread.start()
            try:
                yield from self._in_order(len(running))
            finally:
                self.stopped.set()
                while any(thread.is_alive() for thread in running):
                    self._drain()
                    running[0].join(0.01)
                    running.append(running.pop(0))

    def _drain(self) -> None:
        """Let no thread wait for room in the queue."""
        try:
            while True:
                self.done.get_nowait()
        except queue.Empty:
            pass

    def _in_order(self, running: int) -> Iterator[Array]:
        waiting: dict[int, _Read] = {}
        number = 0
        while running or waiting:
            if number in waiting:
                yield self._numbered(waiting.pop(number))
                number += 1
                continue
            match self.done.get():
                case None:
                    running -= 1
                case BaseException() as problem:
                    raise problem
                case _Read() as read:
                    waiting[read.number] = read

    def _numbered(self, read: _Read) -> Array:
        """The words in the common dictionary."""
        for what in read.bad:
            self.bad.add(*what)
        known = self.common[read.thread]
        if read.texts > len(known):
            new = self.symbols.encode(self.own[read.thread].decode(np.arange(len(known), read.texts)))
            known = self.common[read.thread] = np.concatenate([known, new])
        return known[read.words]

    def _work(self, thread: int) -> None:
        try:
            while (window := self._take(thread)) is not None:
                self.done.put(self._split(thread, window))
            self.done.put(None)
        except BaseException as problem:  # it is raised where the words are asked for
            self.done.put(problem)

    def _take(self, thread: int) -> _Window | None:
        """The next window of a file, of one that no other thread is reading if there is such a one."""
        while not self.stopped.is_set() and (left := list(self.files)):
            free = next((file for file in left if file.lock.acquire(blocking=False)), None)
            file = free or left[thread % len(left)]
            if free is None:
                file.lock.acquire()
            try:
                with readable(file.path):
                    text = file.stream.read(WINDOW)
                    text += file.stream.readline()
                with self.lock:
                    if text:
                        number, first = self.windows, file.first
                        self.windows += 1
                        file.first += line_ends(text)
                        return _Window(number, file, text, first)
                    if file in self.files:
                        self.files.remove(file)
            finally:
                file.lock.release()
        return None

    def _split(self, thread: int, window: _Window) -> _Read:
        noted, path = _Noted(), window.file.path
        own = self.own[thread]
        reader = LineReader(own, noted, str(path), format_of(path), window.file.scope)
        words = reader.words(window.text, window.first)
        return _Read(window.number, thread, words, len(own), noted.noted)

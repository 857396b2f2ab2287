"""What Spark says when something goes wrong, in a line.

Spark wraps the reason of a failure: into the abort of a job, the loss of a task, the trace of a Python worker, and the
traces of its own threads. Here it is taken out again. What a Python task raised comes first, because it is nearest to
the cause; then an error that has one of Spark's own classes, such as `[PATH_NOT_FOUND]`; then whatever is left when
the wrapping is taken off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_TRACEBACK = "Traceback (most recent call last):"
_NOISE = re.compile(r"\s+at |\s*\.\.\. \d+ more|An error occurred while calling |Driver stacktrace:|\s*$")
_SPARK_CLASS = re.compile(r"\[[A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)*\] .*")
_WRAPPING = re.compile(
    r": |Caused by: |Job aborted due to stage failure: |Exception thrown in awaitResult: ?"
    r"|Task \d+ in stage [\d.]+ failed \d+ times, most recent failure: "
    r"|Lost task [\d.]+ in stage [\d.]+ \(TID \d+\) \([^)]*\): "
    r"|Could not recover from a failed barrier ResultStage\. Most recent failure reason: "
    r"|Stage failed because barrier task \S+ \d+\) finished unsuccessfully\.\s*"
    r"|(?:[a-z]\w*\.)+(?:SparkException|PythonException|InvocationTargetException|ExecutionException)(?:: |$)"
)
_TRAILING = re.compile(r" Consider setting '[\w.]*faulthandler.*| SQLSTATE: \w+;?$|\s+$")
_QUALIFIED = re.compile(r"^(?:\w+\.)+(?=\w+(?::|$))")
_OURS = re.compile(r"^\w+: (?=error\[TL)")
_QUALIFIED_IN_JAVA = re.compile(r"^(?:\w+\.)+(?=\w*(?:Exception|Error)(?::|$))")


def spark_words(problem: BaseException) -> str:
    """The line of Spark's many that says what went wrong."""
    text = str(problem)
    return _raised_by_a_task(text) or _said_by_spark(text) or type(problem).__name__


def _raised_by_a_task(text: str) -> str:
    """The last line of a Python traceback, which names the error; of an error of ours, its message."""
    _, found, trace = text.rpartition(_TRACEBACK)
    raised = next((line for line in trace.splitlines() if line and not line[0].isspace()), "") if found else ""
    return _OURS.sub("", _QUALIFIED.sub("", raised)).strip()


def _said_by_spark(text: str) -> str:
    said = list(_unwrapped(text))
    own = (found[0] for line in said if (found := _SPARK_CLASS.search(line)))
    return _TRAILING.sub("", next(own, next(iter(said), "")))


def _unwrapped(text: str) -> Iterator[str]:
    """The lines that say something, without what is wrapped around it."""
    for line in text.splitlines():
        if not _NOISE.match(line):
            bare = line.strip()
            while found := _WRAPPING.match(bare):
                bare = bare[found.end() :]
            if bare:
                yield _QUALIFIED_IN_JAVA.sub("", bare)

"""What Spark says when something goes wrong, in a line."""

from __future__ import annotations


def spark_words(problem: BaseException) -> str:
    """The line of Spark's many that says what went wrong."""
    lines = [line.strip().removeprefix(": ") for line in str(problem).splitlines() if line.strip()]
    if lines and lines[0].startswith("["):  # the class of an error of Spark's own
        return lines[0]
    telling = [line for line in lines if "Error" in line or "Exception" in line]
    return (telling or lines or [type(problem).__name__])[0]

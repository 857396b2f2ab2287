"""What evaluation has to say about values, as warnings."""

from __future__ import annotations

from tidelog.errors import Diagnostic, Severity


def remark(text: str) -> Diagnostic:
    """A remark of the database (`Database.take_remarks`)."""
    return Diagnostic("TL0870", text, severity=Severity.WARNING)

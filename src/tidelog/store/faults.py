"""What can go wrong while a pipeline runs."""

from __future__ import annotations


class ArithmeticFault(Exception):
    """Division by zero: the operation and its operands, as 64-bit words."""

    def __init__(self, op: str, left: int, right: int) -> None:
        super().__init__(f"{left} {op} {right}: division by zero")
        self.op, self.left, self.right = op, left, right
        self.plan = 0  # which plan of a stratum


class NotWorse(Exception):
    """A derivation is better than its body, or (not `is_number`) gives its head a value that is no number: the words of
    its slots, and the worst value of its body in the order of ranks."""

    def __init__(self, words: dict[int, int], worst: int, is_number: bool) -> None:
        super().__init__("a derivation is better than its body" if is_number else "a value is no number")
        self.words, self.worst, self.is_number = words, worst, is_number
        self.plan = 0  # which plan of an update

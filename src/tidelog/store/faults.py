"""What can go wrong while a pipeline runs."""

from __future__ import annotations


class ArithmeticFault(Exception):
    """Division by zero: the operation and its operands, as 64-bit words."""

    def __init__(self, op: str, left: int, right: int) -> None:
        super().__init__(f"{left} {op} {right}: division by zero")
        self.op, self.left, self.right = op, left, right
        self.plan = 0  # which plan of a stratum

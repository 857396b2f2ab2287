"""Algorithms with a fault, kept as exhibits: each shows what the papers correct (paper 000, section 6)."""

from tidelog.net.exhibits.base_facts import BaseFacts
from tidelog.net.exhibits.counting import Counting
from tidelog.net.exhibits.original import OriginalPsn

EXHIBITS: dict[str, type[OriginalPsn] | type[Counting] | type[BaseFacts]] = {
    "original": OriginalPsn,
    "counting": Counting,
    "base-facts": BaseFacts,
}

__all__ = ["EXHIBITS", "BaseFacts", "Counting", "OriginalPsn"]

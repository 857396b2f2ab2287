"""Algorithms with a fault, kept as exhibits: each shows what the papers correct (paper 000, section 6)."""

from tidelog.net.exhibits.base_facts import BaseFacts
from tidelog.net.exhibits.counting import CountingExhibit
from tidelog.net.exhibits.original import OriginalPsn
from tidelog.net.exhibits.set_sn import SetSn

EXHIBITS: dict[str, type[OriginalPsn] | type[CountingExhibit] | type[BaseFacts] | type[SetSn]] = {
    "original": OriginalPsn,
    "counting": CountingExhibit,
    "base-facts": BaseFacts,
    "set-sn": SetSn,
}

__all__ = ["EXHIBITS", "BaseFacts", "CountingExhibit", "OriginalPsn", "SetSn"]

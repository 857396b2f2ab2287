"""A session in this process: facts checked and encoded, an engine that keeps the relations, results decoded."""

from tidelog.local.epoch import Changes, Epoch
from tidelog.local.local_session import Facts, LocalSession
from tidelog.local.relation import LiveRelation
from tidelog.local.settings import Settings

__all__ = ["Changes", "Epoch", "Facts", "LiveRelation", "LocalSession", "Settings"]

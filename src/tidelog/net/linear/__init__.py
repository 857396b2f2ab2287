"""Network Datalog in linear logic with subexponentials (paper 004): formulas, focused search, PSN^ν- and SN-proofs."""

from tidelog.net.linear.commands import basic_commands
from tidelog.net.linear.contexts import Contexts, Sequent
from tidelog.net.linear.derivation import show_macros, show_proof, show_sequent
from tidelog.net.linear.encoding import EncodedState, decode, encode
from tidelog.net.linear.focus import DEFAULT_LIMIT, Focus, MacroRule, RuleStep
from tidelog.net.linear.iterations import partition
from tidelog.net.linear.search import Execution, Proof, Search
from tidelog.net.linear.verify import verify

__all__ = [
    "DEFAULT_LIMIT",
    "Contexts",
    "EncodedState",
    "Execution",
    "Focus",
    "MacroRule",
    "Proof",
    "RuleStep",
    "Search",
    "Sequent",
    "basic_commands",
    "decode",
    "encode",
    "partition",
    "show_macros",
    "show_proof",
    "show_sequent",
    "verify",
]  # fmt: skip

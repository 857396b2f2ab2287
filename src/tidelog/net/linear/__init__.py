"""Network Datalog in linear logic with subexponentials (paper 004): formulas, focused search, PSN^ν- and SN-proofs."""

from tidelog.net.linear.commands import basic_commands
from tidelog.net.linear.contexts import Context, Sequent
from tidelog.net.linear.derivation import show_macros, show_proof, show_sequent
from tidelog.net.linear.encoding import State, decode, encode
from tidelog.net.linear.focus import DEFAULT_LIMIT, Focus, MacroRule, Step
from tidelog.net.linear.search import Execution, Proof, Search
from tidelog.net.linear.verify import verify

__all__ = [
    "DEFAULT_LIMIT", "Context", "Execution", "Focus", "MacroRule", "Proof", "Search", "Sequent", "State", "Step",
    "basic_commands", "decode", "encode", "show_macros", "show_proof", "show_sequent",
    "verify",
]  # fmt: skip

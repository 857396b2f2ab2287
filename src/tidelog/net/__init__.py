"""Network Datalog: configurations, SN, PSN, annotated PSN, schedulers, model checker (design, section 6)."""

from tidelog.net.annotated import annotated
from tidelog.net.checker import ALGORITHMS, Step, Verdict, check
from tidelog.net.checks import check_program
from tidelog.net.configuration import Configuration, NotAllowed
from tidelog.net.derivations import Derivations
from tidelog.net.meter import Meter
from tidelog.net.program import NetProgram, compile_program, load, parse_facts, parse_updates
from tidelog.net.psn import Run, psn
from tidelog.net.schedulers import Scheduler, scheduler
from tidelog.net.sn import materialise, sn, sn_iteration
from tidelog.net.values import Fact, Update, Value

__all__ = [
    "ALGORITHMS",
    "Configuration",
    "Derivations",
    "Fact",
    "Meter",
    "NetProgram",
    "NotAllowed",
    "Run",
    "Scheduler",
    "Step",
    "Update",
    "Value",
    "Verdict",
    "annotated",
    "check",
    "check_program",
    "compile_program",
    "load",
    "materialise",
    "parse_facts",
    "parse_updates",
    "psn",
    "scheduler",
    "sn",
    "sn_iteration",
]

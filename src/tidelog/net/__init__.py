"""Network Datalog (design, section 6). In the order of reading:

1. `values`, `functions`, `terms`, `checks`, `program`: facts and updates; a program as the algorithms see it.
2. `store`, `join`, `delta`, `aggregates`, `core`, `configuration`: ⟨𝒦,𝒰,𝒫,ℰ⟩ and what pick, fire and commit do.
3. `sn`, `psn`, `schedulers`, `ledger`, `meter`: runs, who goes next, what a burst means, when to stop.
4. `recursion`, `bounds`, `supports`, `sets`, `derivations`, `annotated`, `algorithms`: which recursion needs what.
5. `scratch`, `ground`, `systems`, `dependence`, `checker`: every interleaving, judged by evaluation from scratch.
6. `properties`, `faulty`, `property_checker`: what must hold in every state, with what may go wrong.
7. `runtime/`: the network of nodes, traces, the page. `timed/`: programs about time.
8. `exhibits/`: algorithms with a fault. `linear/`: paper 004's encoding in linear logic.
"""

from tidelog.net.algorithms import Method, choose
from tidelog.net.annotated import annotated
from tidelog.net.checker import ALGORITHMS, Step, Verdict, check, check_bursts
from tidelog.net.checks import check_program
from tidelog.net.configuration import Configuration, NotAllowed
from tidelog.net.derivations import Derivations
from tidelog.net.faulty import Allowed
from tidelog.net.meter import Meter
from tidelog.net.program import NetProgram, compile_program, load, parse_facts, parse_updates
from tidelog.net.properties import Property, parse_property
from tidelog.net.property_checker import PropertyVerdict, check_properties
from tidelog.net.psn import Run, psn
from tidelog.net.schedulers import Scheduler, scheduler
from tidelog.net.sn import materialise, sn, sn_iteration
from tidelog.net.values import Fact, Update, Value

__all__ = [
    "ALGORITHMS",
    "Allowed",
    "Configuration",
    "Derivations",
    "Fact",
    "Meter",
    "Method",
    "NetProgram",
    "NotAllowed",
    "Property",
    "PropertyVerdict",
    "Run",
    "Scheduler",
    "Step",
    "Update",
    "Value",
    "Verdict",
    "annotated",
    "check",
    "check_bursts",
    "check_program",
    "check_properties",
    "choose",
    "compile_program",
    "load",
    "materialise",
    "parse_facts",
    "parse_property",
    "parse_updates",
    "psn",
    "scheduler",
    "sn",
    "sn_iteration",
]

"""Random programs: plans, run by a plain interpreter, find what the oracle finds, in whatever order they join."""

from __future__ import annotations

from fuzzing import checked_program, fuzz
from hypothesis import given
from hypothesis import strategies as st
from plan import interpreter

import oracle
from strategies.programs import Example, programs
from tidelog.analysis.check import Checked
from tidelog.plan.estimate import Guess
from tidelog.plan.flatten import flatten
from tidelog.plan.order import order
from tidelog.plan.program import arities_of
from tidelog.plan.delta import delta_plans
from tidelog.plan.steps import View

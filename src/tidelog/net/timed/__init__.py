"""Programs about time: soft state, events, `periodic`, on a virtual clock (docs/net/time.md).

Read `program` (what is stored, what is an event, which rules are kept up to date and which fire once), then `node`,
then `simulation`.
"""

from tidelog.net.timed.program import TimedProgram, load
from tidelog.net.timed.simulation import Crash, Simulation, SimulationFaults

__all__ = ["Crash", "Simulation", "SimulationFaults", "TimedProgram", "load"]

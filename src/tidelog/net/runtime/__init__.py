"""The network: nodes with their own stores and inboxes, transports, topologies, traces (design, section 6).

To be read in this order: `node.py` is a node and `transport.py` how messages travel; `network.py` puts them together
in one process. `launch.py` is a run as it is asked for (`inputs.py`, `topologies.py` and `topology_files.py` are what
it starts from), `trace.py` what it did and `replay_page.py` a page that shows it, also of a run
that breaks a property (`counterexample.py`).

In several processes: `packed.py` and `dictionary.py` are updates as they travel, `messages.py` is what processes say
to each other (on the wire of `tidelog.wire`) and `channel.py` how updates go from one to the other. `worker.py` is
such a process, `pool.py` starts and watches them, `processes.py` is a network on them, and `merge.py` makes one trace
of theirs.
"""

from tidelog.net.runtime.network import Convergence, Network
from tidelog.net.runtime.node import Node
from tidelog.net.runtime.transport import Delivery, InFlight, InProcess

__all__ = ["Convergence", "Delivery", "InFlight", "InProcess", "Network", "Node"]

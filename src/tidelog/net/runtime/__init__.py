"""The network: nodes with their own stores and inboxes, transports, topologies, traces (design, section 6)."""

from tidelog.net.runtime.network import Convergence, Network
from tidelog.net.runtime.node import Node
from tidelog.net.runtime.transport import InProcess, Message, Transport

__all__ = ["Convergence", "InProcess", "Message", "Network", "Node", "Transport"]

"""Tidelog: a Datalog engine for data that keeps changing. `tidelog.Session` is where to begin."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tidelog.version import VERSION as __version__

if TYPE_CHECKING:
    from tidelog.errors import TidelogError, TidelogWarning
    from tidelog.evaluate.limits import Limits
    from tidelog.evaluate.profile import Profile
    from tidelog.session import Session

__all__ = ["Limits", "Profile", "Session", "TidelogError", "TidelogWarning", "__version__"]

_WHERE = {
    "Limits": "tidelog.evaluate.limits",
    "Profile": "tidelog.evaluate.profile",
    "Session": "tidelog.session",
    "TidelogError": "tidelog.errors",
    "TidelogWarning": "tidelog.errors",
}


def __getattr__(name: str) -> Any:
    """The API is imported when it is first asked for: commands that do not need it start without it."""
    if name not in _WHERE:
        raise AttributeError(f"module 'tidelog' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)

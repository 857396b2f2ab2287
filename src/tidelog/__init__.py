"""Tidelog: a Datalog engine for data that keeps changing. `tidelog.Session` is where to begin."""

from typing import TYPE_CHECKING, Any

from tidelog.version import VERSION as __version__

if TYPE_CHECKING:
    from tidelog.errors import TidelogError
    from tidelog.session import Session

__all__ = ["Session", "TidelogError", "__version__"]


def __getattr__(name: str) -> Any:
    """The API is imported when it is first asked for: commands that do not need it start without it."""
    if name == "Session":
        from tidelog.session import Session

        return Session
    if name == "TidelogError":
        from tidelog.errors import TidelogError

        return TidelogError
    raise AttributeError(f"module 'tidelog' has no attribute {name!r}")

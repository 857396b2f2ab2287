"""Types, to be read in this order: `system.py` (what types there are), `declarations.py` (a program's declarations as
a `TypeSystem`), `typing.py` (the types of a clause's terms, what the planner asks), which infers with `inference.py`
over `cells.py` and `calls.py`; `checks.py` says what does not fit."""

from tidelog.analysis.types.system import (
    AdtType,
    BranchInfo,
    RecordType,
    RelationInfo,
    SubsetType,
    Type,
    TypeSystem,
    UnionType,
)

__all__ = ["AdtType", "BranchInfo", "RecordType", "RelationInfo", "SubsetType", "Type", "TypeSystem", "UnionType"]

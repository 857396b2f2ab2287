"""Where a run spent its time: per rule and iteration, seconds, new tuples and derivations; bytes per relation."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tidelog.evaluate.context import Context, rule_text
from tidelog.plan import steps

FORMAT = 1


@dataclass
class Profile:
    """Collects the figures; `write` puts them into a JSON file."""

    records: list[dict[str, Any]] = field(default_factory=list)

    def add(self, plan: steps.Plan, iteration: int, seconds: float, tuples: int, derivations: int) -> None:
        self.records.append(
            {
                "rule": plan.rule,
                "pivot": plan.pivot,
                "iteration": iteration,
                "seconds": seconds,
                "tuples": tuples,
                "derivations": derivations,
            }
        )

    def write(self, path: str | Path, context: Context, seconds: float) -> None:
        rules = {}
        for number in sorted({r["rule"] for r in self.records}):
            clause = context.clauses[number]
            rules[number] = {
                "text": rule_text(clause),
                "head": clause.head.name,
                "place": str(clause.span) if clause.span else "",
            }
        relations = {
            name: {"tuples": relation.count, "bytes": relation.memory()}
            for name, relation in context.database.relations.items()
        }
        document = {
            "format": FORMAT, "seconds": seconds, "rules": rules, "records": self.records, "relations": relations,
        }  # fmt: skip
        Path(path).write_text(json.dumps(document, indent=1), encoding="utf-8")

"""Commands carried out over a session. What they print on standard output is what DDlog prints."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager, nullcontext
from threading import TIMEOUT_MAX
from typing import Any

from tidelog.cli import commands
from tidelog.cli.command_values import shown_answers, shown_tuples, tuples_of
from tidelog.cli.on_spark import arrow_table
from tidelog.cli.shell_help import HELP
from tidelog.cli.statements import Statement
from tidelog.cli.transaction import Transaction
from tidelog.errors import Source, TidelogError, error, listed
from tidelog.io.order import sorted_table
from tidelog.plain import replace
from tidelog.session import Epoch, Session


class Interpreter:
    """Carries out one command after the other. With `level` 1 or more, every commit is reported on standard error.

    When a commit fails or is interrupted, its transaction stays open, to be mended or rolled back. `watch` is entered
    while an epoch runs.
    """

    def __init__(self, session: Session, level: int = 0, watch: AbstractContextManager[Any] | None = None) -> None:
        self.session = session
        self.level = level
        self.watch = watch or nullcontext()
        self.transaction: Transaction | None = None
        self.last: Epoch[Any] | None = None
        self.finished = False
        self._started = time.perf_counter_ns()

    def run(self, statement: Statement) -> None:
        """Carry out a statement. Errors without a place get the statement's."""
        try:
            command = commands.parse(statement)
            if command is not None:
                self._run(command, statement)
        except TidelogError as problem:
            raise TidelogError(replace(d, span=d.span or statement.span) for d in problem.diagnostics) from None
        except RecursionError:
            raise error("TL1113", "this is nested too deeply", statement.span) from None
        finally:
            sys.stdout.flush()

    def _run(self, command: commands.ShellCommand, statement: Statement) -> None:
        if self.transaction is not None and not isinstance(command, commands.ChangeCommand):
            self.transaction.apply()
        match command:
            case commands.ChangeCommand():
                self._change(command, statement)
            case commands.Start():
                self._start()
            case commands.Commit(dump_changes=dump):
                self._commit(dump)
            case commands.Rollback():
                self._open()
                self.transaction = None
            case commands.Clear(relation=None):
                known = ", ".join(f"`clear {name};`" for name in self.session.inputs[:3]) or "this program has none"
                raise error("TL1110", "`clear` deletes all facts of one relation, and does not say of which",
                            help=f"name an input relation: {known}")  # fmt: skip
            case commands.Clear(relation=name):
                self._open().clear(str(name))
            case commands.Help():
                self._help()
            case commands.Dump(relation=None):
                for name in self._shown_relations():
                    print(f"{name}:")
                    self._dump(name)
                    print()
            case commands.Dump(relation=name):
                self._dump(str(name))
            case commands.QueryCommand(source=source):
                self._answer(source)
            case commands.Echo(text=text):
                print(text.encode("utf-8", errors="replace").decode())
            case commands.Timestamp():
                print(f"Timestamp: {time.perf_counter_ns() - self._started}")
            case commands.LogLevel(level=level):
                self.level = level
            case commands.ProfileCommand(setting=setting):
                self._profile(setting)
            case commands.Sleep(milliseconds=milliseconds):
                time.sleep(min(max(0, milliseconds) / 1000, TIMEOUT_MAX))
            case commands.Exit():
                self.finished = True

    # ---- transactions

    def _start(self) -> None:
        if self.transaction is not None:
            raise error("TL1114", "a transaction is open already", help="`commit` it or `rollback` first")
        self.transaction = Transaction(self.session)

    def _open(self) -> Transaction:
        if self.transaction is None:
            raise error("TL1114", "no transaction is open", help="begin one with `start;`")
        return self.transaction

    def _change(self, change: commands.ChangeCommand, statement: Statement) -> None:
        """A comma queues a change, a semicolon applies all that wait."""
        transaction = self._open()
        transaction.add(change, statement.span)
        if statement.mark == ";":
            transaction.apply()

    def _commit(self, dump_changes: bool) -> None:
        transaction = self._open()
        with self.watch:
            self.last = transaction.commit()
        self.transaction = None
        if dump_changes:
            self._dump_changes(self.last)
        if self.level > 0:
            print(self.last, file=sys.stderr)

    def _dump_changes(self, epoch: Epoch[Any]) -> None:
        for name in self._shown_relations():
            sides = ((epoch.inserted, "+1"), (epoch.deleted, "-1"))
            info = self.session.checked.relations[name]
            rows = sorted((row, sign) for side, sign in sides for row in tuples_of(arrow_table(side[name], info)))
            if rows:
                print(f"{name}:")
                lines = shown_tuples(info, (row for row, _ in rows))
                for line, (_, sign) in zip(lines, rows, strict=True):
                    print(f"{line}: {sign}")

    # ---- showing

    def _shown_relations(self) -> tuple[str, ...]:
        """The output relations; all of them if the program has no `.output`."""
        return self.session.outputs or self.session.relations

    def _dump(self, name: str) -> None:
        found = self.session[name]
        info = self.session.checked.relations[name]
        for line in shown_tuples(info, tuples_of(sorted_table(arrow_table(found, info)))):
            print(line)

    def _answer(self, query: Source) -> None:
        info, found = self.session.typed_query(query)
        for line in shown_answers(info, arrow_table(found, info)):
            print(line)

    def _help(self) -> None:
        print(HELP)
        for what, names in (("Facts are given to", self.session.inputs), ("Results are", self._shown_relations())):
            print(f"{what}: {listed(names)}." if names else f"{what}: none.")

    def _profile(self, setting: str) -> None:
        if setting:
            print(f"`profile {setting}` has no effect: the work of every epoch is counted", file=sys.stderr)
            return
        print("Profile:")
        if self.last is not None:
            print(self.last)
            for stratum in self.last.strata:
                print(f"  {', '.join(stratum.relations)}: {stratum.strategy} ({stratum.why}), "
                      f"{stratum.derivations:,} derivations")  # fmt: skip
        for name in self.session.relations:
            print(f"{name}: {self.session.count(name):,} tuples")

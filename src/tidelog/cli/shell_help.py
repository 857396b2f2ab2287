"""What the shell says to those who do not know its language yet."""

from __future__ import annotations

from tidelog.errors import TidelogError, error

HELP = """\
start;                          begin a transaction
insert edge(1, 2);              a fact more; `delete edge(1, 2);` one less; a comma instead of `;` lets it wait
clear edge;                     delete all facts of a relation
commit;                         carry the transaction out; `commit dump_changes;` shows what it changed
rollback;                       forget it
edge(1, X), X > 2?              a query: what X are there?
dump path;                      all tuples of a relation (`show path;` is the same); `dump;` those of all results
profile;                        the last epoch, and the sizes of the relations
echo text;  timestamp;  sleep 100;  log_level 0;  help;  exit;"""

_SAID = {
    "help": "help;", "h": "help;", "?": "help;", "exit": "exit;", "quit": "exit;", "q": "exit;", "bye": "exit;",
    "start": "start;", "begin": "start;", "commit": "commit;", "rollback": "rollback;", "dump": "dump;",
}  # fmt: skip


def meant(line: str) -> str:
    """What a person means who says one word: `exit`, `.help`, `quit()`; the line itself if that is not plain."""
    word = line.strip().lstrip(".:\\/").removesuffix("()").lower()
    return _SAID.get(word, line)


def no_statement(text: str) -> TidelogError:
    """For what ends with a dot, as facts and rules do in a program."""
    said = text.strip()
    shown = said if len(said) <= 60 else said[:57] + "..."
    if ":-" in said or said.startswith("."):
        return error("TL1110", f"`{shown}.` belongs into the program",
                     help="here facts are changed and queries asked; `help;` shows how")  # fmt: skip
    return error("TL1110", f"`{shown}.` is neither a command nor a query",
                 help=f"to add a fact, say `start; insert {shown}; commit;`; to ask for it, `{shown}?`")  # fmt: skip

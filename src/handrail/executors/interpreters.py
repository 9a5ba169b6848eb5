"""Who runs a script, as the first line of it says."""

import os.path
import re
from typing import NamedTuple

_LOOKS_UP = "env"
_SPLITTING = re.compile(r"(?:-S|--split-string[=\s])\s*(?P<rest>.*)", re.DOTALL)
# Nothing in it is a flag, an assignment, a quote or anything else that is read before it is run.
_PLAIN = re.compile(r"[A-Za-z0-9_./+][A-Za-z0-9_./+@,:%-]*")


class Interpreter(NamedTuple):
    """A program, by its path, or by a name that `is_looked_up`."""

    name: str
    is_looked_up: bool = False


def interpreter_in(line: str) -> Interpreter | None:
    """Whom the rest of a first line names, behind its `#!`; None where that is not clear.

    The system takes all up to a blank for a path, and the rest for one word.
    """
    path, _, rest = line.strip(" \t\r").replace("\t", " ").partition(" ")
    if not path:
        return None
    if os.path.basename(path) != _LOOKS_UP or not rest.strip():
        return Interpreter(path)
    if split := _SPLITTING.match(rest.strip()):
        rest = split["rest"]
    name = rest.split()[0] if rest.split() else ""
    return Interpreter(name, is_looked_up=True) if _PLAIN.fullmatch(name) else None

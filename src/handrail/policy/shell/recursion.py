"""Functions that start themselves in a pipe or in the background: fork bombs."""

import re

from handrail.policy.shell.sight import MAX_CHARS, look_through

_STRINGS = re.compile(r"""\\.|'[^']*'|"(?:[^"\\]|\\.)*"|(?:(?<=[\s;|&])|\A)\#[^\n]*""", re.DOTALL)
# The text of a here-document is data.
_HERE_DOCUMENTS = re.compile(
    r"""<<-?[ \t]*(['"\\]?)(\w+)[^\n]*\n.*?(?:^[ \t]*\2[ \t]*$|\Z)""", re.DOTALL | re.MULTILINE
)
_NAME = r"""[^\s;|&(){}<>'"$`\\]+"""
_FUNCTIONS = re.compile(rf"(?:\bfunction\s+({_NAME})\s*(?:\(\s*\))?|({_NAME})\s*\(\s*\))\s*")
# `&&`, `||` and `2>&1` start nothing beside the command itself.
_FORKS = re.compile(r"(?<![|&<>])[|&](?![|&>])|\|&|\$\(|`")
# These run the program or builtin of that name, never the function.
_NO_FUNCTIONS = re.compile(rf"\b(?:command|builtin)\s+{_NAME}")
_MOST_FUNCTIONS = 20
_MOST_CHARS_OF_A_BODY = 4_000
_BRACKETS = {"{": 1, "(": 1, "}": -1, ")": -1}


def find_fork_bomb(text: str) -> str | None:
    """The name of a function that starts itself, directly or through others, as a new process.

    This is a detector, as for all unread lines; the box limits the number of processes.
    """
    if "()" not in re.sub(r"\s", "", text) and "function" not in text:
        return None
    live = _STRINGS.sub(" ", _HERE_DOCUMENTS.sub("\n", text[:MAX_CHARS]))
    live = _NO_FUNCTIONS.sub("true", live)
    bodies = {
        found[1] or found[2]: _body(live, found.end())
        for found, _ in zip(_FUNCTIONS.finditer(live), range(_MOST_FUNCTIONS), strict=False)
    }
    calls = {
        name: {command[0].lstrip("{") for command in look_through(body).commands} & bodies.keys()
        for name, body in bodies.items()
    }
    for name, body in bodies.items():
        if _FORKS.search(body) and name in _reached(name, calls):
            return name
    return None


def _reached(name: str, calls: dict[str, set[str]]) -> set[str]:
    """Every function that this one runs, at whatever remove."""
    reached: set[str] = set()
    new = calls[name]
    while new:
        reached |= new
        new = set[str]().union(*(calls[one] for one in new)) - reached
    return reached


def _body(text: str, start: int) -> str:
    """From here to the bracket that closes the first one; all of it where none does."""
    depth, end = 0, min(len(text), start + _MOST_CHARS_OF_A_BODY)
    for at in range(start, end):
        depth += _BRACKETS.get(text[at], 0)
        if depth <= 0:
            return text[start + 1 : at]
    return text[start + 1 : end]

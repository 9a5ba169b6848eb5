"""A plain shell string as argv lists, and how each follows on the one before."""

from dataclasses import dataclass
from enum import StrEnum


class Join(StrEnum):
    """How a step follows on the one before it.

    As in bash, a pipe binds closest; `&&` and `||` are equals, read from left to right; `;` and a
    new line bind least.
    """

    FIRST = ""
    PIPE = "|"
    AND = "&&"
    OR = "||"
    THEN = ";"


class Stream(StrEnum):
    """Where a step writes: to its output (a pipe, where one follows), its errors, or nowhere."""

    OUT = "out"
    ERR = "err"
    NULL = "null"


@dataclass(frozen=True, slots=True)
class Word:
    """One word as the program would be given it.

    `is_pattern` says that bash would first look for files of this pattern, all of whose special
    characters stand in `text` unquoted. Bash knows `**` only as `*`, and leaves a pattern that
    fits nothing as it is.
    """

    text: str
    is_pattern: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One program with its words; the first names it and is never a pattern."""

    words: tuple[Word, ...]
    join: Join
    stdout: Stream = Stream.OUT
    stderr: Stream = Stream.ERR


@dataclass(frozen=True, slots=True)
class Script:
    """What bash would run, without a shell; never empty."""

    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class NotPlain:
    """Why a string cannot be proven to be a plain script: words that follow `because`."""

    reason: str

"""One program of several that are run after each other, or into each other."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from handrail.core.box import Profile


class Join(StrEnum):
    """How a stage follows on the one before it.

    As in bash, a pipe binds closest; `&&` and `||` are equals, read from left to right; `;` and a
    new line bind least.
    """

    FIRST = ""
    PIPE = "|"
    AND = "&&"
    OR = "||"
    THEN = ";"

    def goes_on_after(self, exit_code: int) -> bool:
        """Whether what is joined like this is run after something that ended with this code."""
        if self is Join.AND:
            return exit_code == 0
        return self is not Join.OR or exit_code != 0


class Stream(StrEnum):
    """Where a stage writes: to its output (a pipe, where one follows), its errors, or nowhere."""

    OUT = "out"
    ERR = "err"
    NULL = "null"


# Tuples are made in a third of the time, and every judgement makes some.
class Stage(NamedTuple):
    """An argv list, the box it runs in and the folder below the workspace's root.

    `patterns` are the places of words that stand for files: they are expanded where it runs, and a
    pattern that fits nothing stays as it is. `obeys` are files that it runs or does what they say,
    `named` are other paths among its words, all from the workspace's root. `programs` are the names
    of what it runs: its own, and those of all that this runs in turn. `networks` are those of them
    that may use a network; `hosts` are what it may reach there, and without any it reaches nothing.
    `account` is the command whose credential the program may be given. `remotes` are the addresses
    that git may talk to. `stdin` is a text that it reads; without one
    it reads the pipe before it, or nothing.
    """

    argv: tuple[str, ...]
    profile: Profile
    join: Join = Join.FIRST
    stdout: Stream = Stream.OUT
    stderr: Stream = Stream.ERR
    patterns: tuple[int, ...] = ()
    folder: str = "."
    obeys: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    networks: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    account: str = ""
    remotes: tuple[str, ...] = ()
    stdin: str | None = None


def word_for(stage: Stage, root: str, path: str) -> str:
    """The word by which a stage starts a program of the workspace at this path from its root."""
    return path if stage.folder == "." else f"{root.rstrip('/')}/{path}"


def pipelines(stages: Sequence[Stage]) -> list[list[Stage]]:
    """Stages that are joined by pipes run together."""
    found: list[list[Stage]] = []
    for stage in stages:
        if stage.join is Join.PIPE and found:
            found[-1].append(stage)
        else:
            found.append([stage])
    return found

"""The result of reading one command line."""

import re
from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

from handrail.core.box import Profile, widest
from handrail.core.risk import Finding, forbidden
from handrail.core.visible import cut, visible

_NEEDS_NO_QUOTES = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")
_SHOWN_CHARS = 80


# Tuples, because every judgement makes many and a tuple is made in a third of the time.
class FileWord(NamedTuple):
    """A word that may name a file, and whether the command may change that file.

    It is not `certain` where it may be the value of a flag, or is a flag.
    """

    word: str
    written: bool
    certain: bool = True
    is_program: bool = False


class Addition(NamedTuple):
    """Words that Handrail itself adds to a line, and the position they are put at."""

    at: int
    words: tuple[str, ...]


class Reading(NamedTuple):
    """A command line: `argv` runs in the box `profile`.

    `kind` is the command with its subcommand, or None where that says too little about what runs.
    `class_words` name a class that is wider than that.
    `scripts` are files whose content it runs or obeys, `programs` the names of the command and of
    every command it starts. `networks` are those of them that need a network, and `account` is the
    command itself where it has to be signed in. It `rehearses` where it can be tried first without
    effect, and `listens` where it runs code that a pipe gives it.
    """

    findings: tuple[Finding, ...] = ()
    files: tuple[FileWord, ...] = ()
    kind: tuple[str, ...] | None = None
    profile: Profile = Profile.READ
    additions: tuple[Addition, ...] = ()
    argv: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    starts_others: bool = False
    programs: tuple[str, ...] = ()
    networks: tuple[str, ...] = ()
    account: str = ""
    class_words: str = ""
    listens: bool = False
    rehearses: bool = True

    def beside(self, other: "Reading") -> "Reading":
        """Both of them together; the kind and the account stay those of the first."""
        return Reading(
            self.findings + other.findings,
            self.files + other.files,
            self.kind,
            widest((self.profile, other.profile)),
            self.additions + other.additions,
            scripts=self.scripts + other.scripts,
            starts_others=self.starts_others or other.starts_others,
            programs=self.programs + other.programs,
            networks=self.networks + other.networks,
            account=self.account,
            class_words=self.class_words,
            listens=self.listens or other.listens,
            rehearses=self.rehearses and other.rehearses,
        )


def total(readings: Sequence[Reading]) -> Reading:
    """Several readings of parts of one line, at least one, taken together."""
    return reduce(Reading.beside, readings)


def refused(rule: str, reason: str) -> Reading:
    return Reading(findings=(forbidden(rule, reason),), rehearses=False)


def shown(word: str) -> str:
    """A word for a person: nothing in it acts on a terminal, and it is cut where it is long."""
    more = cut(word, _SHOWN_CHARS)[_SHOWN_CHARS:]
    return in_full(word[:_SHOWN_CHARS]) + more


def in_full(word: str) -> str:
    """A word for a person, however long, with invisible characters escaped."""
    return word if _NEEDS_NO_QUOTES.fullmatch(word) else visible(repr(word))

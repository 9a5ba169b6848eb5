"""What a command line comes to, once it has been read."""

import re
from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

from handrail.core.box import Profile, widest
from handrail.core.risk import Finding, RiskLevel, forbidden
from handrail.core.visible import cut, visible

_NEEDS_NO_QUOTES = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")
_SHOWN_CHARS = 80


# These are tuples because there are many of them, and a tuple is made in a third of the time.
class FileWord(NamedTuple):
    """A word that may name a file, and whether the command may change that file.

    `by_kind` is true where it may put a new one there, so that it matters of what kind that is. It
    `is_program` where the word is the name of the command itself.
    """

    word: str
    written: bool
    by_kind: bool = False
    is_program: bool = False


class Addition(NamedTuple):
    """Words that Handrail itself adds to a line, and in front of which of its words."""

    at: int
    words: tuple[str, ...]


class Reading(NamedTuple):
    """What a command line comes to: `argv` are the words that will run, in the box `profile`.

    `kind` is the command and its subcommand, or None where that would say too little of what runs.
    `scripts` are words, as they lead from its folder, that name files whose content it runs or
    obeys. It `says_all` where nothing but its words and these files decides which code is run, and
    `loads` where it runs code, which can bring in files that no word names.
    `programs` are the names of the command and of all that it runs in turn, `networks` those of
    them that may use a network. It `listens` where it runs code that it is handed by a pipe.
    `unseen` is what it comes to with further words that nobody has seen, and `found` with the names
    of files that are only found.
    """

    findings: tuple[Finding, ...] = ()
    files: tuple[FileWord, ...] = ()
    kind: tuple[str, ...] | None = None
    profile: Profile = Profile.READ
    additions: tuple[Addition, ...] = ()
    argv: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    says_all: bool = True
    loads: bool = False
    programs: tuple[str, ...] = ()
    networks: tuple[str, ...] = ()
    listens: bool = False
    unseen: RiskLevel = RiskLevel.LOW
    found: RiskLevel = RiskLevel.LOW

    def beside(self, other: "Reading") -> "Reading":
        """Both of them together."""
        return Reading(
            self.findings + other.findings,
            self.files + other.files,
            self.kind if other.kind is not None else None,
            self.profile
            if self.profile is other.profile
            else widest((self.profile, other.profile)),
            self.additions + other.additions,
            scripts=self.scripts + other.scripts,
            says_all=self.says_all and other.says_all,
            loads=self.loads or other.loads,
            programs=self.programs + other.programs,
            networks=self.networks + other.networks,
            listens=self.listens or other.listens,
            unseen=max(self.unseen, other.unseen),
            found=max(self.found, other.found),
        )


def total(readings: Sequence[Reading]) -> Reading:
    """Several of the same line, or of parts of it, taken together. There is one at least."""
    return reduce(Reading.beside, readings)


def refused(rule: str, reason: str) -> Reading:
    return Reading(findings=(forbidden(rule, reason),), says_all=False)


def shown(word: str) -> str:
    """A word for a person: nothing in it acts on a terminal, and it is not endless."""
    more = cut(word, _SHOWN_CHARS)[_SHOWN_CHARS:]
    return in_full(word[:_SHOWN_CHARS]) + more


def in_full(word: str) -> str:
    """A word for a person, however long: every character that is not seen is an escape."""
    return word if _NEEDS_NO_QUOTES.fullmatch(word) else visible(repr(word))

"""Commands within commands: what is known of them, and which words are theirs."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from handrail.core.box import Profile
from handrail.core.risk import Finding, Layer, RiskLevel
from handrail.policy.rulebook.command import CommandRule
from handrail.policy.rulebook.concerns import not_allowed
from handrail.policy.rulebook.reading import Reading, shown

# What `find` has found, and what nobody has seen.
FOUND = "{}"
UNSEEN = "{...}"
# Flags of find behind which a command runs in the folder of each thing that is found.
ELSEWHERE = frozenset({"-execdir", "-okdir"})
# With these it begins where a file says, and not where its words do.
_LISTING = frozenset({"-files0-from"})
_OF_GLOBS = frozenset("*?[{(")
_PLACEHOLDER = re.compile(r"[^a-z0-9.=/-]+")


class Inner(Protocol):
    """What is known of commands that are run by others."""

    def knows(self, name: str) -> bool: ...

    def read(self, argv: Sequence[str], at: int) -> Reading:
        """Read a command whose name stands at `at` in the whole line."""
        ...


def unseen_in(word: str, placeholders: Iterable[str]) -> str:
    """A word as it may become: what stands in the place of others is seen by nobody."""
    for one in placeholders:
        word = word.replace(one, UNSEEN)
    return word


def is_unseen(word: str) -> bool:
    return FOUND in word or UNSEEN in word


def end_of_inner(words: Sequence[str], start: int) -> int:
    """At a `;`, or at a `+` right behind what was found; another `+` is a word like any."""
    for at in range(start, len(words)):
        if words[at] == ";" or (words[at] == "+" and words[at - 1] == FOUND):
            return at
    return len(words)


def may_stand_for_words(placeholder: str, name: str) -> bool:
    """Whether it is no part of the command's name, nor of any other name that we know."""
    return placeholder not in name and _PLACEHOLDER.fullmatch(placeholder) is not None


def unseen_commands(title: str, placeholders: Iterable[str], name: str) -> Iterator[Finding]:
    """Refuse those placeholders that can stand for a command, or for words of one."""
    for one in placeholders:
        if not may_stand_for_words(one, name):
            reason = f"{title} {shown(one)} can stand for a command that is not shown"
            yield not_allowed(f"{reason}; use {FOUND}")


def glued_in(title: str, argv: Iterable[str]) -> Iterator[Finding]:
    """Refuse words of which only a part is found: the name of a file can make a flag of them."""
    for word in argv:
        if FOUND in word and word != FOUND:
            reason = (
                f"{title} would build {shown(word)} from names not shown; use {FOUND} as a word"
            )
            yield not_allowed(reason)
            return


def handed_on(
    rule: str, title: str, argv: Sequence[str], further: Sequence[str], read: Reading
) -> Iterator[Finding]:
    """What it means that a command gets words that nobody has seen.

    A thing that was found is no flag, whatever its name: it begins with where the search began.
    """
    if not (further or FOUND in argv):
        return
    risk = read.unseen if further else read.found
    told = f"{title} runs {argv[0]} with arguments that are not shown"
    if risk is RiskLevel.FORBIDDEN:
        yield not_allowed(f"{told}; they could make it a forbidden command")
    elif read.profile is not Profile.READ or risk is not RiskLevel.LOW:
        yield Finding(rule, f"{told}, which can decide what it writes or runs", RiskLevel.HIGH)


def if_unseen(rule: CommandRule) -> RiskLevel:
    """What it comes to with words that nobody has seen: any flag, also one that nobody listed.

    A row on such words has said what it is, and one that can only look does so with any.
    """
    if rule.raised_by(UNSEEN) or rule.layer is Layer.PROJECT:
        return RiskLevel.LOW
    if rule.can_be_forbidden:
        return RiskLevel.FORBIDDEN
    return RiskLevel.LOW if rule.looks_only else RiskLevel.HIGH


def if_found(rule: CommandRule, words: Sequence[str], files: Sequence[str]) -> RiskLevel:
    """What it comes to where a name that is found stands among its words; `files` are only read.

    It may be several names, of which one more than the command reads can be written.
    """
    if rule.layer is Layer.PROJECT:
        return RiskLevel.LOW
    is_read = rule.operands is None and words.count(FOUND) == files.count(FOUND)
    return RiskLevel.LOW if is_read or rule.looks_only else RiskLevel.HIGH


def further_words(words: Sequence[str], rule: CommandRule) -> tuple[str, ...]:
    """What stands for all that it hands on unseen; names out of a list can be flags."""
    return (UNSEEN,) if rule.unseen or not _LISTING.isdisjoint(words) else ()


def unclear_scripts(reading: Reading, *, is_elsewhere: bool) -> list[str]:
    """Those of its scripts of which nobody can tell which files they are.

    What is found or read takes the place of some; others lie in folders that are only found.
    """
    return [script for script in reading.scripts if is_elsewhere or is_unseen(script)]


def not_known(rule: str, title: str, script: str) -> Finding:
    reason = f"{title} runs {shown(script)}, and nobody can tell which file it is"
    return Finding(rule, reason, RiskLevel.HIGH)


def hidden_in(rule: str, title: str, scripts: Iterable[str]) -> Iterator[Finding]:
    """That a program which knows patterns would take one of these for several files."""
    hidden = [word for word in scripts if not _OF_GLOBS.isdisjoint(word)]
    return (not_known(rule, title, word) for word in hidden[:1])

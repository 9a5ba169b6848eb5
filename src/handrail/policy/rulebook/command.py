"""What is known of one command: how risky it is, and which words make it riskier."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fnmatch import fnmatchcase

from handrail.core.risk import Layer, RiskLevel
from handrail.policy.rulebook.globs import fold


class Text(StrEnum):
    """Which of a command's operands are text, such as a pattern, and never name a file."""

    NONE = "none"
    FIRST = "first"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Raise:
    """Words that make a command riskier than its name does, or forbid it."""

    words: tuple[str, ...]
    to: RiskLevel
    reason: str

    def is_meant_by(self, word: str) -> bool:
        """Whether a flag or an operand is one of the words, or could be short for one."""
        return _is_one_of(self.words, word)


@dataclass(frozen=True, slots=True)
class CommandRule:
    """One command, several of a kind, or a subcommand. The shipped rules say what each key does.

    Reasons are the rest of a sentence that begins with the command: `rm` "deletes for good".
    """

    names: frozenset[str]
    patterns: tuple[str, ...]
    risk: RiskLevel
    reason: str
    flags: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()
    paths: frozenset[str] = frozenset()
    last: frozenset[str] = frozenset()
    instead: frozenset[str] = frozenset()
    runs_after: frozenset[str] = frozenset()
    raises: tuple[Raise, ...] = ()
    text: Text = Text.NONE
    plain: re.Pattern[str] | None = None
    operands: int | None = None
    runs: int | None = None
    subs: tuple["CommandRule", ...] = ()
    other: RiskLevel = RiskLevel.HIGH
    clusters: bool = True
    options_first: bool = False
    writes: bool = False
    broad: bool = False
    broad_on: tuple[str, ...] = ()
    examples: tuple[tuple[str, RiskLevel], ...] = ()
    layer: Layer = Layer.SHIPPED

    def covers(self, name: str) -> bool:
        """What is forbidden is so in every spelling; all else is known by its own name only."""
        spelt = fold(name) if self.risk is RiskLevel.FORBIDDEN else name
        return spelt in self.names or any(fnmatchcase(spelt, name) for name in self.patterns)

    @property
    def is_strict(self) -> bool:
        """Whether a flag nobody listed matters: it may do harm, or hide a command or a program."""
        hides_a_command = self.options_first or self.runs is not None or bool(self.subs)
        return hides_a_command or self.plain is not None or self.risk is RiskLevel.LOW

    def knows(self, flag: str) -> bool:
        return "*" in self.flags or flag in self.flags or self.takes_value(flag)

    def takes_value(self, flag: str) -> bool:
        return flag in self.values or flag in self.paths

    def is_broad_on(self, word: str) -> bool:
        """Whether with this word the name says too little of what would happen."""
        return _is_one_of(self.broad_on, word)


@dataclass(frozen=True, slots=True)
class CommandList:
    """Which commands there are.

    `further` rules speak only of commands that are on the list, and put none there. `unlisted` is
    what any other comes to.
    """

    rules: tuple[CommandRule, ...]
    further: tuple[CommandRule, ...] = ()
    unlisted: RiskLevel = RiskLevel.FORBIDDEN


def replace_by_name(
    rules: Iterable[CommandRule], by: Sequence[CommandRule]
) -> tuple[CommandRule, ...]:
    """The rules, where each name that one of the others has too is left to the other."""
    taken = frozenset(name for rule in by for name in rule.names)
    kept = (_without(taken, rule) for rule in rules)
    return (*(rule for rule in kept if rule.names), *by)


def _without(taken: frozenset[str], rule: CommandRule) -> CommandRule:
    if taken.isdisjoint(rule.names):
        return rule
    patterns = tuple(pattern for pattern in rule.patterns if pattern not in taken)
    return replace(rule, names=rule.names - taken, patterns=patterns)


def _is_one_of(patterns: Iterable[str], word: str) -> bool:
    return any(
        _fits(word, pattern) or _could_be_short_for(word, pattern.rstrip("*"))
        for pattern in patterns
    )


def _fits(word: str, pattern: str) -> bool:
    return fnmatchcase(word, pattern) if "*" in pattern else word == pattern


def _could_be_short_for(word: str, option: str) -> bool:
    """Most programs take `--out` for `--output`."""
    return len(word) > len("--") and word.startswith("--") and option.startswith(word)

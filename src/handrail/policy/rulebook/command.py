"""One row of the command table, and how a command finds its row."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple

from handrail.core.risk import Layer, RiskLevel
from handrail.core.wildcard import compile_wildcard

_MOST_NAME_WORDS = 3
_SPECIAL = re.compile(r"[*?\[]")


class Text(StrEnum):
    """Which operands are text and never name a file."""

    NONE = "none"
    FIRST = "first"
    ALL = "all"
    # Everything behind the first flag, as in `find src -name x`.
    TESTS = "tests"


class Need(StrEnum):
    """Why a command cannot be tried without effect first."""

    NETWORK = "network"
    # The network, and to be signed in as the person at the machine.
    ACCOUNT = "account"
    RUNNING = "running"


@dataclass(frozen=True, slots=True)
class Runs:
    """How a command starts another one.

    `operands` of its own stand in front of the other command, and `values` are its flags that take
    the next word. `after` are flags in front of a command that ends with `;` or `+`, `module` is
    the flag in front of a Python module. With `script`, the first operand is a file that it runs.
    """

    operands: int | None = None
    values: frozenset[str] = frozenset()
    after: frozenset[str] = frozenset()
    module: str = ""
    script: bool = False


class WordReasons:
    """Words that change the judgement of a command, each with a reason.

    `-o` means this letter among short flags, `--output` the flag and its abbreviations. Any other
    word means itself, and may be a wildcard.
    """

    def __init__(self, reasons: Mapping[str, str]):
        self.reasons = dict(reasons)
        self._letters: dict[str, str] = {}
        self._flags: dict[str, str] = {}
        self._exact: dict[str, str] = {}
        self._wildcards: list[tuple[re.Pattern[str], str]] = []
        for words, reason in self.reasons.items():
            for word in words.split():
                self._add(word, reason)

    def _add(self, word: str, reason: str) -> None:
        if _SPECIAL.search(word):
            self._wildcards.append((compile_wildcard(word), reason))
        elif word.startswith("--") and len(word) > len("--"):
            self._flags[word] = reason
        elif len(word) == len("-x") and word.startswith("-") and word != "--":
            self._letters[word[1]] = reason
        else:
            self._exact[word] = reason

    def __bool__(self) -> bool:
        return bool(self.reasons)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WordReasons) and self.reasons == other.reasons

    def __hash__(self) -> int:
        return hash(tuple(self.reasons.items()))

    def find(self, word: str) -> str | None:
        """Why this word matters; None where it does not."""
        if (reason := self._exact.get(word)) is not None:
            return reason
        for pattern, why in self._wildcards:
            if pattern.fullmatch(word):
                return why
        if word.startswith("--"):
            return self._find_flag(word.partition("=")[0])
        if word.startswith("-") and self._letters:
            return next((self._letters[char] for char in word[1:] if char in self._letters), None)
        return None

    def _find_flag(self, name: str) -> str | None:
        if len(name) <= len("--"):
            return None
        return next((why for flag, why in self._flags.items() if flag.startswith(name)), None)


@dataclass(frozen=True, slots=True)
class CommandRule:
    """A command such as `git`, or one of its subcommands such as `git log`.

    A reason is the rest of a sentence that begins with the command: `rm` "deletes files".
    """

    names: frozenset[str]
    risk: RiskLevel
    reason: str = ""
    asks: WordReasons = field(default_factory=lambda: WordReasons({}))
    refuses: WordReasons = field(default_factory=lambda: WordReasons({}))
    text: Text = Text.NONE
    runs: Runs | None = None
    obeys: tuple[str, ...] = ()
    need: Need | None = None
    adds: tuple[str, ...] = ()
    examples: tuple[tuple[str, RiskLevel], ...] = ()
    layer: Layer = Layer.SHIPPED

    @property
    def is_networked(self) -> bool:
        return self.need in (Need.NETWORK, Need.ACCOUNT)


class Match(NamedTuple):
    """The rule of a command line, and the rule of the bare command where that is another.

    Words before `start` belong to the name, with the flags among them. `subcommand` is the first
    word that is no flag, at the position `subcommand_at`.
    """

    rule: CommandRule
    base: CommandRule
    start: int
    subcommand: str
    subcommand_at: int = 0


class CommandTable:
    """Finds the row with the longest name that a command line begins with."""

    def __init__(self, rules: Iterable[CommandRule]):
        self._rows: dict[str, CommandRule] = {}
        self._wildcards: list[tuple[re.Pattern[str], CommandRule]] = []
        self._families: set[str] = set()
        for rule in rules:
            for name in rule.names:
                if _SPECIAL.search(name):
                    self._wildcards.append((compile_wildcard(name), rule))
                else:
                    self._rows[name] = rule
                words = name.split()
                self._families.update(" ".join(words[:count]) for count in range(1, len(words)))

    def has_subcommands(self, name: str) -> bool:
        """Whether there are rows for this name with a further word."""
        return name in self._families

    def find(self, name: str, words: Sequence[str]) -> Match | None:
        """The row of a command; None where the table does not know it."""
        base = self._row(name)
        if name not in self._families:
            return None if base is None else Match(base, base, 0, "")
        place = next((at for at, word in enumerate(words) if not word.startswith("-")), None)
        if place is None and words and (found := self._rows.get(f"{name} {words[0]}")):
            return Match(found, base or found, 1, words[0])
        second = "" if place is None else words[place]
        if place is not None:
            ahead = [words[at].partition("=")[0] for at in range(place + 1, len(words))]
            for count in range(_MOST_NAME_WORDS - 2, -1, -1):
                found = self._rows.get(" ".join([name, second, *ahead[:count]]))
                if found is not None and len(ahead) >= count:
                    return Match(found, base or found, place + 1, second, place)
        return None if base is None else Match(base, base, 0, second, place or 0)

    def _row(self, name: str) -> CommandRule | None:
        found = self._rows.get(name) or self._rows.get(name.casefold())
        if found is not None and (name in found.names or found.risk is RiskLevel.FORBIDDEN):
            return found
        return next((rule for fits, rule in self._wildcards if fits.fullmatch(name)), None)


@dataclass(frozen=True, slots=True, eq=False)
class CommandList:
    """The commands that are known, and the risk of every other one.

    `further` rules come from a project: they add concerns and make no command known.
    """

    rules: tuple[CommandRule, ...]
    further: tuple[CommandRule, ...] = ()
    unlisted: RiskLevel = RiskLevel.HIGH
    table: CommandTable = field(init=False, repr=False)
    further_table: CommandTable = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", CommandTable(self.rules))
        object.__setattr__(self, "further_table", CommandTable(self.further))


def replace_by_name(
    rules: Iterable[CommandRule], by: Sequence[CommandRule]
) -> tuple[CommandRule, ...]:
    """The rules, without the names for which one of the others stands."""
    taken = frozenset(name for rule in by for name in rule.names)
    kept = (replace(rule, names=rule.names - taken) for rule in rules)
    return (*(rule for rule in kept if rule.names), *by)

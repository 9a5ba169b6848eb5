"""What is known of one command: how risky it is, and which words make it riskier."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fnmatch import fnmatchcase, translate

from handrail.core.box import Profile
from handrail.core.risk import Layer, RiskLevel
from handrail.policy.rulebook.globs import fold
from handrail.policy.rulebook.lexicon import Lexicon

_MOST_TEXT_CHARS = 4_000
_CAPITAL = re.compile(r"[A-Z]")


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
    beside: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class CommandRule:
    """One command, several of a kind, or a subcommand. The shipped rules say what each key does.

    Reasons are the rest of a sentence that begins with the command: `rm` "deletes permanently".
    """

    names: frozenset[str]
    patterns: tuple[str, ...]
    risk: RiskLevel
    reason: str
    flags: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()
    paths: frozenset[str] = frozenset()
    named_values: frozenset[str] = frozenset()
    named_paths: frozenset[str] = frozenset()
    last: frozenset[str] = frozenset()
    instead: frozenset[str] = frozenset()
    runs_after: frozenset[str] = frozenset()
    runs_named: frozenset[str] = frozenset()
    raises: tuple[Raise, ...] = ()
    text: Text = Text.NONE
    script: bool = False
    script_flags: frozenset[str] = frozenset()
    scripts_with: frozenset[str] = frozenset()
    script_endings: tuple[str, ...] = ()
    runs_from: tuple[str, ...] = ()
    obeys: tuple[str, ...] = ()
    obeys_in: frozenset[str] = frozenset()
    plain: re.Pattern[str] | None = None
    operands: int | None = None
    beyond: str = ""
    free_with: frozenset[str] = frozenset()
    runs: int | None = None
    unseen: bool = False
    replaces: frozenset[str] = frozenset()
    subs: tuple["CommandRule", ...] = ()
    other: RiskLevel = RiskLevel.HIGH
    strict: bool = False
    clusters: bool = True
    letters: str = ""
    leading: frozenset[str] | None = None
    shortened: bool = False
    punctuated: bool = False
    bundled: bool = False
    options_first: bool = False
    writes: bool = False
    suffixes: frozenset[str] = frozenset()
    looks_only: bool = False
    loads: bool = True
    broad: bool = False
    broad_on: tuple[str, ...] = ()
    profile: Profile | None = None
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    after_one: tuple[str, ...] = ()
    examples: tuple[tuple[str, RiskLevel], ...] = ()
    binds: tuple[tuple[str, tuple[str, ...]], ...] = ()
    layer: Layer = Layer.SHIPPED
    # Worked out from the others, since lines are read far more often than rules. Behind the flags
    # that are `closing` a cluster ends: the rest of the word is their value.
    calm: frozenset[str] = field(init=False, repr=False, compare=False)
    closing: frozenset[str] = field(init=False, repr=False, compare=False)
    is_strict: bool = field(init=False, repr=False, compare=False)
    _known: frozenset[str] = field(init=False, repr=False, compare=False)
    _valued: frozenset[str] = field(init=False, repr=False, compare=False)
    _raising: Lexicon[Raise] = field(init=False, repr=False, compare=False)
    _broadening: Lexicon[bool] = field(init=False, repr=False, compare=False)
    _subs: "_Names" = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        valued = self.values | self.paths | self.named_values | self.named_paths
        raising = Lexicon((word, one) for one in self.raises for word in one.words)
        broadening = Lexicon((word, True) for word in self.broad_on)
        for name, value in {
            "closing": valued | self.optional,
            "is_strict": self._is_strict(),
            "_known": self.flags | self.optional | valued,
            "_valued": valued,
            "_raising": raising,
            "_broadening": broadening,
            "_subs": _Names(self.subs),
        }.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "calm", self._calm_flags())

    def _is_strict(self) -> bool:
        """Whether a flag nobody listed matters: it may do harm, or hide a command or a program."""
        hides_a_command = self.options_first or self.runs is not None or bool(self.subs)
        is_looked_at = self.strict or self.plain is not None or self.risk is RiskLevel.LOW
        return is_looked_at or hides_a_command

    def _calm_flags(self) -> frozenset[str]:
        """Flags that mean nothing at all to us, so that there is nothing to think about."""
        eventful = self.closing | self.instead | self.free_with | self.last | self.runs_after
        eventful |= self.replaces | self.suffixes | self.scripts_with
        return frozenset(
            flag
            for flag in self.flags - eventful
            if not self.raised_by(flag) and not self.is_broad_on(flag)
        )

    def covers(self, name: str) -> bool:
        """What is forbidden is so in every spelling; all else is known by its own name only."""
        spelt = fold(name) if self.risk is RiskLevel.FORBIDDEN else name
        return spelt in self.names or any(fnmatchcase(spelt, name) for name in self.patterns)

    def knows(self, flag: str) -> bool:
        if flag in self._known or "*" in self.flags:
            return True
        # With `letters`, what can be said can be denied.
        return bool(self.letters) and f"--{without_no(flag[2:])}" in self.flags

    def in_full(self, flag: str) -> str:
        """The one long flag that this could be short for, where there is one."""
        if flag in self._known or len(flag) <= len("--") or not flag.startswith("--"):
            return flag
        longer = [known for known in self._known if known.startswith(flag)]
        return longer[0] if len(longer) == 1 else flag

    def takes_value(self, flag: str) -> bool:
        return flag in self._valued

    def takes_name(self, flag: str) -> bool:
        """Whether a name stands between the flag and its value."""
        return flag in self.named_values or flag in self.named_paths

    @property
    def binds_files(self) -> bool:
        """Whether it or a subcommand runs or obeys files that can be told from its words."""
        own = self.script or self.script_flags or self.obeys or self.runs_from
        return bool(own) or any(sub.binds_files for sub in self.subs)

    @property
    def can_be_forbidden(self) -> bool:
        """Whether there are words with which it, or a subcommand, is refused."""
        is_refused = RiskLevel.FORBIDDEN in (self.risk, self.other)
        raised = any(one.to is RiskLevel.FORBIDDEN for one in self.raises)
        return is_refused or raised or any(sub.can_be_forbidden for sub in self.subs)

    def loads_at(self, risk: RiskLevel) -> bool:
        """Whether it runs code where it is as risky as this; what only looks does so if high."""
        harmless = RiskLevel.MEDIUM if self.risk is RiskLevel.LOW else RiskLevel.LOW
        return self.loads and risk > harmless

    def takes_path(self, flag: str) -> bool:
        return flag in self.paths or flag in self.named_paths

    def is_plain(self, text: str) -> bool:
        """Whether a text is of the kind that is known to be harmless."""
        is_short = len(text) <= _MOST_TEXT_CHARS
        return self.plain is None or (is_short and self.plain.fullmatch(text) is not None)

    def raised_by(self, word: str) -> Sequence[Raise]:
        """Every reason in a flag or an operand. What a flag could be short for counts as well."""
        return self._raising.meanings(word, is_whole=word in self._known)

    def is_broad_on(self, word: str) -> bool:
        """Whether with this word the name says too little of what would happen."""
        return bool(self.broad_on and self._broadening.meanings(word))

    def subs_named(self, name: str) -> tuple["CommandRule", ...]:
        """The subcommands that this is, or else, where they can be `shortened`, could be."""
        found = self._subs.find(name)
        return found if found or not self.shortened else self._subs.find_shortened(name)


def without_no(name: str) -> str:
    """What is denied: `audit` in `no-audit`."""
    while name.casefold().startswith("no-"):
        name = name[len("no-") :]
    return name


class _Names:
    """Rules by the names of what they cover."""

    def __init__(self, rules: Sequence[CommandRule]):
        self._named: dict[str, tuple[CommandRule, ...]] = {}
        self._patterned = [rule for rule in rules if rule.patterns]
        patterns = (pattern for rule in self._patterned for pattern in rule.patterns)
        self._any = re.compile("|".join(map(translate, patterns)))
        for rule in rules:
            for name in rule.names:
                self._named[name] = (*self._named.get(name, ()), rule)

    def find(self, name: str) -> tuple[CommandRule, ...]:
        spelt = fold(name)
        found = self._named.get(name, ())
        if spelt != name:
            found += self._named.get(spelt, ())
        elif not self._patterned or not self._any.match(name):
            return found
        # By identity: to compare two rules takes longer than to read a line.
        others = (rule for rule in self._patterned if not any(rule is one for one in found))
        return tuple(rule for rule in (*found, *others) if rule.covers(name))

    def find_shortened(self, name: str) -> tuple[CommandRule, ...]:
        start = _CAPITAL.sub(lambda one: f"-{one[0].lower()}", name)
        fitting = (rules for known, rules in self._named.items() if known.startswith(start))
        by_identity = {id(rule): rule for rules in fitting if start for rule in rules}
        return tuple(by_identity.values())


@dataclass(frozen=True, slots=True, eq=False)
class CommandList:
    """Which commands there are.

    `further` rules speak only of commands that are on the list, and put none there. `unlisted` is
    what any other comes to.
    """

    rules: tuple[CommandRule, ...]
    further: tuple[CommandRule, ...] = ()
    unlisted: RiskLevel = RiskLevel.FORBIDDEN
    _listed: _Names = field(init=False, repr=False, compare=False)
    _further: _Names = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_listed", _Names(self.rules))
        object.__setattr__(self, "_further", _Names(self.further))

    def rules_for(self, name: str) -> tuple[CommandRule, ...]:
        """The rules that put a command on the list."""
        return self._listed.find(name)

    def further_for(self, name: str) -> tuple[CommandRule, ...]:
        return self._further.find(name)


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

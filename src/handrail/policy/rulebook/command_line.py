"""Reading a command line word by word as the command would, and strictly where in doubt.

Nothing here looks at paths: which words may name files is part of what is read.
"""

import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from handrail.core.risk import Finding, Layer, RiskLevel, forbidden, worst
from handrail.policy.rulebook.command import CommandList, CommandRule, Raise, Text

_NAME = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_.+@/-]{0,4095}")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)
_NEEDS_NO_QUOTES = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")
_FOR_A_SHELL = re.compile(r"[|&;]{1,2}|\|&|<{1,3}|[\d&]?>{1,2}[&|]?\S*")
_ADDRESS = re.compile(
    r".*://|[\w.+-]{1,64}@[\w.-]{1,255}:|(?:git|github|gitlab|bitbucket|gist):", re.DOTALL
)
_END_OF_INNER = (";", "+")
_MOST_NESTED = 4
_MOST_IN_CLUSTER = 32
_MOST_TEXT_CHARS = 4_000
_SHOWN_CHARS = 80
_HOW = "`command` is the name alone, `args` the words that follow, and no shell reads them"


@dataclass(frozen=True, slots=True)
class FileWord:
    """A word that may name a file, and whether the command may change that file.

    `by_kind` is true where it may put a new one there, so that it matters of what kind that is.
    """

    word: str
    written: bool
    by_kind: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """What a command line comes to.

    `kind` is the command and its subcommand, or None where that would say too little of what runs.
    """

    findings: tuple[Finding, ...] = ()
    files: tuple[FileWord, ...] = ()
    kind: tuple[str, ...] | None = None

    def __add__(self, other: "Reading") -> "Reading":
        kind = self.kind if other.kind is not None else None
        return Reading(self.findings + other.findings, self.files + other.files, kind)


def read_line(listed: CommandList, argv: Sequence[str], depth: int = 0) -> Reading:
    """Read a command and what it runs in turn. Where several rules know it, all of them count."""
    command, *words = argv
    if not _NAME.fullmatch(command):
        return _refused("command.spelling", f"{shown(command)} is no command's name; {_HOW}")
    if depth > _MOST_NESTED:
        return _refused("command.nested", "commands are run by commands too many times over")
    name = command.rstrip("/").rpartition("/")[2]
    readings = [
        _Line(rule, name, listed, depth).read(words) for rule in listed.rules if rule.covers(name)
    ]
    if "/" in command:
        readings.append(_read_own_program(command, words))
    if not readings:
        readings.append(_read_unlisted(name, words, listed.unlisted))
    readings += [
        _Line(rule, name, listed, depth).read(words) for rule in listed.further if rule.covers(name)
    ]
    return _sum(readings)


def shown(word: str) -> str:
    """A word for a person: nothing in it acts on a terminal, and it is not endless."""
    if len(word) > _SHOWN_CHARS:
        word = f"{word[:_SHOWN_CHARS]}…"
    return word if _NEEDS_NO_QUOTES.fullmatch(word) else repr(word)


class _Line:
    """The words of one command under one rule."""

    def __init__(self, rule: CommandRule, title: str, listed: CommandList, depth: int):
        self._rule = rule
        self._title = title
        self._listed = listed
        self._depth = depth
        self._todo: deque[str] = deque()
        self._findings: list[Finding] = []
        self._operands: list[str] = []
        self._files: list[str] = []
        self._inner: list[Reading] = []
        self._sub: Reading | None = None
        self._flags_ended = False
        self._has_no_text = False
        self._is_broad = rule.broad or rule.runs is not None

    def read(self, words: Iterable[str]) -> Reading:
        if self._rule.risk is RiskLevel.FORBIDDEN:
            reason = f"Command not allowed: {self._title} {self._rule.reason}"
            return Reading((forbidden("command.forbidden", reason).by(self._rule.layer),))
        self._todo.extend(words)
        while self._todo:
            self._take(self._todo.popleft())
        self._sort_operands()
        return self._reading()

    def _take(self, word: str) -> None:
        if self._has_too_many_flags(word):
            reason = f"{shown(word)} is too long for flags; what a flag takes is a word of its own"
            self._findings.append(forbidden("command.spelling", reason))
        elif self._flags_ended or not word.startswith("-") or word == "-":
            self._take_operand(word)
        elif word == "--":
            self._flags_ended = True
            self._raise_on([word])
        else:
            self._take_flag(word)

    def _has_too_many_flags(self, word: str) -> bool:
        is_read = word.startswith("-") and "*" not in self._rule.flags
        return is_read and len(self._names_in(word)) > _MOST_IN_CLUSTER

    def _take_operand(self, word: str) -> None:
        rule = self._rule
        # A flag behind `--` is none, unless that `--` belonged to a flag we do not know.
        self._raise_on([word, *self._names_in(word)] if word.startswith("-") else [word])
        if rule.runs is not None and _ASSIGNMENT.fullmatch(word):
            return
        if rule.subs:
            self._read_sub(word)
        elif rule.runs == len(self._operands):
            self._read_inner([word, *self._take_rest()])
        else:
            self._operands.append(word)
            if rule.options_first:
                self._files += self._take_rest()

    def _take_flag(self, word: str) -> None:
        rule, names = self._rule, self._names_in(word)
        raised = self._raise_on(names)
        unknown = [name for name in names if not rule.knows(name)]
        if rule.is_strict:
            for name in unknown:
                if name not in raised:
                    self._note_unknown(name)
        # What follows a flag we do not know may be its value, and no text.
        self._has_no_text |= bool(unknown) or not rule.instead.isdisjoint(names)
        flag = names[-1]
        if rule.takes_value(flag):
            self._take_value(word, flag)
        if rule.text is not Text.ALL:
            self._files += filter(None, self._possible_values(word, names, unknown))
        if flag in rule.runs_after:
            self._read_inner(self._take_until_end_of_inner())
        if flag in rule.last:
            self._files += self._take_rest()

    def _take_value(self, word: str, flag: str) -> None:
        value = _attached(word, flag) if self._is_cluster(word) else _behind_mark(word)
        if value is None:
            value = self._todo.popleft() if self._todo else ""
        if flag in self._rule.paths:
            self._files.append(value)
        elif flag in self._rule.instead:
            self._check_plain(value)

    def _names_in(self, word: str) -> list[str]:
        """The flags in one word: `-rn` are two, unless the command knows no clusters."""
        if not self._is_cluster(word):
            return [word.partition("=")[0]]
        if "-#" in self._rule.flags and word[1:].isdecimal():
            return ["-#"]
        names = [word[:2]]
        for letter in word[2 : _MOST_IN_CLUSTER + 2]:
            if self._rule.takes_value(names[-1]) or not letter.isalnum():
                break
            names.append(f"-{letter}")
        return names

    def _possible_values(
        self, word: str, names: Sequence[str], unknown: Iterable[str]
    ) -> list[str]:
        """What flags that nobody described may take for a value: in `-qF/x`, `F/x` or `/x`."""
        takes_value = self._rule.takes_value(names[-1])
        if not self._is_cluster(word):
            attached = "" if word.startswith("--") else word[2:]
            return [] if takes_value else [_behind_mark(word) or "", attached]
        if self._rule.is_strict or takes_value:
            return [_attached(word, name) or "" for name in unknown]
        return [word[start:] for start in range(2, 2 + len(names))]

    def _is_cluster(self, word: str) -> bool:
        return self._rule.clusters and not word.startswith("--")

    def _raise_on(self, names: Iterable[str]) -> set[str]:
        raised: set[str] = set()
        for name in names:
            self._is_broad |= self._rule.is_broad_on(name)
            for rule in self._rule.raises:
                if rule.is_meant_by(name):
                    raised.add(name)
                    self._findings.append(self._finding(rule, name))
        return raised

    def _read_sub(self, word: str) -> None:
        rest = self._take_rest()
        known = [sub for sub in self._rule.subs if sub.covers(word)]
        if not known:
            self._note_unknown(word)
            self._files += rest
            return
        title = f"{self._title} {word}"
        self._sub = _sum(_Line(sub, title, self._listed, self._depth).read(rest) for sub in known)

    def _read_inner(self, argv: list[str]) -> None:
        if argv:
            self._inner.append(read_line(self._listed, argv, self._depth + 1))

    def _take_rest(self) -> list[str]:
        rest = list(self._todo)
        self._todo.clear()
        return rest

    def _take_until_end_of_inner(self) -> list[str]:
        taken: list[str] = []
        while self._todo and (word := self._todo.popleft()) not in _END_OF_INNER:
            taken.append(word)
        return taken

    def _sort_operands(self) -> None:
        """Only now is it certain whether the first operand is the text, or a flag gave it."""
        texts = 0
        if self._rule.text is Text.ALL:
            texts = len(self._operands)
        elif self._rule.text is Text.FIRST and not self._has_no_text:
            texts = 1
        for word in self._operands[:texts]:
            self._check_plain(word)
        self._files += self._operands[texts:]
        most = self._rule.operands
        if most is not None and len(self._operands) > most:
            self._note_unknown(self._operands[most])

    def _check_plain(self, text: str) -> None:
        plain = self._rule.plain
        if plain is not None and (len(text) > _MOST_TEXT_CHARS or not plain.fullmatch(text)):
            self._note_unknown(text)

    def _note_unknown(self, word: str) -> None:
        level = self._rule.other
        reason = f"{self._title} {shown(word)} is not known to be harmless"
        if level is RiskLevel.FORBIDDEN:
            reason = f"Command not allowed: {self._title} {shown(word)} is not known here"
        self._findings.append(Finding(self._rule_name, reason, level))

    def _finding(self, rule: Raise, word: str) -> Finding:
        reason = f"{self._title} {shown(word)} {rule.reason}"
        if rule.to is RiskLevel.FORBIDDEN:
            return forbidden("command.forbidden", f"Command not allowed: {reason}")
        return Finding(self._rule_name, reason, rule.to)

    @property
    def _rule_name(self) -> str:
        return f"command.{self._title.partition(' ')[0]}"

    def _reading(self) -> Reading:
        rule = self._rule
        if rule.risk > RiskLevel.LOW and self._sub is None:
            reason = f"{self._title} {rule.reason}"
            self._findings.insert(0, Finding(self._rule_name, reason, rule.risk))
        # Which words name files is known to the rule that lists the command, not to a project's.
        named = [] if rule.layer is Layer.PROJECT else self._files
        for word in named:
            if _FOR_A_SHELL.fullmatch(word):
                reason = f"{shown(word)} is for a shell, and no shell reads this; {_HOW}"
                self._findings.append(forbidden("command.spelling", reason))
        written = worst(self._findings) > RiskLevel.LOW
        by_kind = written and rule.writes
        files = tuple(FileWord(word, written, by_kind) for word in named)
        findings = tuple(finding.by(rule.layer) for finding in self._findings)
        own = Reading(findings, files, self._kind())
        return _sum([own, *self._inner, *([self._sub] if self._sub is not None else [])])

    def _kind(self) -> tuple[str, ...] | None:
        if self._is_broad or self._inner or any(map(_ADDRESS.match, self._files)):
            return None
        if self._rule.subs:
            return None if self._sub is None else self._sub.kind
        return tuple(self._title.split(" "))


def _behind_mark(word: str) -> str | None:
    """`x` in `--out=x`; None where the next word would be the value."""
    _, mark, value = word.partition("=")
    return value if mark else None


def _attached(word: str, flag: str) -> str | None:
    """`x` in `-ox`; None where the next word would be the value."""
    return word[word.index(flag[1], 1) + 1 :] or None


def _read_own_program(command: str, words: Sequence[str]) -> Reading:
    """A program named by its path. Whether that lies in the workspace is for paths to judge.

    What it makes of its words nobody knows, even where it has the name of a command we know.
    """
    reason = f"{shown(command)} is a program of the workspace itself"
    finding = Finding("command.workspace", reason, RiskLevel.MEDIUM)
    files = (FileWord(command, written=False), *(FileWord(word, written=True) for word in words))
    return Reading((finding,), files)


def _read_unlisted(name: str, words: Sequence[str], risk: RiskLevel) -> Reading:
    """A command nobody has described: refused, unless the operator wants to be asked."""
    if risk is RiskLevel.FORBIDDEN:
        reason = f"Command not allowed: {shown(name)} is not on the list of commands"
        return _refused("command.unlisted", reason)
    reason = f"{shown(name)} is not on the list of commands"
    files = tuple(FileWord(word, written=True) for word in words)
    return Reading((Finding("command.unlisted", reason, risk).by(Layer.OPERATOR),), files)


def _sum(readings: Iterable[Reading]) -> Reading:
    first, *others = readings
    return sum(others, start=first)


def _refused(rule: str, reason: str) -> Reading:
    return Reading(findings=(forbidden(rule, reason),))

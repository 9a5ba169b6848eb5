"""Reading a command line: the command, and whatever it runs in turn."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from handrail.core.box import Profile
from handrail.core.risk import Finding, Layer, RiskLevel
from handrail.policy.rulebook.command import CommandList, CommandRule
from handrail.policy.rulebook.line import Line
from handrail.policy.rulebook.packs import how_to_list
from handrail.policy.rulebook.reading import Addition, FileWord, Reading, refused, shown, total
from handrail.policy.rulebook.spelling import HOW, why_of_a_shells

_NAME = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_.+@/-]{0,4095}")
_MOST_NESTED = 4


def read_line(listed: CommandList, argv: Sequence[str]) -> Reading:
    """Read a command and what it runs in turn. Where several rules know it, all of them count."""
    return _read_once(listed, tuple(argv))


@lru_cache(maxsize=16)  # A call is judged, planned and told its kind, step by step, in a row.
def _read_once(listed: CommandList, argv: tuple[str, ...]) -> Reading:
    read = _Commands(listed).read(argv, 0)
    words = _with_additions(argv, read.additions) if read.additions else argv
    return read._replace(argv=words)


class _Commands:
    """Reads commands that are run by others, which are `depth` in number."""

    def __init__(self, listed: CommandList, depth: int = 0):
        self._listed = listed
        self._depth = depth

    def knows(self, name: str) -> bool:
        return bool(self._listed.rules_for(name))

    def read(self, argv: Sequence[str], at: int) -> Reading:
        command, words = argv[0], argv[1:]
        if not _NAME.fullmatch(command):
            return refused("command.spelling", f"{shown(command)} is not a command name; {HOW}")
        if self._depth > _MOST_NESTED:
            return refused("command.nested", "commands are run by commands too many times over")
        is_path = "/" in command
        name = command.rstrip("/").rpartition("/")[2] if is_path else command
        readings = self._by_rules(self._listed.rules_for(name), name, words, at)
        if is_path:
            # Whether it understands what we would add, nobody knows.
            readings = [reading._replace(additions=()) for reading in readings]
            readings.append(_read_own_program(command, words))
        if not readings:
            readings.append(_read_unlisted(name, words, self._listed.unlisted))
        if self._listed.further:
            further = self._by_rules(self._listed.further_for(name), name, words, at)
            readings += map(_only_concerns, further)
        found = total(readings)
        return found._replace(programs=(command, *found.programs))

    def _by_rules(
        self, rules: Iterable[CommandRule], name: str, words: Sequence[str], at: int
    ) -> list[Reading]:
        inner = _Commands(self._listed, self._depth + 1)
        return [Line(rule, name, words, at + 1, inner).read() for rule in rules]


def _only_concerns(reading: Reading) -> Reading:
    """What a project says of a command: it opens no box, reaches no host and adds no word."""
    return Reading(reading.findings, kind=reading.kind, says_all=reading.says_all)


def _read_own_program(command: str, words: Sequence[str]) -> Reading:
    """A program named by its path. Whether that lies in the workspace is for paths to judge.

    What it makes of its words nobody knows, even where it has the name of a command we know.
    """
    leads_elsewhere = command.startswith("/") or ".." in command.split("/")
    where = "by its path" if leads_elsewhere else "from this folder, which agents can change"
    reason = f"runs {shown(command)} {where}"
    finding = Finding("command.workspace", reason, RiskLevel.MEDIUM)
    own = FileWord(command, written=False, is_program=True)
    files = (own, *(FileWord(word, written=True) for word in words))
    return Reading((finding,), files, profile=Profile.WRITE, scripts=(command,), loads=True)


def _read_unlisted(name: str, words: Sequence[str], risk: RiskLevel) -> Reading:
    """A command nobody has described: refused, unless the operator wants to be asked."""
    is_refused = risk is RiskLevel.FORBIDDEN
    reason = f"{shown(name)} {why_of_a_shells(name) or how_to_list(name, asks=not is_refused)}"
    if is_refused:
        return refused("command.unlisted", f"Command not allowed: {reason}")
    finding = Finding("command.unlisted", reason, risk)
    files = tuple(FileWord(word, written=True) for word in words)
    findings = (finding.by(Layer.OPERATOR),)
    return Reading(findings, files, profile=Profile.WRITE, says_all=False, loads=True)


def _with_additions(argv: Sequence[str], additions: Iterable[Addition]) -> tuple[str, ...]:
    """The line with our own words in it; what two rules would add, is added once."""
    words = list(argv)
    for addition in sorted(dict.fromkeys(additions), key=lambda one: one.at, reverse=True):
        words[addition.at : addition.at] = addition.words
    return tuple(words)

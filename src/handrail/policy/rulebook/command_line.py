"""Reading a command line by the command table: the command, and every command it starts."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from handrail.core.box import Profile
from handrail.core.python_tools import PYTHON_TOOLS
from handrail.core.risk import Finding, RiskLevel, forbidden, worst
from handrail.policy.rulebook.command import (
    CommandList,
    CommandRule,
    Match,
    Need,
    Runs,
    Text,
    WordReasons,
)
from handrail.policy.rulebook.reading import Addition, FileWord, Reading, refused, shown, total
from handrail.policy.rulebook.spelling import (
    ADDRESS,
    ASSIGNMENT,
    HOW,
    builtin_reason,
    refuse_shell_syntax,
)

_NAME = re.compile(r"[A-Za-z0-9_./\[][A-Za-z0-9_.+@/-]{0,4095}")
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}")
_FOLDER = re.compile(r"[./~]|[^@/-][^/]*/")
_MOST_NESTED = 4
# The class of all commands with an account that change nothing.
_READS = "{} commands that only read"
# Flags of programs that search: they bring the text, so no operand is one.
_BRING_TEXT = ("-e", "--regexp", "--expression", "--files", "--type-list")
# With this flag Python does not look for modules in the folder it is started in.
_ISOLATED = "-I"


def read_line(listed: CommandList, argv: Sequence[str]) -> Reading:
    """Read a command and every command it starts."""
    return _read_once(listed, tuple(argv))


@lru_cache(maxsize=16)  # A call is judged, planned and classed in a row.
def _read_once(listed: CommandList, argv: tuple[str, ...]) -> Reading:
    read = _Reader(listed).read(argv, 0)
    words = list(argv)
    for addition in sorted(dict.fromkeys(read.additions), key=lambda one: one.at, reverse=True):
        words[addition.at : addition.at] = addition.words
    return read._replace(argv=tuple(words))


class _Parts(NamedTuple):
    """The words behind a name: the command's own, and the argv lists of commands it starts.

    `offsets` say where each of those begins among the words.
    """

    own: Sequence[str]
    inner: Sequence[Sequence[str]] = ()
    offsets: Sequence[int] = ()
    script: str = ""
    rest: Sequence[str] = ()
    module: str = ""


class _Reader:
    """Reads a command that was started by `depth` others."""

    def __init__(self, listed: CommandList, depth: int = 0):
        self._listed = listed
        self._depth = depth

    def read(self, argv: Sequence[str], at: int) -> Reading:
        command, words = argv[0], argv[1:]
        if not _NAME.fullmatch(command):
            return refused("command.spelling", f"{shown(command)} is not a command name; {HOW}")
        if self._depth > _MOST_NESTED:
            return refused("command.nested", f"more than {_MOST_NESTED} commands start each other")
        is_path = "/" in command
        name = command.rstrip("/").rpartition("/")[2] if is_path else command
        match = self._listed.table.find(name, words)
        if match is not None:
            found = self._read_listed(match, command, name, words, at)
        elif is_path:
            found = Reading(files=tuple(_written(words)), profile=Profile.WRITE)
        else:
            found = _read_unlisted(name, words, self._listed.unlisted)
        if is_path:
            found = _as_own_program(command, found, is_known=match is not None)
        found = found._replace(programs=(command, *found.programs))
        further = self._listed.further_table.find(name, words)
        if further is None:
            return found
        # A project's file tightens: what it says of a command is asked about before it runs.
        findings = tuple(_concerns(further, name, words[further.start :]))
        return found._replace(
            findings=(*found.findings, *findings), rehearses=found.rehearses and not findings
        )

    def _read_listed(
        self, match: Match, command: str, name: str, words: Sequence[str], at: int
    ) -> Reading:
        rule, start = match.rule, match.start
        if rule.risk is RiskLevel.FORBIDDEN:
            return Reading(tuple(_concerns(match, name, ())), rehearses=False)
        parts = _split(rule.runs, words[start:])
        findings = [*_base_concerns(match, name, words[:start])]
        findings += _concerns(match, name, parts.own)
        inner = [
            self._read_inner(parts, argv, at + 1 + start + offset)
            for argv, offset in zip(parts.inner, parts.offsets, strict=True)
        ]
        changes = worst(findings) > RiskLevel.LOW
        files = [*_files(rule, parts, written=changes)]
        findings += filter(None, (refuse_shell_syntax(one.word) for one in files if one.certain))
        kind = self._kind(match, command, name, words, parts, files)
        own = Reading(
            tuple(findings),
            tuple(files),
            kind,
            _profile(rule, changes=changes),
            _additions(match, parts, at + 1),
            scripts=(*filter(None, [parts.script]), *rule.obeys),
            starts_others=rule.runs is not None and not parts.script,
            networks=(name,) if rule.is_networked else (),
            account=name if self._signs_in(match) else "",
            class_words=_READS.format(name) if self._only_reads(match, kind) else "",
            listens=_listens(rule.runs, parts),
            rehearses=rule.need is None,
        )
        return total([own, *inner])

    def _only_reads(self, match: Match, kind: object) -> bool:
        return kind is not None and self._signs_in(match) and match.rule.risk is RiskLevel.MEDIUM

    def _signs_in(self, match: Match) -> bool:
        """Only what stands first on the line, and with a subcommand that no flag has taken."""
        return match.rule.need is Need.ACCOUNT and self._depth + match.subcommand_at == 0

    def _read_inner(self, parts: _Parts, argv: Sequence[str], at: int) -> Reading:
        read = _Reader(self._listed, self._depth + 1).read(argv, at)
        if not parts.module:
            return read
        # Words are added behind a program's name, and a module has none on the line.
        read = read._replace(additions=())
        if read.profile is not Profile.NET or parts.module in PYTHON_TOOLS:
            return read
        reason = f"runs a module {shown(parts.module)}, which may come from the workspace"
        finding = Finding("command.module", reason, RiskLevel.HIGH)
        return read._replace(findings=(*read.findings, finding), profile=Profile.WRITE, networks=())

    def _kind(
        self,
        match: Match,
        command: str,
        name: str,
        words: Sequence[str],
        parts: _Parts,
        files: Sequence[FileWord],
    ) -> tuple[str, ...] | None:
        """The command with its subcommand, and with its third word where the table knows those."""
        if any(ADDRESS.match(file.word) for file in files):
            return None
        # A folder that is installed runs its own code, with the network open.
        if match.rule.is_networked and any(_FOLDER.match(file.word) for file in files):
            return None
        # A flag in front may have taken the word that looks like the subcommand.
        if match.rule is match.base and match.subcommand_at:
            return None
        if parts.module:
            return (command, "-m", parts.module)
        if match.rule.runs is not None:
            return None
        kind, has_more = [name], self._listed.table.has_subcommands
        behind = words[match.subcommand_at :] if match.subcommand else ()
        for word in behind:
            if not has_more(" ".join(kind)) or word.startswith("-"):
                break
            kind.append(word)
        if not all(map(_PLAIN.fullmatch, kind)):
            return None
        return (command, *kind[1:])


def _read_unlisted(name: str, words: Sequence[str], risk: RiskLevel) -> Reading:
    if why := builtin_reason(name):
        return refused("command.unlisted", f"Command not allowed: {shown(name)} {why}")
    if risk is RiskLevel.FORBIDDEN:
        reason = f"{shown(name)} has no rule, and this policy refuses commands without one"
        return refused("command.unlisted", f"Command not allowed: {reason}")
    finding = Finding("command.unlisted", f"{shown(name)} is not a command Handrail knows", risk)
    files = tuple(_written(words))
    return Reading((finding,), files, profile=Profile.WRITE)


def _as_own_program(command: str, found: Reading, *, is_known: bool) -> Reading:
    """A program called by its path, which is not sure to be the program the table describes."""
    is_outside = command.startswith("/") or ".." in command.split("/")
    where = "by its path" if is_outside else "from this folder, which agents can change"
    # Without its credential it could still carry something to the hosts of that account.
    risk = RiskLevel.HIGH if found.account else RiskLevel.MEDIUM
    finding = Finding("command.workspace", f"runs {shown(command)} {where}", risk)
    program = FileWord(command, written=False, is_program=True)
    return found._replace(
        findings=(finding, *found.findings),
        files=(program, *(file._replace(written=True) for file in found.files)),
        # What has the network is not trusted for a program that agents can exchange.
        kind=found.kind if is_known and found.profile is not Profile.NET else None,
        profile=Profile.WRITE if found.profile is Profile.READ else found.profile,
        account="",
        class_words="",
        additions=(),
        scripts=(command, *found.scripts),
    )


def _concerns(match: Match, name: str, words: Sequence[str]) -> Iterator[Finding]:
    rule = match.rule
    title = name if rule is match.base else f"{name} {match.subcommand}"
    if rule.risk is RiskLevel.FORBIDDEN:
        yield _not_allowed(f"{title} {rule.reason}").by(rule.layer)
        return
    yield from _refusals(rule, title, words)
    if rule.risk > RiskLevel.LOW:
        yield Finding(_rule_of(name), f"{title} {rule.reason}", rule.risk).by(rule.layer)
    yield from _questions(rule, name, title, words)


def _base_concerns(match: Match, name: str, words: Sequence[str]) -> Iterator[Finding]:
    """What the rule of the bare command says about flags in front of the subcommand."""
    if match.rule is not match.base:
        flags = [word for word in words if word.startswith("-") and word != match.subcommand]
        yield from _refusals(match.base, name, flags)
        yield from _questions(match.base, name, name, flags)


def _refusals(rule: CommandRule, title: str, words: Sequence[str]) -> Iterator[Finding]:
    for word, reason in _found(rule.refuses, words):
        yield _not_allowed(f"{title} {shown(word)} {reason}").by(rule.layer)


def _questions(rule: CommandRule, name: str, title: str, words: Sequence[str]) -> Iterator[Finding]:
    for word, reason in _found(rule.asks, words):
        told = f"{title} {shown(word)} {reason}"
        yield Finding(_rule_of(name), told, RiskLevel.HIGH).by(rule.layer)


def _found(reasons: WordReasons, words: Sequence[str]) -> Iterator[tuple[str, str]]:
    if reasons:
        for word in words:
            if (reason := reasons.find(word)) is not None:
                yield word, reason


def _not_allowed(reason: str) -> Finding:
    return forbidden("command.forbidden", f"Command not allowed: {reason}")


def _rule_of(name: str) -> str:
    return f"command.{name}"


def _split(runs: Runs | None, words: Sequence[str]) -> _Parts:
    if runs is None:
        return _Parts(words)
    if runs.after:
        return _split_after(runs, words)
    at = 0
    while at < len(words):
        word = words[at]
        if runs.module and word == runs.module and at + 1 < len(words):
            return _Parts(words[:at], [words[at + 1 :]], [at + 1], module=words[at + 1])
        if runs.script and word == "-":
            return _Parts(words)  # The script comes from its standard input.
        if word in runs.values:
            at += 1
        elif not word.startswith("-") and not ASSIGNMENT.fullmatch(word):
            break
        at += 1
    if runs.script and at < len(words):
        return _Parts(words[:at], script=words[at], rest=words[at + 1 :])
    if runs.operands is None or at + runs.operands >= len(words):
        return _Parts(words)
    start = at + runs.operands
    return _Parts(words[:start], [words[start:]], [start])


def _split_after(runs: Runs, words: Sequence[str]) -> _Parts:
    """Commands behind flags such as find's `-exec`, each up to `;` or `+`."""
    inner: list[Sequence[str]] = []
    offsets: list[int] = []
    for at, word in enumerate(words):
        if word in runs.after:
            behind = words[at + 1 :]
            ends = (place for place, one in enumerate(behind) if one in (";", "+"))
            if argv := behind[: next(ends, len(behind))]:
                inner.append(argv)
                offsets.append(at + 1)
    return _Parts(words, inner, offsets)


def _files(rule: CommandRule, parts: _Parts, *, written: bool) -> Iterator[FileWord]:
    """Words that may name a file."""
    if parts.script:
        yield FileWord(parts.script, written)
        yield from _written(parts.rest)
    if rule.text is Text.ALL:
        return
    brought = any(word.partition("=")[0] in _BRING_TEXT for word in parts.own)
    is_text, follows_flag, flags_end = rule.text is Text.FIRST and not brought, False, False
    for before, word in zip(("", *parts.own), parts.own, strict=False):
        is_flag = word.startswith("-") and word != "-" and not flags_end
        if is_flag:
            if rule.text is Text.TESTS and len(word) > len("-H"):
                return
            flags_end = word == "--"
            yield FileWord(word, written, certain=False)
        elif is_text and not (follows_flag and word.isdecimal()):
            is_text = False
        elif rule.text is not Text.FIRST or before not in _BRING_TEXT[:3]:
            # Behind `--`, a word with a dash names a file.
            name = f"./{word}" if flags_end and word.startswith("-") else word
            yield FileWord(name, written, certain=not follows_flag)
        follows_flag = is_flag and "=" not in word and not flags_end


def _written(words: Sequence[str]) -> Iterator[FileWord]:
    for word in words:
        yield FileWord(word, written=True, certain=not word.startswith("-"))


def _profile(rule: CommandRule, *, changes: bool) -> Profile:
    if rule.is_networked:
        return Profile.NET
    return Profile.WRITE if changes else Profile.READ


def _additions(match: Match, parts: _Parts, at: int) -> tuple[Addition, ...]:
    """Words that go right behind the name, with its subcommand."""
    if parts.module in PYTHON_TOOLS:
        return (Addition(at, (_ISOLATED,)),)
    return (Addition(at + match.start, match.rule.adds),) if match.rule.adds else ()


def _listens(runs: Runs | None, parts: _Parts) -> bool:
    return runs is not None and runs.script and not parts.module and parts.script in ("", "-")

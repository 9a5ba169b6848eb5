"""Commands as words: may this program be started with these arguments, and how risky is it?

Only the words are judged, without a look at the disk. The executor resolves names and links at the
moment of use, and the kernel holds what the words allow.
"""

import hashlib
import os.path
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from handrail.core.audit import canonical
from handrail.core.box import Profile
from handrail.core.grant import CallClass
from handrail.core.risk import Finding, RiskLevel, forbidden, worst
from handrail.core.sight import fact_of
from handrail.core.stage import Stage
from handrail.core.visible import is_misleading
from handrail.policy.rulebook.command_line import read_line
from handrail.policy.rulebook.reading import FileWord, Reading, in_full, shown
from handrail.policy.rulebook.rules import Rules, default_rules
from handrail.policy.validators.paths import NOT_UTF8, PathValidator, plain

MAX_ARGS = 1_000
MAX_ARG_BYTES = 100_000
MAX_ALL_CHARS = 1_000_000
# More than this is not read before a lasting yes.
_MOST_CHARS_OF_CLASS = 400
_OTHER_FILES = " (other files it loads may change)"
_DEVICES = frozenset(["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/zero"])
SPELLING_RULES = ("path.spelling", "path.boundary")

UNBOXED = Finding(
    "command.unboxed",
    "no box has been proven to work on that machine, so every command asks; `handrail doctor` "
    "says why",
    RiskLevel.HIGH,
)


class _Placed(NamedTuple):
    """A command line and the validator of the folder it really works in."""

    validator: "CommandValidator"
    command: str
    args: Sequence[str]


@dataclass(frozen=True, slots=True)
class CommandValidator:
    """Judges commands that would run in one workspace, in a folder below its root."""

    root: str
    rules: Rules = field(default_factory=default_rules)
    folder: str = "."

    def validate_command(self, command: str, args: Sequence[str] = ()) -> list[Finding]:
        """Every concern about a command; an empty list means that it only reads."""
        if findings := _check_spelling(command, args):
            return findings
        own, command, args = self._placed(command, args)
        return own._judge(own._read(command, args))

    def stage_of(self, command: str, args: Sequence[str] = ()) -> Stage:
        """The program to run, with the words that Handrail adds."""
        own, command, args = self._placed(command, args)
        reading = own._read(command, args)
        words = [path for word in reading.argv[1:] for path in _paths_in(word)]
        return Stage(
            reading.argv,
            reading.profile,
            folder=own.folder,
            obeys=own.paths_of(reading.scripts),
            named=own.paths_of(words),
            programs=reading.programs,
            networks=tuple(dict.fromkeys(reading.networks)),
            account=reading.account,
        )

    def rehearses(self, command: str, args: Sequence[str] = ()) -> bool:
        """Whether it can be tried first where it has no effect."""
        own, command, args = self._placed(command, args)
        return own._read(command, args).rehearses

    def class_of(self, command: str, args: Sequence[str] = ()) -> CallClass | None:
        """The class of calls that a person may let pass; None where the words say too little.

        The box is part of it, and so is the content of the files it runs. It reaches from a command
        with its subcommand to any further words; else, to nothing but the very same words.
        """
        if _check_spelling(command, args):
            return None
        own, command, args = self._placed(command, args)
        return own._class_of(command, args)

    def _class_of(self, command: str, args: Sequence[str]) -> CallClass | None:
        reading = self._read(command, args)
        if worst(self._judge(reading)) >= RiskLevel.HIGH:
            return None
        stage = self.stage_of(command, args)
        paths = stage.obeys
        bound = tuple(map(fact_of, paths))
        until = f", until {_listed(paths)} changes" if paths else ""
        until += _OTHER_FILES if paths and reading.profile is not Profile.READ else ""
        if reading.class_words:
            words = reading.class_words
            return CallClass(f"command:{reading.profile}:={words}", f"{words}{until}", bound)
        if reading.kind is not None:
            words = " ".join(map(in_full, reading.kind))
            return CallClass(f"command:{reading.profile}:{words}", f"{words} …{until}", bound)
        if not paths or reading.profile is Profile.NET or reading.starts_others:
            return None
        words = " ".join(map(in_full, (command, *args)))
        if len(words) > _MOST_CHARS_OF_CLASS:
            return None
        same = hashlib.sha256(canonical([self.folder, reading.argv]).encode()).hexdigest()
        where = "" if self.folder == "." else f" in {in_full(self.folder)}"
        return CallClass.exactly(f"{reading.profile}:{same}", f"`{words}`{where}{until}", bound)

    def files_of(self, command: str, args: Sequence[str] = ()) -> list[tuple[str, bool]]:
        """Paths inside the workspace that it may open, from the root, and whether to change them.

        Many are no files at all: a word that may name one is taken to do so. The programs are not
        among them.
        """
        own, command, args = self._placed(command, args)
        found: dict[str, bool] = {}
        for file in own._read(command, args).files:
            if file.is_program:
                continue
            for path in filter(None, map(own._inside, _paths_in(file.word))):
                found[path] = found.get(path, False) or file.written
        return list(found.items())

    def programs_of(self, command: str, args: Sequence[str] = ()) -> list[str]:
        """Programs of the workspace that it names by their paths, from the root."""
        own, command, args = self._placed(command, args)
        words = [file.word for file in own._read(command, args).files if file.is_program]
        return list(dict.fromkeys(filter(None, map(own._inside, words))))

    def listens(self, command: str, args: Sequence[str] = ()) -> bool:
        """Whether it would run as code what a pipe gives it."""
        return self._read(command, args).listens

    def paths_of(self, words: Iterable[str]) -> tuple[str, ...]:
        """The words that lead to a place in the workspace, as plain paths from its root."""
        found = (plain(path) for path in map(self._inside, words) if path is not None)
        return tuple(dict.fromkeys(found))

    def _placed(self, command: str, args: Sequence[str]) -> _Placed:
        """`git -C FOLDER …` works in that folder, and is judged there."""
        if command != "git" or len(args) < 2 or args[0] != "-C":
            return _Placed(self, command, args)
        path = self._inside(args[1])
        if path is None or PathValidator(self.root, self.rules).validate_path(path):
            return _Placed(self, command, args)
        return _Placed(replace(self, folder=os.path.normpath(path)), command, args[2:])

    def _read(self, command: str, args: Sequence[str]) -> Reading:
        return read_line(self.rules.command_list, [command, *args])

    def _judge(self, reading: Reading) -> list[Finding]:
        findings = [*reading.findings]
        for file in dict.fromkeys(reading.files):
            findings += self._check_file(file)
        for program in reading.programs:
            if program.rpartition("/")[2] in _DELETERS:
                findings += self._check_workspace_itself(program, reading)
        return list(dict.fromkeys(findings))

    def _check_file(self, file: FileWord) -> Iterator[Finding]:
        """A protected file is refused; a path outside the workspace takes the box to hold it."""
        paths = PathValidator(self.root, self.rules)
        if len(file.word) == 1 and not file.certain:
            return  # A separator, as in `sort -t /`.
        for path in map(self._in_folder, _paths_in(file.word)):
            if path in _DEVICES:
                continue
            findings = paths.validate_path(path, writing=file.written)
            place, more = paths.find_beside(path), "; commands see little of what lies there"
            if place is not None:
                more = ""
                findings = (
                    findings if file.written else self.rules.judge_path(place.rest, writing=False)
                )
            for finding in findings:
                if finding.rule not in SPELLING_RULES:
                    if file.certain:
                        yield finding
                    elif file.written or ":" in file.word:
                        # No box hides what git keeps of a file, as in `HEAD:.env`.
                        yield replace(finding, risk=RiskLevel.HIGH)
                elif _leads_out(path):
                    yield Finding("command.outside", finding.reason + more, RiskLevel.HIGH)

    def _check_workspace_itself(self, program: str, reading: Reading) -> Iterator[Finding]:
        for word in filter(None, reading.argv[reading.argv.index(program) + 1 :]):
            path = self._from_root(self._in_folder(word))
            if path is not None and plain(path) == "." and not word.startswith("-"):
                reason = f"Command not allowed: {program} would delete the whole workspace"
                yield forbidden("command.forbidden", reason)

    def _in_folder(self, path: str) -> str:
        is_there = self.folder == "." or path.startswith(("/", "~"))
        return path if is_there else f"{self.folder}/{path}"

    def _inside(self, word: str) -> str | None:
        """Where a word leads from the root, if that is inside the workspace."""
        path = self._in_folder(word)
        paths = PathValidator(self.root, self.rules)
        if path.startswith("~") or not path or paths.validate_workspace_boundary(path):
            return None
        return self._from_root(path)

    def _from_root(self, path: str) -> str | None:
        """A path below the root with every part it has: links make `a/../b` something else."""
        if not path.startswith("/"):
            return path
        root = [part for part in self.root.split("/") if part]
        parts = [part for part in path.split("/") if part not in ("", ".")]
        return "/".join(parts[len(root) :]) or "." if parts[: len(root)] == root else None


_DELETERS = frozenset(["rm", "rmdir", "shred", "trash"])


# A path can stand behind each of these.
_HOLDS_MORE = re.compile("[@:=]")


def _leads_out(path: str) -> bool:
    return path.startswith(("/", "~")) or ".." in path.split("/")


def _listed(paths: Sequence[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    *others, last = map(in_full, paths)
    return f"{', '.join(others)} or {last}" if others else last


def _paths_in(word: str) -> Iterator[str]:
    """A word, and the paths that programs find in one: `--to=x`, `key=x`, `@x`, `HEAD:x`."""
    if not word.startswith("-"):
        yield word
        if not _HOLDS_MORE.search(word):
            return
    behind = word.partition(":")[2]
    colons = dict.fromkeys((behind, behind.partition(":")[2], behind.rpartition(":")[2]))
    hidden = [word.partition("=")[2], *colons]
    if word.startswith("@"):
        hidden.append(word[1:])
    # A value right behind its letter: `-I/usr/include`, but not the separator in `cut -d/`.
    if word.startswith("-") and not word.startswith("--") and len(word) > len("-d/"):
        hidden.append(word[2:])
    # Behind the colon of an address stands no path of this machine.
    yield from (path for path in hidden if path and not path.startswith("//"))


def _check_spelling(command: str, args: Sequence[str]) -> list[Finding]:
    rule = "command.spelling"
    if not command.strip():
        return [forbidden(rule, "the command is empty")]
    if len(args) > MAX_ARGS:
        return [forbidden(rule, f"{len(args):,} arguments are more than the {MAX_ARGS:,} allowed")]
    size = sum(map(len, args))
    if size > MAX_ALL_CHARS:
        return [forbidden(rule, f"{size:,} characters are more than the {MAX_ALL_CHARS:,} allowed")]
    if size <= MAX_ARG_BYTES and _is_plain("".join((command, *args))):
        return []
    for word in (command, *args):
        if why := _what_is_wrong_with(word):
            return [forbidden(rule, why)]
    return []


def _is_plain(text: str) -> bool:
    """Most words are: as many bytes as characters, and all of them visible."""
    return len(text) <= MAX_ARG_BYTES and text.isascii() and text.isprintable()


def _what_is_wrong_with(word: str) -> str | None:
    try:
        size = len(word.encode(errors="surrogateescape"))
    except UnicodeEncodeError:
        return f"{shown(word)} contains characters that an argument cannot contain"
    if size > MAX_ARG_BYTES:
        return f"an argument of {size:,} bytes is more than the {MAX_ARG_BYTES:,} allowed"
    if is_misleading(word, keep=f"\n\t{NOT_UTF8}"):
        return f"{shown(word)} contains control or invisible characters"
    return None

"""Commands as words: may this program be started with these arguments, and how risky is it?

Only the words are judged, without a look at the disk. Which file a name means, and what a link
leads to, is the executor's matter, at the moment of use.
"""

import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from handrail.core.audit import canonical
from handrail.core.box import Profile
from handrail.core.grant import CallClass
from handrail.core.risk import Finding, RiskLevel, forbidden, worst
from handrail.core.sight import NAMED_FILES, fact_of, run_by_fact_of
from handrail.core.stage import NamedFile, Stage
from handrail.policy.rulebook.command_line import read_line
from handrail.policy.rulebook.modules import is_of_several
from handrail.policy.rulebook.reading import FileWord, Reading, in_full, shown
from handrail.policy.rulebook.rules import Rules, default_rules
from handrail.policy.rulebook.writes import judge_write
from handrail.policy.validators.paths import PathValidator, plain

MAX_ARGS = 1_000
MAX_ARG_BYTES = 100_000
MAX_ALL_CHARS = 1_000_000
MAX_WRITTEN_CHARS = 10_000
# More than that nobody reads before saying yes to it for good.
_MOST_CHARS_OF_CLASS = 400
_UNSEEN = {"Cc", "Cf", "Zl", "Zp"}
_UNKNOWN_KIND = "write.unknown-kind"
_LAYOUT = {"\n", "\t"}
_WHATEVER_IT_LOADS = " (other files it loads may change)"
_LEADS_OUT = re.compile(r"[/~]|(?:.*/)?\.\.(?:/|\Z)", re.DOTALL)

UNBOXED = Finding(
    "command.unboxed",
    "no box is proven on that machine, so every command asks; `handrail doctor` says why",
    RiskLevel.HIGH,
)


@dataclass(frozen=True, slots=True)
class CommandValidator:
    """Judges commands that would run in one workspace, in a folder below its root."""

    root: str
    rules: Rules = field(default_factory=default_rules)
    folder: str = "."

    def validate_command(self, command: str, args: Sequence[str] = ()) -> list[Finding]:
        """Every concern about a command; an empty list means that it can only look."""
        if findings := _check_spelling(command, args):
            return findings
        return self._judge(read_line(self.rules.command_list, [command, *args]))

    def stage_of(
        self, command: str, args: Sequence[str] = (), patterns: Collection[str] = ()
    ) -> Stage:
        """What runs once nobody objects: the words as given, and those that we add ourselves.

        `patterns` are those of the words that stand for files.
        """
        reading = read_line(self.rules.command_list, [command, *args])
        scripts = [
            NamedFile(path, is_pattern=is_pattern, is_program=_is_own(word, reading.programs))
            for word in reading.scripts
            if not _is_within(word, patterns) and (path := self._plain_path(word)) is not None
            for is_pattern in [_is_pattern(word, patterns)]
        ]
        return Stage(
            reading.argv,
            reading.profile,
            folder=self.folder,
            scripts=tuple(dict.fromkeys(scripts)),
            named=self._named_in(reading, {script.path for script in scripts}, patterns),
            loads=reading.loads,
            programs=reading.programs,
            networks=tuple(dict.fromkeys(reading.networks)),
        )

    def class_of(self, command: str, args: Sequence[str] = ()) -> CallClass | None:
        """What a person may let pass; None where its words say too little of what would happen.

        The box is part of it, and so is what the files hold that it runs. It reaches from a command
        with its subcommand to any words behind that; where that would be too much, to nothing but
        the very same words.
        """
        if _check_spelling(command, args):
            return None
        reading = read_line(self.rules.command_list, [command, *args])
        if worst(self._judge(reading)) >= RiskLevel.HIGH:
            return None
        stage = self.stage_of(command, args)
        paths = list(dict.fromkeys(script.path for script in stage.scripts))
        bound = tuple(fact for script in stage.scripts for fact in _facts_of(script))
        is_whole = len(paths) == len(set(reading.scripts)) and reading.profile is not Profile.NET
        if reading.kind is None and not (paths and is_whole and reading.says_all):
            return None
        until_changed = f", until {_listed(paths)} changes" if paths else ""
        until_changed += _WHATEVER_IT_LOADS if paths and stage.loads else ""
        if reading.kind is not None:
            words = " ".join(reading.kind)
            key = f"command:{reading.profile}:{words}"
            return CallClass(key, f"{words} …{until_changed}", bound)
        words = " ".join(map(in_full, (command, *args)))
        where = "" if self.folder == "." else f" in {in_full(self.folder)}"
        if len(words) > _MOST_CHARS_OF_CLASS:
            return None
        same = hashlib.sha256(canonical([self.folder, reading.argv]).encode()).hexdigest()
        bound += (NAMED_FILES,) if stage.named else ()
        told = f"`{words}`{where}{until_changed}"
        return CallClass.exactly(f"{reading.profile}:{same}", told, bound)

    def files_of(self, command: str, args: Sequence[str] = ()) -> list[tuple[str, bool]]:
        """Paths that the command may open, as they lead from the root, and whether to change them.

        Many are no files at all: a word that may name one is taken to do so. The programs are not
        among them.
        """
        reading = read_line(self.rules.command_list, [command, *args])
        found: dict[str, bool] = {}
        for file in reading.files:
            if file.is_program:
                continue
            paths = map(self._in_folder, _paths_in(file.word))
            for path in filter(None, map(self._from_root, paths)):
                found[path] = found.get(path, False) or file.written
        return list(found.items())

    def _named_in(
        self, reading: Reading, scripts: Collection[str], patterns: Collection[str]
    ) -> tuple[NamedFile, ...]:
        """All other paths among the words of what does more than look, known as such or not."""
        if reading.profile is Profile.READ:
            return ()
        found: dict[NamedFile, None] = {}
        for word in reading.argv[1:]:
            for path in filter(None, map(self._plain_path, _paths_in(word))):
                if path not in scripts:
                    found[NamedFile(path, is_pattern=word in patterns)] = None
        return tuple(found)

    def programs_of(self, command: str, args: Sequence[str] = ()) -> list[str]:
        """Programs that it names by their paths, as those lead from the root."""
        reading = read_line(self.rules.command_list, [command, *args])
        words = [file.word for file in reading.files if file.is_program]
        paths = (self._from_root(self._in_folder(word)) for word in words)
        return list(dict.fromkeys(filter(None, paths)))

    def listens(self, command: str, args: Sequence[str] = ()) -> bool:
        """Whether it would run as code what a pipe hands to it."""
        return read_line(self.rules.command_list, [command, *args]).listens

    def hides_folder(self, command: str, args: Sequence[str], patterns: Collection[str]) -> bool:
        """Whether it runs or obeys files of a folder that only a pattern tells."""
        reading = read_line(self.rules.command_list, [command, *args])
        return any(_is_within(word, patterns) for word in reading.scripts)

    def new_files_of(self, command: str, args: Sequence[str] = ()) -> list[str]:
        """Words of the command at which it may put new files, so that their kind matters."""
        reading = read_line(self.rules.command_list, [command, *args])
        return [file.word for file in reading.files if file.by_kind]

    def targets_of(self, command: str, args: Sequence[str] = ()) -> list[str]:
        """Paths, as they lead from the root, at which or in which it may put new files."""
        words = self.new_files_of(command, args)
        paths = (
            self._from_root(self._in_folder(path)) for word in words for path in _paths_in(word)
        )
        return list(dict.fromkeys(filter(None, paths)))

    def path_of(self, word: str) -> str | None:
        """Where a word leads from the root, if it names a file; None where that is elsewhere."""
        return self._from_root(self._in_folder(word))

    def judge_landing(self, path: str, true_path: str) -> list[Finding]:
        """What a new file would be under its true name, where a link at `path` leads there."""
        return [
            replace(one, reason=f"{shown(path)} leads to {one.reason}")
            for one in self._check_kind(true_path, path.endswith("/"))
        ]

    def judge_brought(self, path: str) -> list[Finding]:
        """What a file of a folder would be that is put there as a whole; it is never refused."""
        found = PathValidator(self.root, self.rules).validate_path(path, writing=True)
        for rules in (self.rules.writes, self.rules.further_writes):
            found += _of_a_known_kind(judge_write(path, rules))
        return [replace(one, risk=min(one.risk, RiskLevel.HIGH)) for one in found]

    def judge_leading(
        self, command: str, args: Sequence[str], leading: Mapping[str, str]
    ) -> list[Finding]:
        """What new files would be under their true names, where links are `leading` there."""
        reading = read_line(self.rules.command_list, [command, *args])
        findings: list[Finding] = []
        for file in reading.files if leading else ():
            for path in map(self._in_folder, _paths_in(file.word) if file.by_kind else ()):
                true_path = leading.get(self._from_root(path) or "")
                if true_path is not None:
                    findings += self.judge_landing(path, true_path)
        return list(dict.fromkeys(findings))

    def _plain_path(self, word: str) -> str | None:
        """Where a word leads from the root, by its plain name; None where that is elsewhere."""
        path = self._from_root(self._in_folder(word))
        if path is None or path.startswith("~"):
            return None
        return plain(path)

    def _judge(self, reading: Reading) -> list[Finding]:
        findings = [*reading.findings]
        if why := _writes_too_much(reading.files):
            return [*findings, forbidden("command.spelling", why)]
        paths = PathValidator(self.root, self.rules)
        for file in dict.fromkeys(reading.files):
            findings += self._check_file(file, paths)
        return list(dict.fromkeys(findings))

    def _check_file(self, file: FileWord, paths: PathValidator) -> list[Finding]:
        findings: list[Finding] = []
        for path in map(self._in_folder, _paths_in(file.word)):
            if not file.written or _looks_like_a_path(path):
                findings += paths.validate_path(path, writing=file.written)
            if file.by_kind and not findings:
                findings += self._check_kind(paths.resolve_path(path), path.endswith("/"))
        return findings

    def _check_kind(self, path: str, is_folder: bool) -> list[Finding]:
        """What a file of this name would be, or else any file in a folder of this name."""
        findings: list[Finding] = []
        # Apart from each other: what a project says of the one hides nothing said of the other.
        for rules in (self.rules.writes, self.rules.further_writes):
            own = [] if is_folder else judge_write(path, rules)
            inside = judge_write(f"{path}/*", rules)
            findings += _of_a_known_kind(own) or _of_a_known_kind(inside)
        return findings

    def _in_folder(self, path: str) -> str:
        is_there = self.folder == "." or path.startswith(("/", "~"))
        return path if is_there else f"{self.folder}/{path}"

    def _from_root(self, path: str) -> str | None:
        """A path below the root with every part it has: links make `a/../b` something else."""
        if not path.startswith("/"):
            return path
        root = [part for part in self.root.split("/") if part]
        parts = [part for part in path.split("/") if part not in ("", ".")]
        return "/".join(parts[len(root) :]) or "." if parts[: len(root)] == root else None


def _is_within(word: str, patterns: Collection[str]) -> bool:
    return any(f"/{one.rstrip('/')}/" in f"/{word}" for one in patterns)


def _is_pattern(word: str, patterns: Collection[str]) -> bool:
    is_told = any(word == one or word.endswith(f"/{one}") for one in patterns)
    return is_told or is_of_several(word)


def _is_own(word: str, programs: Collection[str]) -> bool:
    """Whether this is one of the programs themselves, by its path in the workspace."""
    return "/" in word and word in programs


def _facts_of(script: NamedFile) -> Iterator[str]:
    yield fact_of(script.path)
    if script.is_program:
        yield run_by_fact_of(script.path)


def _listed(paths: Sequence[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    *others, last = map(in_full, paths)
    return f"{', '.join(others)} or {last}" if others else last


def _paths_in(word: str) -> Iterator[str]:
    """A word, and the paths that programs find in one: `--to=x`, `key=x`, `@x`, `HEAD:x`."""
    yield f"./{word}" if word.startswith("-") else word
    behind = word.partition(":")[2]
    colons = dict.fromkeys((behind, behind.partition(":")[2], behind.rpartition(":")[2]))
    hidden = [word.partition("=")[2], *colons]
    if word.startswith("@"):
        hidden.append(word[1:])
    if word.startswith("-") and not word.startswith("--"):
        hidden.append(word[2:])
    # Behind the colon of an address stands no path of this machine.
    yield from (path for path in hidden if path and not path.startswith("//"))


def _looks_like_a_path(word: str) -> bool:
    """Many words of commands that do more than look are prose; those are left alone."""
    if _LEADS_OUT.match(word):
        return True
    return word.isprintable() and "\\" not in word and word != ""


def _of_a_known_kind(findings: Iterable[Finding]) -> list[Finding]:
    """Most words are of no kind at all: folders, packages, branches."""
    return [finding for finding in findings if finding.rule != _UNKNOWN_KIND]


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
    """Most words are: as many bytes as characters, and all of them to be seen."""
    return len(text) <= MAX_ARG_BYTES and text.isascii() and text.isprintable()


def _writes_too_much(files: Iterable[FileWord]) -> str | None:
    size = sum(len(file.word) for file in files if file.by_kind)
    if size <= MAX_WRITTEN_CHARS:
        return None
    return f"{size:,} characters of file names are more than the {MAX_WRITTEN_CHARS:,} allowed"


def _what_is_wrong_with(word: str) -> str | None:
    try:
        size = len(word.encode(errors="surrogateescape"))
    except UnicodeEncodeError:
        return f"{shown(word)} holds characters that no argument can hold"
    if size > MAX_ARG_BYTES:
        return f"an argument of {size:,} bytes is more than the {MAX_ARG_BYTES:,} allowed"
    if not word.isprintable() and any(
        unicodedata.category(char) in _UNSEEN and char not in _LAYOUT for char in set(word)
    ):
        return f"{shown(word)} holds control or invisible characters"
    return None

"""What an archive would put into the workspace, judged name by name before it is unpacked."""

import hashlib
import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from handrail.core.errors import FileOperationError, PathValidationError
from handrail.core.hands import FileContent, Files
from handrail.core.risk import Finding, RiskLevel
from handrail.policy.rulebook.reading import shown
from handrail.policy.validators.commands import CommandValidator
from handrail.tools.command.archive_names import UnclearArchive, names_in_zip

_RULE = "command.landing"
_UNZIP, _ZIPFILE = "unzip", "zipfile"
UNPACKERS = frozenset({_UNZIP, _ZIPFILE})
_MOST_BYTES = 16_000_000
_MOST_NAMES = 6_000
_MOST_TOLD = 5
# None of them takes the next word for its value, but for a last `d`: that is the folder.
_PLAIN_FLAG = re.compile(r"-[abcCfjlLnopqtuvVz]*d?")
_ONLY_SHOWS = frozenset("clptz")
_HAS_PATTERN = re.compile(r"[*?\[]")
_ENDINGS = (".zip", ".ZIP")


@dataclass(frozen=True, slots=True)
class Unpacked:
    """What is to be said of what comes out of archives, and the marks of those by their paths."""

    findings: tuple[Finding, ...] = ()
    archives: tuple[tuple[str, str], ...] = ()


class _Order(NamedTuple):
    """Which archive is to be unpacked, and where to; None is the folder it is run in."""

    archive: str
    place: str | None
    without_folders: bool = False


async def look_at_archives(
    files: Files, validator: CommandValidator, command: str, args: Sequence[str]
) -> Unpacked:
    """Judge what an unpacker would write; high where nobody can tell what that is."""
    words = _own_words([command, *args])
    order = None if words is None else _read(*words)
    if order is None:
        return _unclear("nobody can tell from these words what is unpacked, and where to")
    if not order.archive:
        return Unpacked()
    path = validator.path_of(order.archive)
    place = validator.folder if order.place is None else validator.path_of(order.place)
    if path is None or place is None:
        return _unclear(f"{shown(order.archive)} is not unpacked within the workspace")
    try:
        there = await _contents(files, path)
    except (FileOperationError, PathValidationError) as error:
        return _unclear(f"nobody can tell what would be unpacked: {error}")
    if not there:
        return _unclear(
            f"{shown(order.archive)} is not there, so nobody can tell what it will hold"
        )
    findings = tuple(
        finding
        for one, content in there.items()
        for finding in _judge(validator, one, content, place, order)
    )
    marks = ((one, hashlib.sha256(content.data).hexdigest()) for one, content in there.items())
    return Unpacked(findings, tuple(marks))


def _unclear(reason: str) -> Unpacked:
    return Unpacked((Finding(_RULE, reason, RiskLevel.HIGH),))


def _own_words(words: Sequence[str]) -> tuple[str, Sequence[str]] | None:
    """The unpacker and the words behind it; None where several words could be its name."""
    at = [place for place, word in enumerate(words) if posixpath.basename(word) in UNPACKERS]
    return (posixpath.basename(words[at[0]]), words[at[0] + 1 :]) if len(at) == 1 else None


def _read(name: str, words: Sequence[str]) -> _Order | None:
    return _read_zipfile(words) if name == _ZIPFILE else _read_unzip(words)


def _read_zipfile(words: Sequence[str]) -> _Order | None:
    match words:
        case ["-l" | "--list" | "-t" | "--test" | "-c" | "--create", *_]:
            return _Order("", None)
        case ["-e" | "--extract", archive, place] if not _is_flag(archive) | _is_flag(place):
            return _Order(archive, place)
        case _:
            return None


def _read_unzip(words: Sequence[str]) -> _Order | None:
    letters: set[str] = set()
    operands: list[str] = []
    place: str | None = None
    rest = iter(words)
    for word in rest:
        if not _is_flag(word):
            operands.append(word)
            continue
        # Behind the archive, any other word with a dash is the name of something in it.
        if word not in ("-d", "-x") if operands else not _PLAIN_FLAG.fullmatch(word):
            return None
        letters |= {*word}
        if word.endswith("d"):
            folder = next(rest, None)
            if folder is None or _is_flag(folder) or place is not None:
                return None
            place = folder
    if not operands or not _ONLY_SHOWS.isdisjoint(letters):
        return _Order("", None)
    if _HAS_PATTERN.search(operands[0]):
        return None
    return _Order(operands[0], place, "j" in letters)


def _is_flag(word: str) -> bool:
    return word.startswith("-")


async def _contents(files: Files, path: str) -> dict[str, FileContent]:
    """The archive, under each of the names by which it is looked for."""
    folder = await files.check(posixpath.dirname(path) or ".", writing=False)
    start = posixpath.normpath(posixpath.join(folder, posixpath.basename(path)))
    found = {
        one: await files.find(await files.check(one, writing=False), max_bytes=_MOST_BYTES)
        for one in (start, *(f"{start}{end}" for end in _ENDINGS))
    }
    return {one: content for one, content in found.items() if content is not None}


def _judge(
    validator: CommandValidator, path: str, content: FileContent, place: str, order: _Order
) -> Iterator[Finding]:
    try:
        names = names_in_zip(content.data, most=_MOST_NAMES)
    except UnclearArchive as error:
        yield Finding(_RULE, f"{shown(path)} {error}", RiskLevel.HIGH)
        return
    told = 0
    for one in dict.fromkeys(one for name in names for one in _spellings(name, order)):
        for finding in validator.judge_brought(posixpath.normpath(posixpath.join(place, one))):
            told += 1
            yield finding
        if told >= _MOST_TOLD:
            return


def _spellings(name: str, order: _Order) -> Iterator[str]:
    """A name as it may come to lie there."""
    yield name
    if order.without_folders and not name.endswith("/"):
        yield posixpath.basename(name)

"""What a folder brings along that is copied or moved as a whole, judged name by name.

The words of the command name the folder alone, and what is in it could be a file of any kind.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence

from handrail.core.errors import FileOperationError, PathValidationError
from handrail.core.hands import EntryKind, Files
from handrail.core.pattern import NamePattern
from handrail.core.risk import Finding, RiskLevel
from handrail.policy.rulebook.reading import shown
from handrail.policy.validators.commands import CommandValidator

# They put whole folders where their words say.
MOVERS = frozenset({"cp", "mv"})
_RULE = "command.landing"
_MOST_NAMES = 6_000
_MOST_FOLDERS = 50
_MOST_TOLD = 5
_ANY = re.compile(r".*", re.DOTALL)
_BELOW = NamePattern((None, _ANY), (False, True))
_GIT = ".git"
# None of them takes the next word for its value, but for a `t` without more: that is the folder.
_PLAIN_FLAG = re.compile(
    r"-[abdfiHnpPrRTuvx]+|--(?:archive|recursive|force|verbose|no-clobber|no-target-directory|parents"
    r"|remove-destination|strip-trailing-slashes|(?:backup|preserve|reflink|update)(?:=.*)?"
    r"|(?:no-preserve|sparse|suffix)=.*)",
    re.DOTALL,
)
# It takes all folders in front of a name along.
_WITH_PARENTS = "--pa"
_INTO = re.compile(r"(?:-[abdfiHnpPrRTuvx]*t|--target-directory(?:=|\Z))(.*)", re.DOTALL)


async def look_at_contents(
    files: Files, validator: CommandValidator, args: Sequence[str], targets: Sequence[str]
) -> list[Finding]:
    """Judge what each folder would bring to where it is put, or may be, if that is not clear."""
    moved = _moved(args)
    sources, places = (targets, targets)
    if moved is not None:
        sources, places = (list(filter(None, map(validator.path_of, words))) for words in moved)
    findings: list[Finding] = []
    room = _MOST_NAMES
    for source in dict.fromkeys(sources):
        names = await _names_in(files, source)
        way = source if any(word.startswith(_WITH_PARENTS) for word in args) else ""
        landings = () if names is None else [*_landings(source, names, places, way)]
        room -= len(landings)
        if names is None or room < 0:
            reason = f"{shown(source)} holds more than can be judged name by name"
            return [*findings, Finding(_RULE, reason, RiskLevel.HIGH)]
        for path in landings:
            findings += validator.judge_brought(path) if len(findings) < _MOST_TOLD else ()
    return findings


def _moved(args: Sequence[str]) -> tuple[list[str], list[str]] | None:
    """What is put somewhere, and where; None where a flag may have taken a word for its value."""
    end = args.index("--") if "--" in args else len(args)
    operands: list[str] = []
    places: list[str] = []
    words = iter(args[:end])
    for word in words:
        if not word.startswith("-") or word == "-":
            operands.append(word)
        elif into := _INTO.fullmatch(word):
            places.append(into[1] or next(words, ""))
        elif not _PLAIN_FLAG.fullmatch(word):
            return None
    operands += args[end + 1 :]
    if len(places) > 1 or "" in places:
        return None
    return (operands, places) if places else (operands[:-1], operands[-1:])


def _landings(source: str, names: Sequence[str], places: Iterable[str], way: str) -> Iterator[str]:
    """Where what is in a folder may come to lie; of a `way`, any part may be taken along."""
    # Behind a last `.` stands whatever is in there.
    own = posixpath.basename(source.rstrip("/"))
    parts = [part for part in way.split("/") if part]
    ways = ["/".join(parts[at:]) for at in range(len(parts))]
    for place in places:
        for start in dict.fromkeys((place, posixpath.join(place, own))):
            if place != source:
                yield from (posixpath.normpath(posixpath.join(start, name)) for name in names)
        for name in ("", *names) if ways else ():
            yield from (posixpath.normpath(posixpath.join(place, way, name)) for way in ways)


async def _names_in(files: Files, source: str) -> list[str] | None:
    """All that is in a folder, by the way from it; None where that is too much."""
    names: list[str] = []
    todo = [source]
    while todo:
        if len(todo) > _MOST_FOLDERS:
            return None
        try:
            listing = await files.list(todo.pop(), _BELOW, most=_MOST_NAMES)
        except (FileOperationError, PathValidationError):
            # What may not even be read no box lets through.
            continue
        names += [posixpath.relpath(entry.path, source) for entry in listing.entries]
        is_cut = listing.skipped or not listing.whole or listing.total > len(listing.entries)
        if is_cut or len(names) > _MOST_NAMES:
            return None
        todo += [
            entry.path
            for entry in listing.entries
            if entry.kind is EntryKind.DIRECTORY and entry.name.startswith(".")
            if entry.name != _GIT
        ]
    return names

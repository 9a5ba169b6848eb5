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
# None of them takes the next word for its value.
_PLAIN_FLAG = re.compile(r"-[abdfiHnpPrRTuvx]+|--(?:archive|recursive|force|verbose|no-clobber)")


async def look_at_contents(
    files: Files, validator: CommandValidator, args: Sequence[str], targets: Sequence[str]
) -> list[Finding]:
    """Judge what each folder would bring to where it is put, or may be, if that is not clear."""
    operands = _operands(args)
    paths = [path for word in operands or () if (path := validator.path_of(word)) is not None]
    sources, places = (paths[:-1], paths[-1:]) if operands else (targets, targets)
    findings: list[Finding] = []
    room = _MOST_NAMES
    for source in dict.fromkeys(sources):
        names = await _names_in(files, source)
        landings = () if names is None else [*_landings(source, names, places)]
        room -= len(landings)
        if names is None or room < 0:
            reason = f"{shown(source)} holds more than can be judged name by name"
            return [*findings, Finding(_RULE, reason, RiskLevel.HIGH)]
        for path in landings:
            findings += validator.judge_brought(path) if len(findings) < _MOST_TOLD else ()
    return findings


def _operands(args: Sequence[str]) -> list[str]:
    """The words that are no flags; none where a flag may have taken one for its value."""
    end = args.index("--") if "--" in args else len(args)
    flags = [word for word in args[:end] if word.startswith("-") and word != "-"]
    if not all(map(_PLAIN_FLAG.fullmatch, flags)):
        return []
    return [word for word in args[:end] if word not in flags] + [*args[end + 1 :]]


def _landings(source: str, names: Sequence[str], places: Iterable[str]) -> Iterator[str]:
    # Behind a last `.` stands whatever is in there.
    own = posixpath.basename(source.rstrip("/"))
    for place in places:
        for start in dict.fromkeys((place, posixpath.join(place, own))):
            if place != source:
                yield from (posixpath.normpath(posixpath.join(start, name)) for name in names)


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

"""Where files really come to lie that a command puts into a folder: a link there leads elsewhere.

The words of a command name the folder. What is written has the name that it had before, or one
that nobody knows yet, and a program that finds a link of that name follows it.
"""

import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from handrail.core.box import Profile
from handrail.core.errors import FileOperationError, PathValidationError
from handrail.core.hands import EntryKind, Hands
from handrail.core.pattern import NamePattern
from handrail.core.risk import Finding, RiskLevel
from handrail.policy.rulebook.reading import shown
from handrail.policy.validators.commands import CommandValidator
from handrail.tools.command.archives import UNPACKERS, Unpacked, look_at_archives
from handrail.tools.command.contents import MOVERS, look_at_contents

_RULE = "command.landing"
_MOST_PAIRS = 4_000
_MOST_NAMES = 20_000
_MOST_FOLDERS = 50
_ANY = re.compile(r".*", re.DOTALL)
# Hidden names as well; hidden folders are looked into one by one.
_HERE = NamePattern((_ANY,), (True,))
_BELOW = NamePattern((None, _ANY), (False, True))
# They choose the names themselves, right there or anywhere below.
_CHOOSING = {"format-patch": _HERE, **dict.fromkeys(sorted(UNPACKERS), _BELOW)}
_GIT_PROGRAM = "git"
_INTO_EACH_OTHER = re.compile(r"-[A-Za-z]*T|--no-t")
_GIT = ".git"


@dataclass(frozen=True, slots=True)
class Landings:
    """Names by which files would come to lie elsewhere, and what is to be said of that.

    `brought` is what is to be said of that which whole folders or archives bring along; `archives`
    are the marks of the latter, by their paths.
    """

    leading: dict[str, str] = field(default_factory=dict[str, str])
    findings: tuple[Finding, ...] = ()
    brought: tuple[Finding, ...] = ()
    archives: tuple[tuple[str, str], ...] = ()


async def look_at_landings(
    hands: Hands, validator: CommandValidator, command: str, args: Sequence[str]
) -> Landings:
    """Look for links in the folders that a command is given to put files into."""
    look = _Look(hands, validator)
    targets = validator.targets_of(command, args)
    stage = validator.stage_of(command, args)
    named = {*stage.programs, *(args if _GIT_PROGRAM in stage.programs else ())}
    patterns = [
        pattern
        for name, pattern in _CHOOSING.items()
        if name in named and stage.profile is not Profile.READ
    ]
    # What is in a folder goes to what is in the other.
    patterns += [_BELOW] if targets and any(map(_INTO_EACH_OTHER.match, args)) else []
    folders = [path for path in targets if await look.is_folder(path)]
    for pattern in patterns:
        for folder in folders or [validator.folder]:
            await look.at_all_in(folder, pattern)
    if not patterns:
        await look.at_names(folders, targets)
    brought: list[Finding] = []
    programs = set(map(posixpath.basename, named))
    if not MOVERS.isdisjoint(programs):
        brought = await look_at_contents(hands.files, validator, args, targets)
    unpacked = Unpacked()
    if not UNPACKERS.isdisjoint(programs):
        unpacked = await look_at_archives(hands.files, validator, command, args)
    return Landings(
        look.leading,
        tuple(dict.fromkeys(look.findings)),
        (*brought, *unpacked.findings),
        unpacked.archives,
    )


class _Look:
    def __init__(self, hands: Hands, validator: CommandValidator):
        self._hands = hands
        self._validator = validator
        self.leading: dict[str, str] = {}
        self.findings: list[Finding] = []

    async def is_folder(self, path: str) -> bool:
        try:
            await self._hands.files.list(path, NamePattern((), ()), most=0)
        except (FileOperationError, PathValidationError):
            return False
        return True

    async def at_names(self, folders: Sequence[str], targets: Sequence[str]) -> None:
        """Each may come to lie in each, under its last name or with all folders in front of it."""
        if len(folders) * len(targets) > _MOST_PAIRS:
            self._note("it names too many files to look where each would come to lie")
            return
        for folder in folders:
            for path in targets:
                if path != folder:
                    # Behind a last `.` stands whatever is in there.
                    names = dict.fromkeys((posixpath.basename(path.rstrip("/")), path))
                    for name in names:
                        await self._at_name(posixpath.join(folder, name.lstrip("/")))

    async def _at_name(self, path: str) -> None:
        await self._follow(path)
        if path not in self.leading and await self.is_folder(path):
            await self.at_all_in(path, _BELOW)

    async def at_all_in(self, folder: str, pattern: NamePattern) -> None:
        todo = [folder]
        for count in range(_MOST_FOLDERS):
            if count == len(todo):
                return
            try:
                listing = await self._hands.files.list(todo[count], pattern, most=_MOST_NAMES)
            except (FileOperationError, PathValidationError):
                continue
            if listing.skipped or not listing.whole or listing.total > len(listing.entries):
                self._note(f"{shown(folder)} holds more than can be looked through for links")
            await self._follow_all(
                entry.path for entry in listing.entries if entry.kind is EntryKind.LINK
            )
            if pattern is _BELOW:
                todo += [
                    entry.path
                    for entry in listing.entries
                    if entry.kind is EntryKind.DIRECTORY
                    and entry.name.startswith(".")
                    and entry.name != _GIT
                ]
        self._note(f"{shown(folder)} holds more than can be looked through for links")

    async def _follow_all(self, paths: Iterable[str]) -> None:
        for path in paths:
            # What may not even be read no box lets through.
            try:
                await self._hands.files.check(path, writing=False)
            except PathValidationError:
                continue
            await self._follow(path)

    async def _follow(self, path: str) -> None:
        try:
            true_path = await self._hands.files.check(path, writing=True)
        except PathValidationError as error:
            self._note(f"{shown(path)} would be written: {error}")
            return
        if posixpath.normpath(true_path) != posixpath.normpath(path):
            self.leading[path] = true_path
            self.findings += self._validator.judge_landing(path, true_path)

    def _note(self, reason: str) -> None:
        self.findings.append(Finding(_RULE, reason, RiskLevel.HIGH))

"""Files that the settings of a repository name for git to read: those of its workspace alone.

What git reads there it may print, if only to say that it does not understand it.
"""

import os
import re

from handrail.core.errors import CommandExecutionError
from handrail.core.stage import Stage
from handrail.core.visible import visible
from handrail.executors.git.settings import Pairs
from handrail.executors.repository.places import is_among, place_of

# Of these the last one named is read.
_ONE = re.compile(
    r"(?:core\.excludesfile|mailmap\.file|diff\.orderfile|commit\.template|format\.signaturefile"
    r"|gpg\.ssh\.(?:allowedsigners|revocation)file)"
)
# Of these all are read that are named, by some commands.
_ALL = {
    "blame.ignorerevsfile": frozenset({"annotate", "blame"}),
    "fsck.skiplist": frozenset({"fsck"}),
    "fetch.fsck.skiplist": frozenset({"clone", "fetch", "pull", "submodule"}),
}
# The home of somebody, where git itself is kept, and what may or may not be there.
_SPECIAL = ("~", "%(", ":(")


def without_files_elsewhere(root: str, stage: Stage, settings: Pairs) -> Pairs:
    """What takes the place of settings that name a file elsewhere.

    Raises:
        CommandExecutionError: Nothing can take the place of one.
    """
    place = place_of(root, stage.folder)
    naming = [pair for pair in settings if pair[0] in _ALL or _ONE.fullmatch(pair[0])]
    elsewhere = [(name, path) for name, path in naming if not _is_here(root, place, path)]
    for name, path in elsewhere:
        if not _ALL.get(name, frozenset[str]()).isdisjoint(stage.argv):
            raise CommandExecutionError(
                f"the setting {name} of this repository makes git read a file outside the "
                f"workspace ({visible(path)}); name one inside it, or remove the setting"
            )
    return [(name, os.devnull) for name, _ in elsewhere if _ONE.fullmatch(name)]


def _is_here(root: str, place: str, path: str) -> bool:
    if not path or path.startswith(_SPECIAL):
        return not path
    return is_among(os.path.realpath(os.path.join(place, path)), [root])

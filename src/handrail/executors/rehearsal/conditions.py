"""Whether one workspace can be rehearsed on, looked at before each rehearsal."""

import os
import re
from collections.abc import Iterator
from itertools import islice

from handrail.executors.rehearsal.attributes import names_others
from handrail.executors.sandbox.bubblewrap import HOME, TEMPORARY

# A look at so many names takes some milliseconds.
_MOST_ENTRIES = 2_000
_OCTAL = re.compile(r"\\([0-7]{3})")
_MOST_NAMED = 3


def why_not_here(root: str) -> str | None:
    """Why an overlay over this folder would show or do something else; None where it would not.

    Only the first level is looked at for files of others. Deeper ones are met while it runs.
    """
    if root in (TEMPORARY, HOME) or TEMPORARY.startswith(f"{root.rstrip('/')}/"):
        return f"the workspace is {root}, and commands have a {TEMPORARY} of their own"
    if below := sorted(_mounts_below(root)):
        return (
            f"another file system is mounted in the workspace, at {_listed(below)}, and an overlay"
            " would show an empty folder there"
        )
    if os.geteuid() == 0:
        return None  # Root knows everybody.
    seen = [(".", root), *_first_level(root)]
    own = (os.geteuid(), os.getegid())
    if others := [name for name, path in seen if _owner(path) != own]:
        return (
            f"{_listed(others)} in the workspace belongs to another user or group, and could not be"
            " written through an overlay"
        )
    if shared := [name for name, path in seen if names_others(path)]:
        return (
            f"{_listed(shared)} in the workspace has an access list that names other users or"
            " groups, and could not be written through an overlay"
        )
    return None


def _mounts_below(root: str) -> Iterator[str]:
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            at = _OCTAL.sub(lambda found: chr(int(found[1], 8)), line.split()[4])
            if at.startswith(f"{root}/"):
                yield os.path.relpath(at, root)


def _first_level(root: str) -> list[tuple[str, str]]:
    with os.scandir(root) as entries:
        first = islice(entries, _MOST_ENTRIES)
        return [(entry.name, entry.path) for entry in first if not entry.is_symlink()]


def _owner(path: str) -> tuple[int, int]:
    found = os.stat(path, follow_symlinks=False)
    return found.st_uid, found.st_gid


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:_MOST_NAMED])
    return shown if len(names) <= _MOST_NAMED else f"{shown} and {len(names) - _MOST_NAMED:,} more"

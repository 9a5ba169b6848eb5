"""Whether one workspace can be rehearsed on, looked at before each rehearsal."""

import os
import re
from collections.abc import Iterator

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
    if others := [*_foreign(root)]:
        return (
            f"{_listed(others)} in the workspace belongs to another user or group, and could not be"
            " written through an overlay"
        )
    return None


def _mounts_below(root: str) -> Iterator[str]:
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            at = _OCTAL.sub(lambda found: chr(int(found[1], 8)), line.split()[4])
            if at.startswith(f"{root}/"):
                yield os.path.relpath(at, root)


def _foreign(root: str) -> Iterator[str]:
    """Names on the first level whose owner or group is not ours; as root we know everybody."""
    if os.geteuid() == 0:
        return
    own = (os.geteuid(), os.getegid())
    count = 0
    if _owner(root) != own:
        yield "."
    with os.scandir(root) as entries:
        for entry in entries:
            count += 1
            if count > _MOST_ENTRIES:
                return
            if not entry.is_symlink() and _owner(entry.path) != own:
                yield entry.name


def _owner(path: str) -> tuple[int, int]:
    found = os.stat(path, follow_symlinks=False)
    return found.st_uid, found.st_gid


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:_MOST_NAMED])
    return shown if len(names) <= _MOST_NAMED else f"{shown} and {len(names) - _MOST_NAMED:,} more"

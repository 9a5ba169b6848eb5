"""A draft as a folder of read-only files: the workspace as the draft shows it, for a person."""

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

from handrail.core.effects import Effect
from handrail.core.errors import FileOperationError, StaleFileError
from handrail.core.files import EntryKind
from handrail.executors.drafts.summing import Summed
from handrail.executors.rehearsal.nodes import look
from handrail.executors.rehearsal.way import Way

# What belongs to the workspace alone: git's data and Handrail's.
_LEFT_OUT = (".git", ".handrail")
_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def copy_draft(summed: Summed, target: Path, is_guarded: Callable[[str], bool]) -> int:
    """Copy the workspace with what the draft changes to a new folder; the number of files.

    Git's data, Handrail's own and guarded files are left out, and so is what is no file, folder or
    link. Files, and no folders, are made read-only.

    Raises:
        FileOperationError: The target exists, or lies in the workspace.
        StaleFileError: The workspace was changed meanwhile.
        OSError: The disk refuses.
    """
    place = Path(os.path.realpath(target))
    if os.path.lexists(target) or place.is_relative_to(summed.root):
        raise FileOperationError(
            f"{target} must be a new folder that does not lie in the workspace"
        )
    changed = {change.path: change for change in summed.effects.changes}
    place.mkdir(0o700, parents=True)
    count = _copy_workspace(Path(summed.root), place, changed, is_guarded)
    with summed.opened() as (_, upper), Way(upper) as way:
        for change in sorted(changed.values(), key=lambda one: one.path):
            if change.after is not None and not _is_left_out(change.path, is_guarded):
                count += _put(way, change, place / change.path)
    return count


def _copy_workspace(
    root: Path, place: Path, changed: dict[str, Effect], is_guarded: Callable[[str], bool]
) -> int:
    count = 0
    for folder, folders, files in os.walk(root):
        here = Path(folder).relative_to(root)
        links = [name for name in folders if Path(folder, name).is_symlink()]
        folders[:] = [name for name in folders if name not in links]
        for names, is_folder in ((folders, True), ([*files, *links], False)):
            for name in [*names]:
                path = str(here / name)
                gone = path in changed and not (is_folder and _stays_folder(changed[path]))
                if gone or _is_left_out(path, is_guarded):
                    if is_folder:
                        folders.remove(name)
                elif is_folder:
                    (place / path).mkdir(0o700)
                else:
                    count += _copy(Path(folder, name), place / path)
    return count


def _stays_folder(change: Effect) -> bool:
    return change.after is not None and change.after.kind is EntryKind.DIRECTORY


def _is_left_out(path: str, is_guarded: Callable[[str], bool]) -> bool:
    return any(name in _LEFT_OUT for name in path.split("/")) or is_guarded(path)


def _copy(source: Path, target: Path) -> int:
    try:
        kind = stat.S_IFMT(source.lstat().st_mode)
        if kind not in (stat.S_IFREG, stat.S_IFLNK):
            return 0
        shutil.copy2(source, target, follow_symlinks=False)
    except FileNotFoundError as error:
        raise StaleFileError(f"{source} was changed meanwhile; try again") from error
    _protect(target)
    return 1


def _put(way: Way, change: Effect, target: Path) -> int:
    """Make what the draft has at a path."""
    node = change.after
    if node is None:
        return 0
    if node.kind is EntryKind.DIRECTORY:
        target.mkdir(0o700, exist_ok=True)
        return 0
    if look(way, change.path) != node:
        raise StaleFileError(f"{change.path} was changed meanwhile; try again")
    if node.kind is EntryKind.LINK:
        target.symlink_to(node.target)
        return 1
    folder_fd, name = way.folder_of(change.path)
    shutil.copy2(f"/proc/self/fd/{folder_fd}/{name}", target, follow_symlinks=False)
    _protect(target)
    return 1


def _protect(file: Path) -> None:
    if not file.is_symlink():
        file.chmod(stat.S_IMODE(file.stat().st_mode) & ~_WRITABLE)

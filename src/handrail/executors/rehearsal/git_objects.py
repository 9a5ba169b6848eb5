"""Putting checked objects into a repository, which only ever gains some."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from handrail.executors.files.rename import move_to_free_name
from handrail.executors.rehearsal.nodes import PIECE
from handrail.executors.rehearsal.way import LISTED, Way

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MODE = 0o444
# git finds a pack by its index, so the index comes last.
_INDEX = ".idx"


def take_in_objects(root_fd: int, git: str, source: Path) -> None:
    """Copy every object of a folder of ours into the repository `git`, unless it is there.

    Raises:
        OSError: The file system refused; some objects may have been copied, and nothing names them.
    """
    with Way(root_fd) as way:
        for path in sorted(_objects_in(source), key=lambda one: (one.suffix == _INDEX, one)):
            folder = f"{git}/objects/{path.parent.name}"
            objects_fd = way.folder(f"{git}/objects")
            with suppress(FileExistsError):
                os.mkdir(path.parent.name, dir_fd=objects_fd)
            fd = os.open(".", LISTED, dir_fd=way.folder(folder))
            try:
                _copy(path, fd)
            finally:
                os.close(fd)


def _objects_in(source: Path) -> Iterator[Path]:
    """The files that git has written there, but for its notes about other folders."""
    for folder in source.iterdir():
        if folder.name != "info" and folder.is_dir() and not folder.is_symlink():
            for path in folder.iterdir():
                if stat.S_ISREG(path.lstat().st_mode) and path.suffix in ("", ".pack", _INDEX):
                    yield path


def _copy(path: Path, folder_fd: int) -> None:
    if path.name in os.listdir(folder_fd):
        return
    # git removes what is left under such a name.
    aside = f"tmp_obj_{token_hex(8)}"
    with (
        os.fdopen(os.open(path, _READ), "rb") as file,
        os.fdopen(os.open(aside, _CREATE, _MODE, dir_fd=folder_fd), "wb") as copy,
    ):
        while piece := file.read(PIECE):
            copy.write(piece)
    try:
        move_to_free_name(folder_fd, aside, path.name, new_fd=folder_fd)
    except FileExistsError:
        os.unlink(aside, dir_fd=folder_fd)

"""Taking a file away from its place, for good or to another one.

As in `atomic`, what was taken is held against what was expected only then: a check before could be
too early. If it is something else, it is given back. No file is ever replaced.
"""

import errno
import os
import secrets
from contextlib import suppress

from handrail.core.errors import FileOperationError, StaleFileError
from handrail.core.files import FileState
from handrail.executors.files.atomic import look, stale, turn
from handrail.executors.files.place import Place
from handrail.executors.files.rename import move_to_free_name


def remove(place: Place, expected: FileState) -> None:
    """Remove the file at `place`.

    Raises:
        StaleFileError: What is there is not what was `expected`; it was left as it is.
    """
    aside = f".handrail-{secrets.token_hex(8)}"
    with turn:
        _take(place, place.folder_fd, aside)
        try:
            look(place, aside, expected)
        except BaseException:
            _give_back(place, place.folder_fd, aside)
            raise
        os.unlink(aside, dir_fd=place.folder_fd)
    place.sync()


def move(place: Place, into: Place, expected: FileState) -> None:
    """Give the file at `place` the name of `into`, whose folder is there.

    Raises:
        StaleFileError: What is there is not what was `expected`, or `into` is taken; both were left
            as they are.
    """
    with turn:
        try:
            _take(place, into.folder_fd, into.name)
        except FileExistsError as error:
            raise StaleFileError(f"{into.path} was created meanwhile") from error
        try:
            _check_moved(place, into, expected)
        except BaseException:
            _give_back(place, into.folder_fd, into.name)
            raise
    into.sync()
    place.sync()


def _take(place: Place, folder_fd: int, name: str) -> None:
    if place.missing:
        raise StaleFileError(f"{place.path} is gone")
    try:
        move_to_free_name(place.folder_fd, place.name, name, new_fd=folder_fd)
    except FileNotFoundError as error:
        raise StaleFileError(f"{place.path} is gone") from error
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        raise FileOperationError(
            f"{place.path} cannot be moved to another file system; use `mv` in run_bash"
        ) from error


def _check_moved(place: Place, into: Place, expected: FileState) -> None:
    try:
        look(into, into.name, expected)
    except StaleFileError as error:
        raise stale(place) from error


def _give_back(place: Place, folder_fd: int, name: str) -> None:
    # Where another file has taken the place by now, neither of both is lost.
    with suppress(FileExistsError, FileNotFoundError):
        move_to_free_name(folder_fd, name, place.name, new_fd=place.folder_fd)

"""Putting a file in place whole: who reads, and who crashes, meets the old one or the new one.

The new content is written next to the old under a name of its own; then the two exchange their
names. What came out is held against what was expected: if it is something else, the names are
exchanged back. So nothing is lost that nobody had seen, however close the race.
"""

import hashlib
import os
import secrets
import stat
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from handrail.core.errors import StaleFileError
from handrail.core.hands import FileState
from handrail.executors.files.place import Place
from handrail.executors.files.rename import exchange, move_to_free_name
from handrail.policy.validators.sizes import SizeLimiter

_ATTEMPTS = 5
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# Three writers that exchange and exchange back at once could mix up whose file is whose.
turn = threading.Lock()


def put(place: Place, data: bytes, expected: FileState | None) -> None:
    """Make `data` the content of the file at `place`, whose folder is there.

    Raises:
        StaleFileError: What is there is not what was `expected`; it was left as it is.
    """
    for _ in range(_ATTEMPTS - 1):
        try:
            return _put(place, data, expected)
        except StaleFileError:
            # Without an expectation it does not matter what came or went meanwhile.
            if expected is not None:
                raise
    return _put(place, data, expected)


def _put(place: Place, data: bytes, expected: FileState | None) -> None:
    old = look(place, place.name, expected)
    with _draft(place, data, old) as draft, turn:
        if old is None:
            _take_free_name(place, draft)
        else:
            _displace(place, draft, expected)
    place.sync()


@dataclass(slots=True)
class _Draft:
    """The new content under a passing name. While `foreign`, that name holds another's file."""

    name: str
    inode: int
    foreign: bool = False


@contextmanager
def _draft(place: Place, data: bytes, old: os.stat_result | None) -> Generator[_Draft]:
    name = f".handrail-{secrets.token_hex(8)}"
    # A new file gets what the user's mask leaves; one that replaces another starts closed.
    mode = 0o666 if old is None else 0o600
    fd = os.open(name, _CREATE, mode, dir_fd=place.folder_fd)
    draft = _Draft(name, os.fstat(fd).st_ino)
    try:
        try:
            _fill(fd, data, old)
        finally:
            os.close(fd)
        yield draft
    finally:
        if not draft.foreign:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=place.folder_fd)


def _fill(fd: int, data: bytes, old: os.stat_result | None) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]
    if old is not None:
        if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
            with suppress(PermissionError):
                os.fchown(fd, old.st_uid, old.st_gid)
        # Without the set-id bits: they were given to the old content, not to the new.
        os.fchmod(fd, old.st_mode & 0o777)
    os.fsync(fd)


def _take_free_name(place: Place, draft: _Draft) -> None:
    try:
        move_to_free_name(place.folder_fd, draft.name, place.name)
    except FileExistsError as error:
        raise StaleFileError(f"{place.path} was created meanwhile") from error


def _displace(place: Place, draft: _Draft, expected: FileState | None) -> None:
    try:
        exchanged = exchange(place.folder_fd, draft.name, place.name)
    except FileNotFoundError as error:
        raise stale(place) from error
    if not exchanged:
        _look_then_replace(place, draft, expected)
        return
    draft.foreign = True
    try:
        if look(place, draft.name, expected) is None:
            raise stale(place)
    except BaseException:
        _give_back(place, draft)
        raise
    draft.foreign = False


def _give_back(place: Place, draft: _Draft) -> None:
    try:
        exchange(place.folder_fd, draft.name, place.name)
    except FileNotFoundError:
        # Ours has been taken away already.
        move_to_free_name(place.folder_fd, draft.name, place.name)
        return
    found = os.stat(draft.name, dir_fd=place.folder_fd, follow_symlinks=False)
    if found.st_ino == draft.inode:
        draft.foreign = False
    else:
        # Somebody has replaced ours in this moment: theirs is the newest.
        exchange(place.folder_fd, draft.name, place.name)


def _look_then_replace(place: Place, draft: _Draft, expected: FileState | None) -> None:
    """Where names cannot be exchanged: nearly as good, a hair's breadth from a race."""
    if look(place, place.name, expected) is None:
        raise stale(place)
    os.replace(draft.name, place.name, src_dir_fd=place.folder_fd, dst_dir_fd=place.folder_fd)


def look(place: Place, name: str, expected: FileState | None) -> os.stat_result | None:
    """The file of that name, if it may be displaced and is the one that was expected."""
    fd = place.open_file(name)
    if fd is None:
        if expected is not None and expected.exists:
            raise stale(place)
        return None
    try:
        found = os.fstat(fd)
        if expected is not None and _state(fd, found) != expected:
            raise stale(place)
        return found
    finally:
        os.close(fd)


def _state(fd: int, found: os.stat_result) -> FileState:
    """The state of an open file. One that grows, or is too large, is read a byte too far only."""
    left = min(found.st_size, SizeLimiter().max_file_bytes) + 1
    digest = hashlib.sha256()
    while left > 0 and (piece := os.read(fd, min(left, 1 << 20))):
        digest.update(piece)
        left -= len(piece)
    return FileState(exists=True, sha256=digest.hexdigest(), mode=stat.S_IMODE(found.st_mode))


def stale(place: Place) -> StaleFileError:
    return StaleFileError(f"{place.path} has changed since it was checked")

"""The journal of one set of changes: a plan that is written once, and how far it has come.

It lies in the workspace, where whoever fills the workspace can put another one: a repository can
hold files under any name. What is read back is therefore sealed with a key that lies elsewhere.
"""

import ctypes
import functools
import hashlib
import hmac
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from handrail.core.effects import Effect
from handrail.core.errors import FileOperationError
from handrail.core.files import EntryKind
from handrail.executors.rehearsal.git_locks import TOKEN, release_locks, take_locks
from handrail.executors.rehearsal.nodes import READ, stat_of
from handrail.executors.rehearsal.way import LISTED

_PLAN, _STATE, _SLOTS, _LOCKS = "plan.json", "state.json", "slots", "locks.json"
_SEAL = "seal"
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC

# Extended attributes before and after.
Attributes = tuple[dict[str, bytes], dict[str, bytes]]


class State(StrEnum):
    """Without a state nothing was changed yet: whatever is staged can be thrown away."""

    # The before-image of a write that another part of the program makes.
    RECORDED = "recorded"
    APPLYING = "applying"
    # Applying has met a conflict, and what was done is taken back.
    REVERTING = "reverting"
    APPLIED = "applied"
    UNDOING = "undoing"
    # Undoing has met a conflict, and what was undone is done again.
    RESTORING = "restoring"
    # Nothing is kept any more, but a repeated request is told that it was undone before.
    UNDONE = "undone"


_NO_INODE = -1


@dataclass(frozen=True, slots=True)
class Plan:
    """The changes of one call.

    `staged` are the inodes of the new nodes in their slots, and `kept`, once an undo has begun,
    those of the old ones. `modes` are those of folders that stay as they are and must be opened for
    the time of the change; `attributes` and `owners` are those of folders that change, come or go.
    `expected` is the hash of a content still to be written. `locks` are paths of git's locks, which
    are taken for the time of the change.
    """

    call: str
    at: float
    changes: tuple[Effect, ...]
    staged: tuple[int, ...] = ()
    modes: dict[str, int] = field(default_factory=dict[str, int])
    attributes: dict[str, Attributes] = field(default_factory=dict[str, Attributes])
    owners: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    expected: str = ""
    kept: tuple[int, ...] = ()
    locks: tuple[str, ...] = ()

    @property
    def folders(self) -> set[str]:
        """All folders in which a name changes, and those that come or go."""
        parents = {change.path.rpartition("/")[0] for change in self.changes}
        own = {
            change.path
            for change in self.changes
            for node in (change.before, change.after)
            if node is not None and node.kind is EntryKind.DIRECTORY
        }
        return (parents | own) - {""}

    def locks_to_take(self, *, forward: bool) -> list[str]:
        """The locks but for those in a folder that goes, which could not be removed then."""
        going: set[str] = set()
        for one in self.changes:
            old, new = (one.before, one.after) if forward else (one.after, one.before)
            if new is None and old is not None and old.kind is EntryKind.DIRECTORY:
                going.add(one.path)
        return [path for path in self.locks if path.rpartition("/")[0] not in going]

    @property
    def kept_bytes(self) -> int:
        return sum(change.before.size for change in self.changes if change.before is not None)

    def as_json(self) -> dict[str, Any]:
        return {
            "call": self.call,
            "at": self.at,
            "changes": [change.as_json() for change in self.changes],
            "staged": self.staged,
            "modes": self.modes,
            "attributes": {
                path: [{name: value.hex() for name, value in one.items()} for one in both]
                for path, both in self.attributes.items()
            },
            "owners": self.owners,
            "expected": self.expected,
            "kept": self.kept,
            "locks": self.locks,
        }

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> "Plan":
        return cls(
            call=told["call"],
            at=told["at"],
            changes=tuple(map(Effect.from_json, told["changes"])),
            staged=tuple(told["staged"]),
            modes=told["modes"],
            attributes={
                path: (_from_hex(before), _from_hex(after))
                for path, (before, after) in told["attributes"].items()
            },
            owners={path: (uid, gid) for path, (uid, gid) in told["owners"].items()},
            expected=told["expected"],
            kept=tuple(told.get("kept", ())),
            locks=tuple(told.get("locks", ())),
        )


class Standing(NamedTuple):
    """How far a set has come, without its plan."""

    state: State
    call: str
    at: float
    kept_bytes: int


# The inode and the time of a state: each is a new file.
Stamp = tuple[int, int]


def stamp_of(store_fd: int, name: str) -> Stamp | None:
    """Tell a state from a later one without reading it; None where there is no state."""
    try:
        found = os.stat(f"{name}/{_STATE}", dir_fd=store_fd, follow_symlinks=False)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def has_locks(store_fd: int, name: str) -> bool:
    return _exists(store_fd, f"{name}/{_LOCKS}")


def has_plan(store_fd: int, name: str) -> bool:
    return _exists(store_fd, f"{name}/{_PLAN}")


def _exists(store_fd: int, path: str) -> bool:
    try:
        os.stat(path, dir_fd=store_fd, follow_symlinks=False)
    except OSError:
        return False
    return True


class Journal:
    """A folder with a plan, a state and one slot for each change, for the workspace `root_fd`."""

    def __init__(self, store_fd: int, name: str, key: bytes, root_fd: int, *, create: bool = False):
        self._root_fd = root_fd
        self._store_fd = store_fd
        self._name = name
        self._key = key
        if create:
            os.mkdir(name, 0o700, dir_fd=store_fd)
        self._fd = os.open(name, LISTED, dir_fd=store_fd)
        try:
            # Missing where a crash came between this folder and the one above.
            with suppress(FileExistsError):
                os.mkdir(_SLOTS, 0o700, dir_fd=self._fd)
            self.slots_fd = os.open(_SLOTS, LISTED, dir_fd=self._fd)
        except OSError:
            os.close(self._fd)
            raise

    def close(self) -> None:
        os.close(self.slots_fd)
        os.close(self._fd)

    def standing(self) -> Standing | None:
        """None where nothing was changed yet.

        Raises:
            FileOperationError: It is damaged, or was not written here.
        """
        try:
            told = self._read(_STATE)
            return Standing(State(told["state"]), told["call"], told["at"], told["kept_bytes"])
        except FileNotFoundError:
            return None
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise FileOperationError(f"the state in {self._name} is damaged: {error}") from error

    def plan(self) -> Plan:
        """The changes.

        Raises:
            FileOperationError: The plan is damaged.
        """
        try:
            return Plan.from_json(self._read(_PLAN))
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise FileOperationError(f"the plan in {self._name} is damaged: {error}") from error

    def write_plan(self, plan: Plan) -> None:
        self._write(_PLAN, plan.as_json())

    def note(self, state: State, plan: Plan) -> None:
        """Durable once this returns."""
        told = Standing(state, plan.call, plan.at, plan.kept_bytes)
        self._write(_STATE, told._asdict())

    def lock(self, paths: Sequence[str]) -> None:
        """Take git's locks; a crash does not leave them behind, because they are written down.

        Raises:
            StaleFileError: Another git holds one of them; none is taken.
            FileOperationError: The file system refused; none is taken.
        """
        if not paths:
            return
        try:
            self._write(_LOCKS, {"paths": list(paths)})
            take_locks(self._root_fd, self._fd, paths)
        except FileOperationError:
            self.unlock()
            raise
        except OSError as error:
            self.unlock()
            raise FileOperationError(f"git's locks cannot be taken: {error}") from error

    def unlock(self) -> None:
        """Release the locks that are held."""
        try:
            release_locks(self._root_fd, self._fd, self._read(_LOCKS)["paths"])
        except FileNotFoundError:
            return
        except (ValueError, LookupError, TypeError) as error:
            raise FileOperationError(f"the locks in {self._name} are damaged: {error}") from error
        for name in (TOKEN, _LOCKS):
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=self._fd)

    def inodes(self, count: int) -> tuple[int, ...]:
        """Those of what lies in the first slots."""
        found = [stat_of(self.slots_fd, str(slot)) for slot in range(count)]
        return tuple(_NO_INODE if one is None else one.st_ino for one in found)

    def empty(self) -> None:
        """Remove all but the state, the plan last: as long as it is there, more may be left."""
        self.unlock()
        for slot in os.listdir(self.slots_fd):
            _remove(self.slots_fd, slot)
        for name in os.listdir(self._fd):
            if name not in (_STATE, _SLOTS):
                _remove(self._fd, name)

    def discard(self) -> None:
        """Remove all of it. The state goes first: without it the rest is only left-overs."""
        with suppress(FileNotFoundError):
            os.unlink(_STATE, dir_fd=self._fd)
            os.fsync(self._fd)
        self.empty()
        os.rmdir(_SLOTS, dir_fd=self._fd)
        os.rmdir(self._name, dir_fd=self._store_fd)

    def _read(self, name: str) -> dict[str, Any]:
        with os.fdopen(os.open(name, READ, dir_fd=self._fd), "rb") as file:
            told = json.load(file)
        if not hmac.compare_digest(told.pop(_SEAL), self._seal(name, told)):
            raise ValueError(f"{name} was not written by Handrail on this machine")
        return told

    def _seal(self, name: str, value: dict[str, Any]) -> str:
        text = json.dumps([self._name, name, value], sort_keys=True)
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()

    def _write(self, name: str, value: dict[str, Any]) -> None:
        aside = f"{name}.new"
        fd = os.open(aside, _WRITE, 0o600, dir_fd=self._fd)
        with os.fdopen(fd, "w", encoding="ascii") as file:
            file.write(json.dumps({**value, _SEAL: self._seal(name, value)}))
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, name, src_dir_fd=self._fd, dst_dir_fd=self._fd)
        os.fsync(self._fd)


def _from_hex(told: dict[str, str]) -> dict[str, bytes]:
    return {name: bytes.fromhex(value) for name, value in told.items()}


def _remove(folder_fd: int, name: str) -> None:
    """Remove a file, a link or an empty folder."""
    try:
        os.unlink(name, dir_fd=folder_fd)
    except IsADirectoryError:
        os.rmdir(name, dir_fd=folder_fd)


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def sync_file_system(fd: int) -> None:
    """Have everything on a file system outlast a power cut: cheaper than file by file."""
    if _libc().syncfs(fd) < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))

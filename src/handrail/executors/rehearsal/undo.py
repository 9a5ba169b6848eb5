"""Undo: before-images of what calls have changed, kept for a while beside the workspace."""

import fcntl
import hashlib
import os
import re
import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from handrail.core.errors import FileOperationError, NotFound, StaleFileError
from handrail.core.undo import Undone, UndoStatus
from handrail.executors.rehearsal.applied import AppliedSet, find_conflicts_back
from handrail.executors.rehearsal.journal import (
    Journal,
    Plan,
    Stamp,
    Standing,
    State,
    has_locks,
    has_plan,
    stamp_of,
)
from handrail.executors.rehearsal.recording import FileChange, plan_change, settle_change
from handrail.executors.rehearsal.way import LISTED

PLACE = (".handrail", "undo")
MOST_AGE_SECONDS = 24 * 3600
MOST_BYTES = 1 << 30
_ENDS = (State.APPLIED, State.UNDONE)
# One that could not be reverted whole is tried again, but not for ever.
_FORGETTABLE = (*_ENDS, State.REVERTING)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NAME = re.compile(r"[0-9]{10}-[0-9a-f]{24}")


@dataclass(frozen=True, slots=True)
class Undoable:
    """A call that can be undone, and the bytes that are kept for it."""

    call: str
    at: float
    kept_bytes: int


class UndoStore:
    """The applied sets of one workspace, oldest first; one process at a time changes them.

    The descriptor of the workspace stays with its owner, unless `close` is called. Journals that
    are not sealed with the `key` were put there by others. They are `left_alone`, each with the
    reason.
    """

    def __init__(
        self,
        root_fd: int,
        key: bytes,
        *,
        most_age_seconds: float = MOST_AGE_SECONDS,
        most_bytes: int = MOST_BYTES,
        now: Callable[[], float] = time.time,
    ):
        self.root_fd = root_fd
        self._key = key
        self.left_alone: dict[str, str] = {}
        self.now = now
        self._most_age_seconds = most_age_seconds
        self._most_bytes = most_bytes
        self._fd: int | None = None
        self._turn = threading.RLock()
        self._seen: dict[str, tuple[Stamp, Standing]] = {}

    def close(self) -> None:
        """Close the descriptor of the workspace; a thread that is at work ends it first."""
        with self._turn:
            os.close(self.root_fd)
            self.root_fd = -1

    def undoable(self) -> list[Undoable]:
        """The calls that can be undone, oldest first."""
        with self.opened():
            return [Undoable(told.call, told.at, told.kept_bytes) for told in self._applied()]

    def holds(self, call: str) -> bool:
        """Whether a call can be undone; makes no folder."""
        return self.is_there and any(one.call == call for one in self.undoable())

    @property
    def is_there(self) -> bool:
        """Whether anything was ever kept in this workspace."""
        try:
            os.stat("/".join(PLACE), dir_fd=self.root_fd)
        except OSError:
            return False
        return True

    def undo(self, call: str) -> bool:
        """Bring back what was there before a call; False if that was done before.

        Raises:
            NotFound: Nothing is kept of this call.
            StaleFileError: A path was changed since; nothing was undone.
            FileOperationError: The file system said no; nothing was undone.
        """
        with self.opened():
            self.resume()
            found = {
                name: told.state
                for name, told in self._standings()
                if told is not None and told.call == call
            }
            if not found:
                raise NotFound("no earlier state of this call's files is kept")
            # A call of several writes has a set for each.
            applied = [name for name, state in found.items() if state is State.APPLIED]
            self._check_all([self._plan(name) for name in reversed(applied)])
            for name in reversed(applied):
                self._undo(name)
            return bool(applied)

    def undo_all(self, calls: Iterable[str]) -> list[Undone]:
        """Undo calls, the last one first, up to the first that cannot be; tells about each."""
        wanted = set(calls)
        with self.opened():
            self.resume()
            applied = {told.call: None for told in self._applied() if told.call in wanted}
            rest = sorted(wanted - applied.keys())
            return [*self._undo_in_turn([*rest, *reversed(applied)])]

    def _undo_in_turn(self, calls: Iterable[str]) -> Generator[Undone]:
        """`calls` has those that hold nothing first, because a refusal ends the others."""
        is_refused = False
        for call in calls:
            if is_refused:
                yield Undone(call, UndoStatus.NOT_TRIED, "a later call could not be undone")
                continue
            try:
                status = UndoStatus.UNDONE if self.undo(call) else UndoStatus.BEFORE
                yield Undone(call, status)
            except NotFound as error:
                yield Undone(call, UndoStatus.NOT_KEPT, error.message)
            except FileOperationError as error:
                is_refused = True
                yield Undone(call, UndoStatus.REFUSED, error.message)

    def resume(self) -> dict[str, bool]:
        """End what a crash has interrupted; tells of each such call whether it is applied now.

        Raises:
            FileOperationError: A journal is damaged.
        """
        ended: dict[str, bool] = {}
        with self.opened():
            for name, told in self._standings():
                if told is not None and told.state in _ENDS:
                    self._unlock(name)
                    if told.state is State.UNDONE and has_plan(self._here, name):
                        with suppress(OSError), self._journal(name) as journal:
                            journal.empty()
                    continue
                with self._journal(name) as journal:
                    if told is None:
                        with suppress(OSError):
                            journal.discard()
                    else:
                        ended[told.call] = self._end(journal, told)
                self._unlock(name)
        return ended

    def _unlock(self, name: str) -> None:
        if has_locks(self._here, name):
            with suppress(OSError), self._journal(name) as journal:
                journal.unlock()

    def prune(self, keep: str = "", forget: str = "") -> None:
        """Forget one call, and the oldest until the rest is young and small enough, but `keep`."""
        with self.opened():
            ended = [
                (name, told)
                for name, told in self._standings()
                if told is not None and told.state in _FORGETTABLE
            ]
            left = sum(told.kept_bytes for _, told in ended if told.state is not State.UNDONE)
            for name, told in ended:
                held = 0 if told.state is State.UNDONE else told.kept_bytes
                is_old = told.call == forget or told.at < self.now() - self._most_age_seconds
                if told.call != keep and (is_old or (held and left > self._most_bytes)):
                    left -= held
                    with suppress(OSError), self._journal(name) as journal:
                        journal.discard()

    @contextmanager
    def recording(self, call: str, change: FileChange) -> Generator[None]:
        """Keep the before-images of the files that a change takes away, around it.

        Raises:
            FileOperationError: The before-image cannot be kept.
        """
        with self.opened(), self.new_journal(call) as journal:
            try:
                plan = plan_change(self.root_fd, journal, call, change, self.now())
                journal.write_plan(plan)
                journal.note(State.RECORDED, plan)
            except OSError as error:
                journal.discard()
                raise FileOperationError(f"{change.path} cannot be copied: {error}") from error
            try:
                yield
            finally:
                # If the disk is full now, `resume` sees later whether it was made.
                with suppress(OSError):
                    settle_change(self.root_fd, journal, plan)
        with suppress(OSError, FileOperationError):
            self.prune(keep=call)

    @contextmanager
    def opened(self) -> Generator[None]:
        """Hold the store open, and all other processes out of it."""
        with self._turn:
            if self._fd is not None:
                yield
                return
            self._fd = self._open()
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX)
                yield
            finally:
                os.close(self._fd)
                self._fd = None

    @contextmanager
    def new_journal(self, call: str) -> Generator[Journal]:
        """A journal behind all others; the store is open."""
        own = [int(name.partition("-")[0]) for name, told in self._standings() if told]
        name = f"{max(own, default=0) + 1:010d}-{_digest(call)}"
        try:
            journal = Journal(self._here, name, self._key, self.root_fd, create=True)
        except OSError as error:
            raise FileOperationError(f"no journal can be made: {error}") from error
        try:
            yield journal
        finally:
            journal.close()

    def _plan(self, name: str) -> Plan:
        with self._journal(name) as journal:
            return journal.plan()

    def _check_all(self, plans: Sequence[Plan]) -> None:
        """Check sets that are about to be undone in this order, before the first of them is."""
        changes = [change for plan in plans for change in plan.changes]
        if conflict := next(find_conflicts_back(self.root_fd, changes), None):
            raise StaleFileError(f"{conflict}; nothing was undone")

    def _undo(self, name: str) -> None:
        with self._journal(name) as journal:
            plan = journal.plan()
            plan = replace(plan, kept=journal.inodes(len(plan.changes)))
            journal.write_plan(plan)
            journal.lock(plan.locks_to_take(forward=False))
            try:
                AppliedSet(self.root_fd, journal, plan).go(forward=False)
            finally:
                journal.unlock()

    def _end(self, journal: Journal, told: Standing) -> bool:
        """Go on in the direction that was taken; whether the set is applied then."""
        plan = journal.plan()
        if told.state is State.RECORDED:
            return settle_change(self.root_fd, journal, plan)
        applied = AppliedSet(self.root_fd, journal, plan)
        forward = told.state in (State.APPLYING, State.RESTORING)
        if told.state in (State.REVERTING, State.RESTORING):
            applied.go_back(forward=forward)
            return forward
        try:
            applied.go_on(forward=forward)
        except FileOperationError:
            return not forward
        return forward

    def _applied(self) -> list[Standing]:
        """The sets that can be undone, oldest first."""
        told = (told for _, told in self._standings())
        return [one for one in told if one is not None and one.state is State.APPLIED]

    def _standings(self) -> list[tuple[str, Standing | None]]:
        """How far each set has come; one that has not moved since is not read again."""
        standings: list[tuple[str, Standing | None]] = []
        seen: dict[str, tuple[Stamp, Standing]] = {}
        for name in self._names():
            stamp, (known, told) = stamp_of(self._here, name), self._seen.get(name, (None, None))
            if stamp is None or stamp != known:
                try:
                    with self._journal(name) as journal:
                        told = journal.standing()
                except (OSError, FileOperationError) as error:
                    self.left_alone[name] = str(error)
                    continue
            standings.append((name, told))
            if stamp is not None and told is not None:
                seen[name] = stamp, told
        self._seen = seen
        return standings

    def _names(self) -> list[str]:
        return sorted(filter(_NAME.fullmatch, os.listdir(self._here)))

    @contextmanager
    def _journal(self, name: str) -> Generator[Journal]:
        journal = Journal(self._here, name, self._key, self.root_fd)
        try:
            yield journal
        finally:
            journal.close()

    @property
    def _here(self) -> int:
        if self._fd is None:
            raise RuntimeError("the store is not open")
        return self._fd

    def _open(self) -> int:
        """The store's folder, which is made if need be, and which git does not see."""
        fd = os.dup(self.root_fd)
        try:
            for name in PLACE:
                with suppress(FileExistsError):
                    os.mkdir(name, 0o700, dir_fd=fd)
                deeper = os.open(name, LISTED, dir_fd=fd)
                os.close(fd)
                fd = deeper
            ignored = os.open(".gitignore", _CREATE, 0o600, dir_fd=fd)
            # A crash or a full disk can have left it empty.
            if os.fstat(ignored).st_size == 0:
                with suppress(OSError):
                    os.write(ignored, b"*\n")
            os.close(ignored)
        except OSError as error:
            os.close(fd)
            place = "/".join(PLACE)
            raise FileOperationError(f"{place} cannot be used: {error.strerror}") from error
        return fd


def _digest(call: str) -> str:
    """The id of a call comes from outside and is no name for a file."""
    return hashlib.sha256(call.encode()).hexdigest()[:24]

"""Reading from an overlay's upper layer which changes a command would make to the workspace.

Both layers are walked side by side by descriptors: where the upper holds a folder, the lower may
hold a link that leads elsewhere, so no path string is ever followed.
"""

import os
import stat
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import accumulate, islice

from handrail.core.effects import Dropped, Effect, Effects, GitEffects, Node
from handrail.core.files import EntryKind
from handrail.executors.git_effects.finding import root_of
from handrail.executors.rehearsal import marks
from handrail.executors.rehearsal.attributes import has_capabilities
from handrail.executors.rehearsal.nodes import (
    READ,
    bare_node,
    file_node,
    folder_node,
    index_node,
    kind_of,
    link_node,
    node_at,
    stat_of,
)
from handrail.executors.rehearsal.scratch import SCRATCH
from handrail.executors.rehearsal.way import LISTED
from handrail.executors.repository.index import is_index

MOST_DEPTH = 100
MOST_ENTRIES = 10_000
MOST_BYTES = 1 << 30
# Clocks of file systems are behind the real one by up to a tick.
CLOCK_SLACK_NS = 20_000_000
_MOST_REASONS = 20


@dataclass(frozen=True, slots=True)
class Reading:
    """How to read: from when the command ran, what it could not see, and within which bounds.

    `covers` are files and folders that the box has put into the upper itself. Paths for which
    `is_own` is true can be changed by no one else.
    """

    start_ns: int
    scratch: Collection[str] = SCRATCH
    hidden: Collection[str] = ()
    covers: Collection[str] = ()
    is_own: Callable[[str], bool] = lambda path: False
    most_depth: int = MOST_DEPTH
    most_entries: int = MOST_ENTRIES
    most_bytes: int = MOST_BYTES


def read_effects(lower_fd: int, upper_fd: int, reading: Reading) -> Effects:
    """Every change that the upper layer makes to the lower.

    Of git's, `repositories` are all that the command has touched, also where nothing has changed.

    Raises:
        OSError: One of the two roots cannot be read.
    """
    reader = _Reader(reading)
    with _listed(lower_fd, ".") as lower, _listed(upper_fd, ".") as upper, suppress(_TooMany):
        reader.compare_folders("", lower, upper, is_opaque=False)
    return reader.effects()


class _TooMany(Exception):
    """There is more than is looked at."""


@dataclass(slots=True)
class _Reader:
    reading: Reading
    changes: list[Effect] = field(default_factory=list[Effect])
    dropped: list[Dropped] = field(default_factory=list[Dropped])
    refusals: list[str] = field(default_factory=list[str])
    stale: list[str] = field(default_factory=list[str])
    seen: int = 0
    read_bytes: int = 0
    hidden: frozenset[str] = frozenset()
    gits: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        self.hidden = frozenset(self.reading.hidden)

    def effects(self) -> Effects:
        changes = sorted(self.changes, key=lambda change: change.path)
        gits = GitEffects(
            changes=tuple(one for one in changes if root_of(one.path)),
            repositories=tuple(sorted(self.gits)),
        )
        return Effects(
            changes=tuple(one for one in changes if not root_of(one.path)),
            git=gits,
            dropped=tuple(self.dropped),
            hidden=tuple(sorted(self.reading.hidden)),
            refusals=_first(tuple(dict.fromkeys(self.refusals))),
            stale=tuple(self.stale),
        )

    def compare_folders(self, path: str, lower: int | None, upper: int, *, is_opaque: bool) -> None:
        """Compare a folder of the upper with that of the lower, if there is one.

        Through an opaque folder nothing of the lower shows, and so it is below it, without a mark.
        """
        self._check_marks(path, upper)
        is_opaque = is_opaque or marks.is_opaque(upper)
        names = self._names_in(upper)
        for name in names:
            if self._may_go_on(path, name):
                self._compare(_join(path, name), name, lower, upper, is_opaque=is_opaque)
        if is_opaque and lower is not None:
            for name in self._names_in(lower, but=names):
                if self._may_go_on(path, name):
                    self._delete(_join(path, name), name, lower)

    def _compare(
        self, path: str, name: str, lower: int | None, upper: int, *, is_opaque: bool
    ) -> None:
        found = os.stat(name, dir_fd=upper, follow_symlinks=False)
        if self._is_scratch(path):
            self.dropped.append(Dropped(path, self._count_files(name, upper)))
            return
        if self._is_cover(path, name, lower, upper):
            return
        if git := root_of(path):
            self.gits.add(git)
        if marks.is_whiteout(name, upper, found):
            if lower is not None:
                self._delete(path, name, lower)
        elif kind_of(found) is EntryKind.DIRECTORY:
            self._compare_folder(path, name, lower, upper, is_opaque=is_opaque)
        else:
            self._compare_file(path, name, lower, upper)

    def _compare_folder(
        self, path: str, name: str, lower: int | None, upper: int, *, is_opaque: bool
    ) -> None:
        with self._refusing(path), _listed(upper, name) as folder:
            before = self._before(path, name, lower)
            self._add(path, before, folder_node(folder))
            if lower is None or before is None or before.kind is not EntryKind.DIRECTORY:
                self.compare_folders(path, None, folder, is_opaque=is_opaque)
                return
            with _listed(lower, name) as other:
                self.compare_folders(path, other, folder, is_opaque=is_opaque)

    def _compare_file(self, path: str, name: str, lower: int | None, upper: int) -> None:
        with self._refusing(path):
            after, was_copied_up = self._after(path, name, upper)
            before = self._before(path, name, lower)
            if lower is not None and before is None and was_copied_up:
                self._check_not_removed(path, lower)
            if lower is not None and before and before.kind is EntryKind.DIRECTORY:
                self._delete_within(path, name, lower)
            self._add(path, before, after)

    def _after(self, path: str, name: str, upper: int) -> tuple[Node, bool]:
        """The node in the upper, and whether it was copied up from the lower under some name."""
        found = os.stat(name, dir_fd=upper, follow_symlinks=False)
        if kind_of(found) is EntryKind.LINK:
            target = os.readlink(name, dir_fd=upper)
            if not _is_plain(target):
                self.refusals.append(f"{path!r} is a link to an unprintable name")
            return link_node(target, found), False
        if kind_of(found) is EntryKind.OTHER:
            self.refusals.append(
                f"{path!r} is a {marks.special_kind(found)}, which cannot be applied"
            )
            return bare_node(found), False
        self._count_bytes(found)
        self._check_capabilities(path, name, upper)
        fd = os.open(name, READ, dir_fd=upper)
        try:
            self._check_marks(path, fd)
            node = index_node(fd) if is_index(path) else file_node(fd)
            was_copied_up = marks.was_copied_up(fd)
        finally:
            os.close(fd)
        if node.has_special_bits:
            self.refusals.append(f"{path!r} has a set-user-ID, set-group-ID or sticky bit")
        return node, was_copied_up

    def _before(self, path: str, name: str, lower: int | None) -> Node | None:
        """The node in the lower. Of a hidden one nothing is read, nor told but its kind."""
        found = None if lower is None else stat_of(lower, name)
        if lower is None or found is None:
            return None
        if self._is_hidden(path):
            return Node(kind_of(found))
        self._count_bytes(found)
        self._check_capabilities(path, name, lower)
        node = node_at(lower, name, path)
        # Looked at again: it may have been saved while it was read.
        found = stat_of(lower, name)
        is_late = found is None or self._is_late(found)
        if is_late and node is not None and node.kind is EntryKind.DIRECTORY:
            # With a new name in it a folder is still the same. A folder that was made or moved
            # here has changed the one above too.
            is_late = self._is_late(os.fstat(lower))
        if (node is None or is_late) and not self.reading.is_own(path):
            self.stale.append(path)
        return node

    def _check_not_removed(self, path: str, lower: int) -> None:
        """A file that was copied up, has no lower now, and whose folder has changed since."""
        if self._is_late(os.fstat(lower)):
            self.stale.append(path)

    def _is_late(self, found: os.stat_result) -> bool:
        """Whether it was changed by others since the command began."""
        return found.st_ctime_ns >= self.reading.start_ns - CLOCK_SLACK_NS

    def _delete(self, path: str, name: str, lower: int) -> None:
        with self._refusing(path):
            before = self._before(path, name, lower)
            if before is None:
                return
            if before.kind is EntryKind.DIRECTORY and not self._is_hidden(path):
                self._delete_within(path, name, lower)
            self._add(path, before, None)

    def _delete_within(self, path: str, name: str, lower: int) -> None:
        with _listed(lower, name) as folder:
            for below in self._names_in(folder):
                if self._may_go_on(path, below):
                    self._delete(_join(path, below), below, folder)

    def _add(self, path: str, before: Node | None, after: Node | None) -> None:
        is_shown = not self._is_hidden(path)
        if before == after and is_shown:
            return
        if not is_shown:
            self.refusals.append(_lost(path, "lost" if after is None else "overwritten"))
        self.changes.append(Effect(path, before, after))

    def _names_in(self, folder_fd: int, but: Collection[str] = ()) -> list[str]:
        """The names in a folder, at most one more than may be looked at."""
        known = set(but)
        with os.scandir(folder_fd) as entries:
            names = (entry.name for entry in entries if entry.name not in known)
            return sorted(islice(names, self.reading.most_entries + 1))

    def _may_go_on(self, folder: str, name: str) -> bool:
        """Whether a name is looked at; counts it."""
        self.seen += 1
        if self.seen > self.reading.most_entries:
            most = f"{self.reading.most_entries:,}"
            self.refusals.append(f"it changes more than {most} files and folders")
            raise _TooMany
        if not _is_plain(name):
            where = f" in {folder!r}" if folder else ""
            self.refusals.append(f"{name!r}{where} is a name with unprintable characters")
            return False
        if folder.count("/") + 1 >= self.reading.most_depth:
            self.refusals.append(f"{folder[:60]!r}… goes deeper than {self.reading.most_depth}")
            return False
        return True

    def _count_bytes(self, found: os.stat_result) -> None:
        """Count what is about to be read; a file with holes may be larger than the disk."""
        self.read_bytes += found.st_size if stat.S_ISREG(found.st_mode) else 0
        if self.read_bytes > self.reading.most_bytes:
            self.refusals.append(f"it changes more than {self.reading.most_bytes:,} bytes")
            raise _TooMany

    def _is_scratch(self, path: str) -> bool:
        return any(f"/{path}".endswith(f"/{name}") for name in self.reading.scratch)

    def _is_hidden(self, path: str) -> bool:
        return not self.hidden.isdisjoint(accumulate(path.split("/"), "{}/{}".format))

    def _is_cover(self, path: str, name: str, lower: int | None, upper: int) -> bool:
        """Whether it stands there only for the box to mount something over it."""
        if path not in self.reading.covers or (lower is not None and stat_of(lower, name)):
            return False
        found = os.stat(name, dir_fd=upper, follow_symlinks=False)
        if stat.S_ISDIR(found.st_mode):
            with _listed(upper, name) as folder:
                return not os.listdir(folder)
        return stat.S_ISREG(found.st_mode) and not found.st_size

    def _count_files(self, name: str, upper: int, depth: int = 0) -> int:
        """How many files there are below a name; many or deep ones are counted only so far."""
        try:
            with _listed(upper, name) as folder:
                if depth > self.reading.most_depth:
                    return 1
                below = self._names_in(folder)
                return sum(self._count_files(one, folder, depth + 1) for one in below)
        except OSError:
            return 1

    def _check_marks(self, path: str, fd: int) -> None:
        if marks.is_partial(fd):
            self.refusals.append(f"the rehearsal's copy of {path!r} is not whole")
        if marks.has_reserved(fd):
            self.refusals.append(f"{path!r} has an attribute that belongs to overlay file systems")

    def _check_capabilities(self, path: str, name: str, folder_fd: int) -> None:
        if has_capabilities(folder_fd, name):
            self.refusals.append(f"{path!r} has file capabilities, which would be lost")

    @contextmanager
    def _refusing(self, path: str) -> Generator[None]:
        try:
            yield
        except (FileNotFoundError, NotADirectoryError):
            # Only the lower can change while it is read.
            self.stale.append(path)
        except OSError as error:
            self.refusals.append(f"{path!r} cannot be read: {error.strerror}")


@contextmanager
def _listed(folder_fd: int, name: str) -> Generator[int]:
    fd = os.open(name, LISTED, dir_fd=folder_fd)
    try:
        yield fd
    finally:
        os.close(fd)


def _first(reasons: tuple[str, ...]) -> tuple[str, ...]:
    more = len(reasons) - _MOST_REASONS
    return (*reasons[:_MOST_REASONS], f"and {more:,} more reasons") if more > 0 else reasons


def _lost(path: str, how: str) -> str:
    folder, _, name = path.rpartition("/")
    where = f" in `{folder}`" if folder else ""
    return f"`{name}`{where} was hidden from the command and would be {how}"


def _is_plain(name: str) -> bool:
    """Whether a name is UTF-8 without control characters or others that are not seen."""
    return name.isprintable()


def _join(path: str, name: str) -> str:
    return f"{path}/{name}" if path else name

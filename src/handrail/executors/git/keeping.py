"""A repository's settings, looked at again when git has run that could change them.

git sets up branches, remotes and parts, and no more: whatever else has come into its settings was
not put there by what was approved. It could name a program, so it is put back as it was.
"""

import os
import re
import stat
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from handrail.core.errors import CommandExecutionError
from handrail.core.visible import visible
from handrail.executors.repository.leave import COMMON, MODULES, SETTINGS, modules_of, trees_of
from handrail.executors.repository.places import is_among, pointed_at
from handrail.executors.repository.settings import Entry, entries_of

_MOST_BYTES = 1 << 20
# Sections of which git removes, renames and copies what is in them.
_MOVED = frozenset({"branch", "remote", "submodule"})
_HELPER = re.compile(r"[A-Za-z0-9+.-]*::")
_UPDATES = frozenset({"checkout", "merge", "none", "rebase"})


def _any(_: str) -> bool:
    return True


def _is_address(value: str) -> bool:
    """Whether no program of somebody's choice would carry what is sent there."""
    return not _HELPER.match(value)


# What git sets by itself. None of it names a program.
_SET: tuple[tuple[re.Pattern[str], Callable[[str], bool]], ...] = tuple(
    (re.compile(pattern, re.DOTALL), is_fit)
    for pattern, is_fit in (
        (r"branch\..*\.(?:merge|pushremote|rebase|remote)", _any),
        (r"(?:remote|submodule)\..*\.(?:push)?url", _is_address),
        (r"remote\..*\.(?:fetch|partialclonefilter|promisor|tagopt)", _any),
        (r"remote\.pushdefault", _any),
        (r"submodule\..*\.(?:active|branch)", _any),
        (r"submodule\..*\.update", _UPDATES.__contains__),
        (r"submodule\.active", _any),
        (r"core\.(?:bare|filemode|ignorecase|logallrefupdates|precomposeunicode)", _any),
        (r"core\.(?:repositoryformatversion|sharedrepository|symlinks)", _any),
        (r"extensions\.(?:objectformat|partialclone|refstorage|worktreeconfig)", _any),
    )
)
_WORKTREE = "core.worktree"


class _Link(NamedTuple):
    target: str


class _Other(NamedTuple):
    """What is neither a file nor a link, or is too large to be either."""

    why: str


_State = bytes | _Link | _Other | None


@contextmanager
def kept(root: str, gits: Sequence[str], frozen: Sequence[str]) -> Generator[None]:
    """Hold what git has set, while the block ran, against what it may set; put back the rest.

    `gits` are the repositories that are left to it; what of them is `frozen` it cannot change.

    Raises:
        CommandExecutionError: Something else was there, or nobody can tell what is there now.
    """
    watch = _Watch(root, [path for path in gits if os.path.lexists(path)], frozen)
    try:
        yield
    except BaseException:
        watch.put_back()
        raise
    if strange := watch.put_back():
        path, why = strange[0]
        raise CommandExecutionError(
            f"it changed {os.path.relpath(path, root)}, which no command may set ({why}); this "
            f"was reverted, and its other changes remain"
        )


class _Watch:
    def __init__(self, root: str, gits: Sequence[str], frozen: Sequence[str]):
        self._root = root
        self._gits = gits
        self._frozen = frozen
        self._before = self._look()
        self._known: set[tuple[str, str, str | None]] = set()
        self._entries: set[Entry] = set()
        for path, state in self._before.items():
            if isinstance(state, _Other):
                raise CommandExecutionError(
                    f"{path} is not something that git can set: {state.why}"
                )
            if os.path.basename(path) in SETTINGS and isinstance(state, bytes):
                entries = _entries(path, state)
                self._entries.update(entries)
                self._known.update(_kind(*entry) for entry in entries)

    def put_back(self) -> list[tuple[str, str]]:
        """What was found that may not be there, and why; it is not there any more."""
        after = self._look()
        found: list[tuple[str, str]] = []
        for path in {**self._before, **after}:
            old, new = self._before.get(path), after.get(path)
            if old == new or not os.path.isdir(os.path.dirname(path)):
                continue
            if (why := self._judge(path, old, new)) is not None:
                _restore(path, old)
                found.append((path, why))
        return found

    def _look(self) -> dict[str, _State]:
        """All that git could have changed, and that leads to programs."""
        return {path: _state(path) for path in self._names() if not is_among(path, self._frozen)}

    def _names(self) -> Iterator[str]:
        for place in self._gits:
            if not os.path.isdir(place):
                yield place
                continue
            for inside in (place, *modules_of(place), *trees_of(place)):
                yield from (f"{inside}/{name}" for name in (*SETTINGS, COMMON))

    def _judge(self, path: str, old: _State, new: _State) -> str | None:
        """Why something may not be as it is now; None where it may."""
        name = os.path.basename(path)
        if isinstance(new, _Link | _Other) or isinstance(old, _Link | _Other):
            return "it is not one of git's files"
        if name == COMMON:
            return None if new is not None and self._leads_home(path) else "another repository"
        if name not in SETTINGS:
            return None if new is None or self._points_home(path) else "another repository"
        if new is None:
            return None if name != SETTINGS[0] else "it is gone"
        return self._judge_settings(path, old, new)

    def _judge_settings(self, path: str, old: bytes | None, new: bytes) -> str | None:
        try:
            entries = _entries(path, new)
            before = [] if old is None else _entries(path, old)
        except CommandExecutionError:
            return "its meaning cannot be determined"
        for entry in entries:
            if not (entry in self._entries or self._may_set(path, *entry)):
                return visible(entry[0])
        # What git never sets stays, in its order: what comes later counts.
        rest, rest_before = (
            [entry for entry in some if not self._may_set(path, *entry) and not _is_moved(entry[0])]
            for some in (entries, before)
        )
        return None if old is None or rest == rest_before else "settings were removed or reordered"

    def _may_set(self, path: str, name: str, value: str | None) -> bool:
        if name == _WORKTREE:
            inside = os.path.dirname(path)
            place = os.path.realpath(os.path.join(inside, value or ""))
            is_part = f"/{MODULES}/" in os.path.relpath(inside, self._root)
            return is_part and place != self._root and self._is_in_workspace(place)
        if _is_moved(name) and _kind(name, value) in self._known:
            return True
        return any(
            pattern.fullmatch(name) and is_fit("" if value is None else value)
            for pattern, is_fit in _SET
        )

    def _leads_home(self, path: str) -> bool:
        """Whether a worktree shares what is the repository's that keeps it, and no other's."""
        inside = os.path.dirname(path)
        home = os.path.dirname(os.path.dirname(inside))
        return inside in trees_of(home) and pointed_at(path) == os.path.realpath(home)

    def _points_home(self, path: str) -> bool:
        place = pointed_at(path, "gitdir: ")
        own = [inside for git in self._gits for inside in (*modules_of(git), *trees_of(git))]
        return place is not None and place in own

    def _is_in_workspace(self, place: str) -> bool:
        return is_among(place, [self._root]) and not is_among(place, self._gits)


def _is_moved(name: str) -> bool:
    return name.partition(".")[0] in _MOVED


def _kind(name: str, value: str | None) -> tuple[str, str, str | None]:
    """A setting, whatever the branch, remote or part that it is of."""
    return name.partition(".")[0], name.rpartition(".")[2], value


def _entries(path: str, content: bytes) -> list[Entry]:
    try:
        return [*entries_of(content.decode(errors="surrogateescape"))]
    except ValueError as error:
        raise CommandExecutionError(f"{path} cannot be compared: {error}") from error


def _state(path: str) -> _State:
    try:
        found = os.stat(path, follow_symlinks=False)
        if stat.S_ISLNK(found.st_mode):
            return _Link(os.readlink(path))
        if not stat.S_ISREG(found.st_mode):
            return _Other("it is not a file")
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        return _Other(error.strerror or "it cannot be opened")
    with os.fdopen(fd, "rb") as file:
        content = file.read(_MOST_BYTES + 1)
    return content if len(content) <= _MOST_BYTES else _Other("it is too large")


def _restore(path: str, state: _State) -> None:
    """Put back what was there, or nothing; a folder in its place is put aside, not removed."""
    if os.path.isdir(path) and not os.path.islink(path):
        os.rename(path, f"{path}.put-aside-{os.urandom(4).hex()}")
    if isinstance(state, _Link):
        with suppress(FileNotFoundError):
            os.unlink(path)
        os.symlink(state.target, path)
    elif isinstance(state, bytes):
        _write(path, state)
    else:
        with suppress(FileNotFoundError):
            os.unlink(path)


def _write(path: str, content: bytes) -> None:
    made = f"{path}.{os.urandom(8).hex()}"
    mode = _mode_of(path)
    fd = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    with os.fdopen(fd, "wb") as file:
        file.write(content)
    os.replace(made, path)


def _mode_of(path: str) -> int:
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return 0o644
    return stat.S_IMODE(found.st_mode) & 0o666 if stat.S_ISREG(found.st_mode) else 0o644

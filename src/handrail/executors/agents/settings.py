"""The home of an agent: folders of settings as overlays, and what of them is copied back.

An agent that could write its real settings could plant hooks there, which would run outside of
every sandbox later. So it writes to layers, which are read when it has ended.
"""

import asyncio
import os
import secrets
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from handrail.core.errors import CommandExecutionError
from handrail.executors.agents.profiles import AgentProfile, SettingsFolder
from handrail.executors.rehearsal import marks
from handrail.executors.rehearsal.effects import CLOCK_SLACK_NS
from handrail.executors.rehearsal.nodes import READ, stat_of
from handrail.executors.rehearsal.overlay import Layers, Maker
from handrail.executors.rehearsal.way import LISTED, Way
from handrail.executors.sandbox.bubblewrap import Mount

_MOST_FILES = 50_000
_MOST_BYTES = 512 << 20
_MOST_LEVELS = 40
_MOST_PATH_CHARS = 1_000
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_PIECE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class SettingsChanges:
    """Paths from the home: files that were copied back, and changes that would run later.

    `dropped` are files and folders at the top of the home with content that went with it.
    """

    kept: tuple[str, ...] = ()
    runs_later: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


class AgentHome:
    """The home of one run of an agent, below `place`, a folder of ours on disk."""

    def __init__(self, maker: Maker, home: str, place: str):
        self._maker = maker
        self._home = home
        self._place = place
        self._own = os.path.join(place, "home")
        self._copied: dict[str, int] = {}
        self._layers: list[tuple[SettingsFolder, str]] = []

    async def mount(self, profile: AgentProfile) -> list[Mount]:
        """What the agent's box mounts.

        Raises:
            CommandExecutionError: A folder of settings cannot be shown.
        """
        os.makedirs(self._own, 0o700)
        mounts = [Mount(self._own, self._home, writable=True)]
        try:
            for name in profile.files:
                _copy_file(os.path.join(self._home, name), os.path.join(self._own, name))
            self._copied = {name: self._stamp(name) for name in _changed_in(self._own)}
            mounts += [await self._mount_settings(folder) for folder in profile.settings]
        except OSError as error:
            raise CommandExecutionError(
                f"the settings of {profile.title} cannot be shown to it: {error.strerror}"
            ) from error
        return mounts

    def unmount(self) -> None:
        for _, layer in self._layers:
            # A mount of another namespace goes with the folder that it is on.
            with suppress(OSError):
                os.rmdir(f"{layer}/view")

    def take_back(self, began_ns: int) -> SettingsChanges:
        """Copy what is kept into the real folders, if it was not changed there meanwhile."""
        kept: list[str] = []
        runs: list[str] = []
        for folder, layer in self._layers:
            real = os.path.realpath(os.path.join(self._home, folder.name))
            changed = [*_changed_in(f"{layer}/upper")]
            runs += [f"{folder.name}/{path}" for path in changed if folder.runs_later(path)]
            wanted = [path for path in changed if folder.is_kept(path)]
            kept += [f"{folder.name}/{path}" for path in _copy_back(layer, real, wanted, began_ns)]
        return SettingsChanges(tuple(kept), tuple(runs), tuple(sorted(self._dropped())))

    def _dropped(self) -> set[str]:
        tops: set[str] = set()
        # What is empty may be a place where something was mounted.
        for path in _changed_in(self._own):
            if (stamp := self._stamp(path)) and stamp != self._copied.get(path):
                top, slash, _ = path.partition("/")
                tops.add(top + slash)
        return tops

    def _stamp(self, path: str) -> int:
        """The time of the last change of a file with content; 0 without one."""
        try:
            found = os.lstat(os.path.join(self._own, path))
        except OSError:
            return 0
        return found.st_mtime_ns if found.st_size else 0

    async def _mount_settings(self, folder: SettingsFolder) -> Mount:
        layer = f"{self._place}/settings-{len(self._layers)}"
        shown = f"{self._home}/{folder.name}"
        layers = await asyncio.to_thread(_make_layers, layer, shown)
        os.close(await self._maker.mount_overlay(layers, f"{layer}/view"))
        self._layers.append((folder, layer))
        return Mount(f"{layer}/view", shown, writable=True)


def _make_layers(layer: str, shown: str) -> Layers:
    for part in ("upper", "work", "view", "none"):
        os.makedirs(f"{layer}/{part}", 0o700)
    real = os.path.realpath(shown)
    lower = real if os.path.isdir(real) else f"{layer}/none"
    return Layers([lower], f"{layer}/upper", f"{layer}/work")


def _copy_file(source: str, target: str) -> None:
    with suppress(FileNotFoundError), open(source, "rb") as file:
        os.makedirs(os.path.dirname(target), 0o700, exist_ok=True)
        fd = os.open(target, _CREATE, 0o600)
        with open(fd, "wb") as copy:
            shutil.copyfileobj(file, copy)


def _changed_in(upper: str) -> Iterator[str]:
    """Files and links that a layer has, or that it deletes; by their paths from its root.

    Folders that cannot be listed are left out: nothing of them is kept.
    """
    todo = [""]
    count = 0
    try:
        upper_fd = os.open(upper, LISTED)
    except PermissionError:
        return
    try:
        with Way(upper_fd) as way:
            while todo:
                folder = todo.pop()
                for name, is_folder in _list(way.folder(folder)):
                    path = f"{folder}/{name}" if folder else name
                    count += 1
                    if count > _MOST_FILES:
                        return
                    if not is_folder:
                        yield path
                    elif path.count("/") < _MOST_LEVELS and len(path) < _MOST_PATH_CHARS:
                        todo.append(path)
    finally:
        os.close(upper_fd)


def _list(folder_fd: int) -> list[tuple[str, bool]]:
    """The names in a folder, and which of them are folders; none if it may not be read."""
    try:
        fd = os.open(".", LISTED, dir_fd=folder_fd)
    except PermissionError:
        return []
    try:
        with os.scandir(fd) as entries:
            return sorted((one.name, one.is_dir(follow_symlinks=False)) for one in entries)
    finally:
        os.close(fd)


def _copy_back(layer: str, real: str, paths: Sequence[str], began_ns: int) -> Iterator[str]:
    """Put files of a layer in their places, through no link; those for which that was done."""
    left = _MOST_BYTES
    for path in paths:
        # A link on the way, or a folder that may not be written: the file stays as it was.
        with suppress(OSError):
            os.makedirs(real, 0o700, exist_ok=True)
            copied = _copy_one(f"{layer}/upper", real, path, began_ns, left)
            if copied is not None:
                left -= copied
                yield path


def _copy_one(upper: str, real: str, path: str, began_ns: int, most_bytes: int) -> int | None:
    """The size of the file that was put in its place; None if the one there stays."""
    upper_fd, real_fd = os.open(upper, LISTED), os.open(real, LISTED)
    try:
        with Way(upper_fd) as source, Way(real_fd) as target:
            folder_fd, name = source.folder_of(path)
            found = os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
            if not stat.S_ISREG(found.st_mode) or marks.is_whiteout(name, folder_fd, found):
                return None
            # A file with holes takes up nothing until it is copied.
            if found.st_size > most_bytes:
                return None
            _make_folders(real_fd, path)
            there_fd, name = target.folder_of(path)
            there = stat_of(there_fd, name)
            if there is not None and _is_others(there, began_ns):
                return None
            with open(os.open(name, READ, dir_fd=folder_fd), "rb") as content:
                _put(there_fd, name, content.fileno())
    finally:
        os.close(upper_fd)
        os.close(real_fd)
    return found.st_size


def _is_others(found: os.stat_result, began_ns: int) -> bool:
    """Whether it is no file, or another program has written it since the agent began."""
    return not stat.S_ISREG(found.st_mode) or found.st_ctime_ns >= began_ns - CLOCK_SLACK_NS


def _make_folders(root_fd: int, path: str) -> None:
    with Way(root_fd) as way:
        for folder in reversed(Path(path).parents[:-1]):
            above_fd, name = way.folder_of(str(folder))
            with suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=above_fd)


def _put(folder_fd: int, name: str, content_fd: int) -> None:
    draft = f".handrail-{secrets.token_hex(8)}"
    fd = os.open(draft, _CREATE, 0o600, dir_fd=folder_fd)
    try:
        with open(fd, "wb") as file:
            while piece := os.read(content_fd, _PIECE_BYTES):
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        os.rename(draft, name, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft, dir_fd=folder_fd)
        raise

"""What the rehearsals of one session share: their layers, kept caches, /tmp and home."""

import asyncio
import fcntl
import os
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from handrail.core.effects import Dropped
from handrail.core.errors import CommandExecutionError
from handrail.executors.files.removal import remove
from handrail.executors.rehearsal.caps import Caps
from handrail.executors.rehearsal.overlay import Layers, Maker
from handrail.executors.rehearsal.scratch import merge, prune, take_out
from handrail.executors.sandbox.bubblewrap import HOME, TEMPORARY, Lent

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LOCK = "lock"
_LAYERS, _TEMPORARY = "layers", "temporary"
_UPPER, _WORK, _OUT = "upper", "work", "scratch"
# With less than this left, a rehearsal would mostly show that there is no room.
_LEAST_BYTES = 32 << 20
_LEAST_FILES = 100
# The kernel stamps files by a clock that stands still between two ticks.
_COARSE_NS = 20_000_000
_MOST_TOLD = 20


class Stand:
    """An overlay that is mounted for one rehearsal.

    `view` is where the maker has it, `view_fd` leads to it from here. `name` is that of its layers
    among the session's, of which `layers_fd` is the folder. Only the maker can go the path of its
    layers, `folder`, if they are in memory.
    """

    def __init__(self, name: str, folder: str, view: str, view_fd: int, layers_fd: int):
        self.name = name
        self.folder = folder
        self.view = view
        self.view_fd = view_fd
        self.layers_fd = layers_fd
        self.closing: asyncio.Future[None] | None = None

    @property
    def upper_name(self) -> str:
        """Below `layers_fd`."""
        return f"{self.name}/{_UPPER}"

    @property
    def is_kept(self) -> bool:
        """Whether what the rehearsal has changed is still there."""
        return self.layers_fd >= 0

    def open_upper(self) -> int:
        return os.open(self.upper_name, _FOLDER, dir_fd=self.layers_fd)

    async def discard(self) -> None:
        """Throw away what the rehearsal has changed; a second time does nothing.

        As long as the overlay is known to the kernel, its files use up room.
        """
        if self.closing is not None:
            await self.closing
        if self.layers_fd >= 0:
            fd, self.layers_fd = self.layers_fd, -1
            await asyncio.to_thread(remove, fd, self.name)
            os.close(fd)


class Session:
    """A folder on disk that only we use; what is written lies in memory, or else in that folder.

    Memory vanishes with the maker. A folder that was left is removed by `sweep`.
    """

    def __init__(
        self,
        root: str,
        folder: str | Path,
        maker: Maker,
        caps: Caps,
        *,
        in_memory: bool = True,
        shown: Sequence[str] = (),
        layers: Callable[[], Sequence[str]] = tuple,
    ):
        """`layers` are folders between its caches and the workspace, the topmost first."""
        self.root = root
        self._between = layers
        self.folder = os.path.realpath(folder)
        self.is_in_memory = in_memory
        self._maker = maker
        self._caps = caps
        self._ways = _ways([root, *shown])
        self._generation = 0
        self._count = 0
        self._running = 0
        self._lock = -1
        self._mounting = asyncio.Lock()
        self._closing: asyncio.Future[None] | None = None
        self.layers_fd = -1
        self.temporary_fd = -1
        self._scratch: dict[str, bool] = {}
        self._waiting: list[tuple[str, list[str]]] = []

    @property
    def lent(self) -> Lent:
        """Folders for the boxes."""
        at = os.path.join(self.folder, _TEMPORARY)
        return Lent(os.path.join(at, "tmp"), os.path.join(at, "home"), self._ways)

    async def mount(self) -> Stand:
        """Put a new overlay over the workspace, with the session's caches in between.

        Raises:
            CommandExecutionError: The kernel refuses it, or there is no room left.
        """
        async with self._mounting:
            try:
                await self._prepare()
                return await self._mount()
            except OSError as error:
                raise CommandExecutionError(
                    f"no layers for a rehearsal could be made: {error.strerror}"
                ) from error

    async def _mount(self) -> Stand:
        self._count += 1
        name = str(self._count)
        os.mkdir(name, 0o700, dir_fd=self.layers_fd)
        own = os.open(name, _FOLDER, dir_fd=self.layers_fd)
        try:
            for part in (_UPPER, _WORK, _OUT):
                os.mkdir(part, 0o700, dir_fd=own)
            self._make_like_root(own)
        finally:
            os.close(own)
        if not self._running and self._scratch:
            self._prune_caches()
        view = os.path.join(self.folder, f"view-{name}")
        os.mkdir(view, 0o700)
        at = os.path.join(self.folder, _LAYERS)
        kept = [os.path.join(at, _OUT)] if self._scratch else []
        upper = os.path.join(at, name, _UPPER)
        lowers = [*kept, *self._between(), self.root]
        layers = Layers(lowers, upper, os.path.join(at, name, _WORK))
        try:
            view_fd = await self._maker.mount_overlay(layers, view, "xino=on")
        except BaseException:
            os.rmdir(view)
            remove(self.layers_fd, name)
            raise
        self._running += 1
        return Stand(name, os.path.join(at, name), view, view_fd, os.dup(self.layers_fd))

    def reopen(self, name: str) -> Stand:
        """The layers of a rehearsal on disk whose client was killed; OSError if they are gone."""
        at = f"{self.folder}/{_LAYERS}"
        return Stand(name, f"{at}/{name}", "", -1, os.open(at, _FOLDER))

    async def unmount(self, stand: Stand) -> tuple[Dropped, ...]:
        """Take the overlay away and the caches out of what it has changed; these are told."""
        self._running -= 1
        # A mount of another namespace goes with the folder that it is on. What the kernel knows of
        # its files goes with the last descriptor, which takes long for a large workspace.
        with suppress(OSError):
            os.rmdir(stand.view)
        loop = asyncio.get_running_loop()
        self._closing = stand.closing = loop.run_in_executor(None, os.close, stand.view_fd)
        own = os.open(stand.name, _FOLDER, dir_fd=stand.layers_fd)
        try:
            upper, out = os.open(_UPPER, _FOLDER, dir_fd=own), os.open(_OUT, _FOLDER, dir_fd=own)
            try:
                found = take_out(upper, out, self.root)
            finally:
                os.close(upper)
                os.close(out)
        finally:
            os.close(own)
        self._waiting.append((stand.name, [one.path for one in found]))
        self._merge_caches()
        return tuple(found)

    def written_outside(self, since_ns: int) -> tuple[str, ...]:
        """The first names in /tmp and the home that were made or changed since; in time they go."""
        found: list[str] = []
        for place, shown in (("home", HOME), ("tmp", TEMPORARY)):
            fd = os.open(place, _FOLDER, dir_fd=self.temporary_fd)
            try:
                for name in os.listdir(fd):
                    changed_ns = os.stat(name, dir_fd=fd, follow_symlinks=False).st_ctime_ns
                    path = f"{shown}/{name}"
                    if changed_ns >= since_ns - _COARSE_NS and path not in (HOME, *self._ways):
                        found.append(path)
            finally:
                os.close(fd)
        return tuple(found[:_MOST_TOLD])

    async def close(self) -> None:
        """Throw everything away; memory is freed with the last rehearsal that is closed."""
        if self._closing is not None:
            await self._closing
        if self._generation == self._maker.generation:
            for name in (_LAYERS, _TEMPORARY) if self.is_in_memory else (_TEMPORARY,):
                with suppress(CommandExecutionError):
                    await self._maker.unmount(os.path.join(self.folder, name))
        self._close_folder()
        # If it is used again, everything is made anew.
        self._generation = 0

    def _close_folder(self) -> None:
        for fd in (self.layers_fd, self.temporary_fd, self._lock):
            if fd >= 0:
                os.close(fd)
        self.layers_fd = self.temporary_fd = self._lock = -1
        remove_folder(self.folder)

    async def _prepare(self) -> None:
        generation = await self._maker.ensure()
        if generation != self._generation:
            await self._mount_parts()
            self._generation = generation
        if not self._has_room() and not self._running:
            self._drop_caches()
        if not self._has_room():
            raise CommandExecutionError(
                "the changes of this session's rehearsals that wait for a decision leave no room "
                "for another"
            )

    def _has_room(self) -> bool:
        found = os.fstatvfs(self.layers_fd)
        most = min(_LEAST_BYTES, self._caps.changed_bytes // 2)
        return found.f_bavail * found.f_frsize >= most and found.f_favail >= _LEAST_FILES

    async def _mount_parts(self) -> None:
        """Mount what the session needs; nothing is left of what an earlier maker has mounted."""
        if self._lock < 0:
            self._lock = lock_folder(self.folder)
        for fd in (one for one in (self.layers_fd, self.temporary_fd) if one >= 0):
            os.close(fd)
        self._scratch, self._waiting = {}, []
        layers, temporary = (os.path.join(self.folder, name) for name in (_LAYERS, _TEMPORARY))
        for path in (layers, temporary):
            os.makedirs(path, 0o700, exist_ok=True)
        caps = self._caps
        if self.is_in_memory:
            most = (caps.changed_bytes, caps.changed_files)
            self.layers_fd = await self._maker.mount_memory(layers, *most)
        else:
            self.layers_fd = os.open(layers, _FOLDER)
        most = (caps.temporary_bytes, caps.temporary_files)
        self.temporary_fd = await self._maker.mount_memory(temporary, *most)
        self._make_folders()

    def _make_folders(self) -> None:
        with suppress(FileExistsError):
            os.mkdir(_OUT, 0o700, dir_fd=self.layers_fd)
        for path in ("tmp", "home"):
            os.mkdir(path, 0o700, dir_fd=self.temporary_fd)
        for path in (HOME, *self._ways):
            os.mkdir(f"tmp/{os.path.relpath(path, TEMPORARY)}", 0o700, dir_fd=self.temporary_fd)

    def _make_like_root(self, own: int) -> None:
        """An overlay's root has the mode and the times of its upper directory."""
        found = os.stat(self.root)
        os.chmod(_UPPER, stat.S_IMODE(found.st_mode), dir_fd=own)
        os.utime(_UPPER, ns=(found.st_atime_ns, found.st_mtime_ns), dir_fd=own)

    def _merge_caches(self) -> None:
        """Add what was taken out to the layer, which changes only while it is in no mount."""
        if self._running:
            return
        layer = os.open(_OUT, _FOLDER, dir_fd=self.layers_fd)
        try:
            for name, paths in self._waiting:
                with suppress(FileNotFoundError):
                    out = os.open(f"{name}/{_OUT}", _FOLDER, dir_fd=self.layers_fd)
                    try:
                        merge(out, layer, paths, self.root)
                    finally:
                        os.close(out)
                    for path in paths:
                        self._scratch[path] = os.path.lexists(os.path.join(self.root, path))
        finally:
            os.close(layer)
        self._waiting = []

    def _prune_caches(self) -> None:
        layer = os.open(_OUT, _FOLDER, dir_fd=self.layers_fd)
        try:
            self._scratch = prune(layer, self._scratch, self.root)
        finally:
            os.close(layer)

    def _drop_caches(self) -> None:
        remove(self.layers_fd, _OUT)
        os.mkdir(_OUT, 0o700, dir_fd=self.layers_fd)
        self._scratch = {}


def sweep(base: str | Path) -> None:
    """Remove the folders of sessions whose client is gone, whether it ended or was killed."""
    with suppress(FileNotFoundError), os.scandir(base) as entries:
        for entry in [*entries]:
            if not entry.is_dir(follow_symlinks=False):
                continue
            try:
                lock = lock_folder(entry.path)
            except (OSError, CommandExecutionError):
                continue
            remove_folder(entry.path)
            os.close(lock)


def lock_folder(folder: str) -> int:
    """Make a folder ours for as long as the answer, a descriptor, is open.

    Raises:
        CommandExecutionError: It is another client's.
    """
    os.makedirs(folder, 0o700, exist_ok=True)
    fd = os.open(os.path.join(folder, _LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(fd)
        raise CommandExecutionError(f"{folder} is in use by another client") from error
    return fd


def remove_folder(folder: str) -> None:
    """Remove a folder of ours with all that commands have left in it."""
    parent, name = os.path.split(folder)
    with suppress(FileNotFoundError):
        fd = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            remove(fd, name)
        finally:
            os.close(fd)


def _ways(paths: Sequence[str]) -> tuple[str, ...]:
    """The first folders below /tmp on the way to what a box shows there."""
    below = [path.split("/")[2] for path in paths if path.startswith(f"{TEMPORARY}/")]
    return tuple(dict.fromkeys(f"{TEMPORARY}/{name}" for name in below))

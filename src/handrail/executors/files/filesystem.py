"""FileSystemExecutor: files below one workspace root, and nothing else."""

import asyncio
import errno
import os
import stat
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from copy import copy
from pathlib import Path
from typing import Self

from handrail.core.errors import FileOperationError, PathValidationError, StaleFileError
from handrail.core.hands import FileContent, FileState, Listing, ReadCache
from handrail.core.pattern import NamePattern
from handrail.executors.files.atomic import put
from handrail.executors.files.beneath import open_beneath
from handrail.executors.files.beside import FoldersBeside
from handrail.executors.files.explain import explain
from handrail.executors.files.leaving import move, remove
from handrail.executors.files.listing import Tour, list_folder
from handrail.executors.files.opened import check_regular, find_true_name, looking
from handrail.executors.files.place import Place
from handrail.executors.files.reading import in_thread, read_content
from handrail.executors.guarded.names import GuardedNames
from handrail.executors.guarded.second_names import SecondNames
from handrail.executors.guarded.secrets_here import SecretsHere
from handrail.executors.processes.threads import to_its_end
from handrail.executors.repository.places import as_inside_git
from handrail.policy.rulebook.rules import Rules, default_rules

Around = AbstractContextManager[None] | None

# What the system says of a word that names no file, or none that a program could open.
_NOTHING_THERE = {
    errno.ENOENT,
    errno.ENOTDIR,
    errno.ENAMETOOLONG,
    errno.EACCES,
    errno.EINVAL,
}


class FileSystemExecutor:
    """Holds the root folder open: what happens to its path later makes no difference."""

    def __init__(
        self,
        root: str | Path,
        rules: Rules | None = None,
        *,
        cache: ReadCache | None = None,
        private: Sequence[str | Path] = (),
    ):
        self.root = os.path.realpath(root)
        self.rules = rules or default_rules()
        self._cache = cache
        self._root_fd = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._workspace_fd = -1
        self._is_own: Callable[[str], bool] = lambda path: False
        self.second_names = SecondNames(self._root_fd, self.rules, private)
        self._private = [os.path.relpath(os.path.realpath(way), self.root) for way in private]
        self.guarded = GuardedNames(self.root, self.rules, self.second_names, private)
        self._secrets = SecretsHere(self.guarded)
        self.beside = FoldersBeside[FileSystemExecutor](
            self.root, lambda path, own: FileSystemExecutor(path, own, private=private)
        )
        self.beside.adopt(self.rules)

    def adopt(self, rules: Rules) -> None:
        """Protect by other rules from now on."""
        self.rules = rules
        self.second_names.adopt(rules)
        self.guarded.adopt(rules)
        self._secrets.forget()
        self.beside.adopt(rules)

    def learn_secrets(self) -> None:
        """Look where the guarded files are, which can take a second, before anybody reads."""
        self._secrets.look()

    def over(self, root_fd: int, is_own: Callable[[str], bool]) -> Self:
        """The same with an overlay of the workspace as its root, whose descriptor it will close.

        A path of which `is_own` is true lies in a layer of the overlay, not in the workspace.
        """
        other = copy(self)
        other._root_fd, other._workspace_fd = root_fd, self._root_fd
        other._is_own, other._cache = is_own, None
        return other

    def close(self) -> None:
        if self._root_fd >= 0:
            os.close(self._root_fd)
            self._root_fd = -1
        if self._workspace_fd < 0:
            self.beside.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    async def read(self, path: str, *, max_bytes: int) -> FileContent:
        fd = await self.open_readable(path)
        try:
            return await read_content(fd, path, max_bytes, self._cache)
        finally:
            os.close(fd)

    async def open_readable(self, path: str, *, folders: bool = False) -> int:
        """A file, or a folder if `folders` are wanted too, held against all that forbids it."""
        if (there := self.beside.find(path)) is not None:
            return await there[0].open_readable(there[1], folders=folders)
        # O_NONBLOCK: opening a pipe must not wait for somebody to write into it.
        fd = self._open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        try:
            found = os.fstat(fd)
            is_folder = stat.S_ISDIR(found.st_mode)
            if not (is_folder and folders):
                check_regular(found, path)
            true_name = self._check_true_name(fd, path)
            if not is_folder:
                found = self._in_workspace(found, true_name)
                # Layers of drafts are folded by hard links, and lie among the files of Handrail.
                if found.st_nlink > 1 and not self._is_own(true_name):
                    await asyncio.to_thread(self.second_names.check, found, path)
                await self._check_other_names(found, path)
        except BaseException:
            os.close(fd)
            raise
        return fd

    async def list(self, path: str, pattern: NamePattern, *, most: int) -> Listing:
        if (there := self.beside.find(path)) is not None:
            other, rest = there
            return (await other.list(rest, pattern, most=most)).below(other.root)
        fd = self._open_folder(path)
        try:
            true_name = self._true_name(fd, path) or path
            self._check_rules(path, true_name, writing=False)
        except BaseException:
            os.close(fd)
            raise

        def may_enter(below: str) -> bool:
            return not self.is_protected(f"{true_name}/{below}")

        try:
            return await in_thread(fd, list_folder, Tour(path, pattern, may_enter, most))
        except OSError as error:
            raise explain(error, path, "list") from error

    async def find(self, path: str, *, max_bytes: int) -> FileContent | None:
        try:
            with self._place(self._root_fd, path) as place:
                fd = place.open_file()
        except OSError as error:
            raise explain(error, path, "write") from error
        if fd is None:
            return None
        try:
            await self._check_other_names(self._in_workspace(os.fstat(fd), path), path)
            return await read_content(fd, path, max_bytes, self._cache)
        finally:
            os.close(fd)

    async def check(self, path: str, *, writing: bool) -> str:
        there, rest = self._part_at_the_missing(path) if writing else (path, "")
        fd = self._look(there)
        if fd is None:
            return path
        try:
            true_name = self._true_name(fd, path, rest) or path
            self._check_rules(path, true_name, writing=writing)
            return true_name
        finally:
            os.close(fd)

    async def write(
        self, path: str, data: bytes, *, expected: FileState | None, around: Around = None
    ) -> None:
        """Write as `Files` says; `around` is entered and left in the thread that writes."""

        def change(root_fd: int) -> None:
            with self._place(root_fd, path) as place:
                if place.missing and expected is not None and expected.exists:
                    raise StaleFileError(f"{path} is gone")
                place.make_folders()
                put(place, data, expected)

        await self._make(change, path, around)

    async def remove(self, path: str, *, expected: FileState, around: Around = None) -> None:
        """Remove as `Files` says; `around` as in `write`."""

        def change(root_fd: int) -> None:
            with self._place(root_fd, path) as place:
                remove(place, expected)

        await self._make(change, path, around)

    async def move(self, path: str, to: str, *, expected: FileState, around: Around = None) -> None:
        """Move as `Files` says; `around` as in `write`."""

        def change(root_fd: int) -> None:
            with self._place(root_fd, path) as place, self._place(root_fd, to) as into:
                into.make_folders()
                move(place, into, expected)

        await self._make(change, path, around)

    async def _make(self, change: Callable[[int], None], path: str, around: Around) -> None:
        """Make a change of `path` below the root that it is given."""
        # A copy for the thread, which may still be writing when we are closed.
        try:
            root_fd = os.dup(self._root_fd)
        except OSError as error:
            raise explain(error, path, "write") from error

        def make() -> None:
            try:
                with around or nullcontext():
                    change(root_fd)
            except OSError as error:
                raise explain(error, path, "write") from error
            finally:
                os.close(root_fd)

        # In a thread, however little it is: waiting for a disk can take long.
        await to_its_end(make)

    @contextmanager
    def _place(self, root_fd: int, path: str) -> Generator[Place]:
        """Where `path` is to be written, held against all that forbids it."""
        with Place(root_fd, path, self._is_own) as place:
            self._check_place(place, root_fd)
            yield place

    def is_protected(self, path: str) -> bool:
        """Whether a file of that name is not to be read, as its name says."""
        if (there := self.beside.find(path)) is not None:
            return there[0].is_protected(there[1])
        meant = as_inside_git(self.root, path)
        by_rule = any(rule.forbids(meant, writing=False) for rule in self.rules.paths)
        return by_rule or self._is_private(path)

    def _is_private(self, path: str) -> bool:
        return any(f"{path}/".startswith(f"{folder}/") for folder in self._private)

    def _open_folder(self, path: str) -> int:
        try:
            return open_beneath(self._root_fd, path, os.O_RDONLY | os.O_DIRECTORY)
        except NotADirectoryError as error:
            raise FileOperationError(
                f"{path} is not a directory; read_file shows what is in a file"
            ) from error
        except OSError as error:
            raise explain(error, path, "list") from error

    def _open(self, path: str, flags: int) -> int:
        try:
            return open_beneath(self._root_fd, path, flags)
        except OSError as error:
            raise explain(error, path, "read") from error

    def _part_at_the_missing(self, path: str) -> tuple[str, str]:
        """As much of a path as is there, and the rest, which a program would make."""
        parts = path.split("/")
        for count in range(len(parts)):
            way = "/".join(parts[: count + 1]) or "/"
            fd = self._look(way)
            if fd is None and self._is_link(way):
                raise PathValidationError(f"{path} goes through a link that leads nowhere")
            if fd is None:
                return "/".join(parts[:count]) or ".", "/".join(parts[count:])
            os.close(fd)
        return path, ""

    def _look(self, path: str) -> int | None:
        """What a path leads to, opened for nothing but its name; None where nothing is there."""
        try:
            return open_beneath(self._root_fd, path, looking())
        except OSError as error:
            if error.errno in _NOTHING_THERE:
                return None
            raise explain(error, path, "read") from error

    def _is_link(self, path: str) -> bool:
        try:
            os.close(open_beneath(self._root_fd, path, looking() | os.O_NOFOLLOW))
        except OSError as error:
            return error.errno in (errno.ELOOP, errno.EMLINK)
        return True

    def _check_true_name(self, fd: int, path: str) -> str:
        """Whatever the tool has checked: a file is protected by its name, and by its true name."""
        true_name = self._true_name(fd, path) or path
        self._check_rules(path, true_name, writing=False)
        return true_name

    def _in_workspace(self, found: os.stat_result, true_name: str) -> os.stat_result:
        """The file that an overlay shows, as guarded files are known: it has a device of its own.

        A file in a layer has only the names that commands gave it, which could not see these.
        """
        if self._workspace_fd < 0 or self._is_own(true_name):
            return found
        with suppress(OSError):
            fd = open_beneath(self._workspace_fd, true_name, looking())
            try:
                return os.fstat(fd)
            finally:
                os.close(fd)
        return found

    async def _check_other_names(self, found: os.stat_result, path: str) -> None:
        """A link with a guarded name may lead here, or a guarded name be a second one of it."""
        if self._secrets.knows_not(found):
            return
        if await asyncio.to_thread(self._secrets.hold, found):
            raise PathValidationError(
                f"{path} has a hard link in this workspace that may not be read"
            )

    def _check_place(self, place: Place, root_fd: int) -> None:
        """For writing a link lends no name at all: a person approves the one they were shown."""
        place.check_writable()
        way = place.folder_fd, place.path, place.rest
        true_name = find_true_name(self.root, root_fd, *way)
        self._check_rules(place.path, true_name or place.path, writing=True)
        if true_name is None:
            return
        raise PathValidationError(f"{place.path} leads to {true_name}; write it by that name")

    def _check_rules(self, path: str, true_name: str, *, writing: bool) -> None:
        if self._is_private(true_name):
            raise PathValidationError(f"{path}: agents may not see or change anything in it")
        meant = as_inside_git(self.root, true_name)
        for rule in self.rules.paths:
            if rule.forbids(meant, writing=writing):
                leads = (
                    path if true_name == os.path.normpath(path) else f"{path} leads to {true_name}"
                )
                raise PathValidationError(f"{leads}: {rule.reason}")

    def _true_name(self, fd: int, path: str, rest: str = "") -> str | None:
        return find_true_name(self.root, self._root_fd, fd, path, rest)

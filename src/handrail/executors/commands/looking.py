"""The snapshot of commands that an approval is bound to, taken before asking and once at use.

Programs of the system are known by path, size and times, files of the workspace by their content.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from handrail.core.box import Profile
from handrail.core.errors import CommandExecutionError, ToolError
from handrail.core.sight import FileSort, SeenFile, SeenStep, Sight
from handrail.core.stage import Stage, word_for
from handrail.core.visible import visible
from handrail.executors.files.beneath import PASSAGE, open_beneath
from handrail.executors.files.patterns import words_of_each
from handrail.executors.processes.programs import ProgramFinder, is_build_tool, may_use_workspace

# Together, for one call: a look may take two seconds, also on a slow machine.
MOST_BYTES = 64 * 1024 * 1024
_CHUNK = 1024 * 1024
_GONE = (errno.ENOENT, errno.ENOTDIR)
_TOO_LONG = (errno.ENAMETOOLONG, errno.EINVAL)
_READING = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class CommandLooker:
    """`environment` is what commands are given. What changes with every start stands for itself."""

    def __init__(
        self,
        root: str,
        programs: ProgramFinder,
        environment: Mapping[str, str],
        most_bytes: int = MOST_BYTES,
    ):
        self._root = root
        self._programs = programs
        self._environment = environment
        self._most_bytes = most_bytes

    def look(self, stages: Sequence[Stage]) -> Sight:
        """Look at what these stages would run. A line that only reads is bound to no file.

        Raises:
            CommandExecutionError: A program or a folder is not here.
            PathValidationError: A program or a folder lies elsewhere.
        """
        binds = any(stage.profile is not Profile.READ for stage in stages)
        root_fd = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            look = _Look(self._root, root_fd, self._programs, self._most_bytes)
            steps = [
                look.at(stage, self.find_workspace_program(stage), binds=binds) for stage in stages
            ]
            return Sight(tuple(steps), self._environment)
        finally:
            os.close(root_fd)

    def find_workspace_program(self, stage: Stage) -> str | None:
        """The program of the workspace that a stage starts by a bare name, as a path from the root.

        Raises:
            CommandExecutionError: Another program would have to find one of the workspace.
        """
        if not may_use_workspace(stage):
            return None
        starter = stage.argv[0]
        for name in () if is_build_tool(stage) else stage.programs:
            path = None if name == starter else self._programs.find_in_workspace(name)
            if path is not None:
                raise CommandExecutionError(
                    f"`{visible(starter)}` finds only programs of the system, and "
                    f"`{visible(name)}` is one of the workspace; call it as {visible(path)}"
                )
        return self._programs.find_in_workspace(starter)


class _Look:
    """One look, in which no file is read twice."""

    def __init__(self, root: str, root_fd: int, programs: ProgramFinder, most_bytes: int):
        self._root = root
        self._root_fd = root_fd
        self._programs = programs
        self._bytes_left = most_bytes
        self._seen: dict[str, SeenFile] = {}

    def at(self, stage: Stage, own: str | None, *, binds: bool) -> SeenStep:
        """`own` is the program of the workspace that the stage starts by a bare name."""
        program = self._programs.find(stage.argv[0], stage.folder, in_workspace=own is not None)
        words = words_of_each(self._root_fd, stage)
        own_file = None
        if own is not None:
            words[0] = (word_for(stage, self._root, own),)
            own_file = self._obeyed(own)
        names = [name for place in stage.patterns for name in words[place]]
        return SeenStep(
            tuple([word for each in words for word in each]),
            self._program(program),
            stage.folder,
            self._folder(stage.folder),
            tuple(self._files(stage, own, names)) if binds else (),
            own=own_file,
            stdin=stage.stdin,
        )

    def _files(self, stage: Stage, own: str | None, names: Sequence[str]) -> Iterator[SeenFile]:
        obeyed = dict.fromkeys((*stage.obeys, *filter(None, [own])))
        yield from map(self._obeyed, obeyed)
        expanded = [os.path.normpath(os.path.join(stage.folder, name)) for name in names]
        for path in dict.fromkeys((*stage.named, *expanded)):
            file = self._file(path)
            leads_to = self._true_name(path) if file.sort is FileSort.ABSENT else ""
            # A word that names nothing is bound only where a link decides what it would name.
            if (
                path not in obeyed
                and path != "."
                and (leads_to or file.sort is not FileSort.ABSENT)
            ):
                yield replace(file, mark=file.mark + leads_to)

    def _obeyed(self, path: str) -> SeenFile:
        """One that is run or obeyed; a link to a program of the system is known as that program."""
        file = self._file(path)
        if file.sort is not FileSort.UNREAD:
            return file
        try:
            found = self._program(self._programs.find(os.path.join(".", path)))
        except ToolError:
            return file
        return replace(found, path=path)

    def _program(self, path: str) -> SeenFile:
        """One of the workspace by its content, any other by what the system says of it."""
        target = os.path.realpath(path)
        if (own := self._from_root(target)) is not None:
            return self._file(own)
        try:
            found = os.stat(path)
        except OSError:
            return SeenFile(path, FileSort.ABSENT)
        return SeenFile(path, FileSort.PROGRAM, f"{target} {_identity(found)}", found.st_size)

    def _file(self, path: str) -> SeenFile:
        if path not in self._seen:
            self._seen[path] = self._read(path)
        return self._seen[path]

    def _read(self, path: str) -> SeenFile:
        try:
            fd = open_beneath(self._root_fd, path, _READING)
        except OSError as error:
            is_none = error.errno in _GONE or error.errno in _TOO_LONG
            sort = FileSort.ABSENT if is_none else FileSort.UNREAD
            return SeenFile(path, sort, errno.errorcode.get(error.errno or 0, ""))
        try:
            return self._read_open(path, fd)
        except OSError as error:
            return SeenFile(path, FileSort.UNREAD, errno.errorcode.get(error.errno or 0, ""))
        finally:
            os.close(fd)

    def _read_open(self, path: str, fd: int) -> SeenFile:
        found = os.fstat(fd)
        if stat.S_ISDIR(found.st_mode):
            return SeenFile(path, FileSort.FOLDER, _whereabouts(found))
        if not stat.S_ISREG(found.st_mode):
            return SeenFile(path, FileSort.UNREAD, _whereabouts(found))
        digest, size = hashlib.sha256(), 0
        while size <= self._bytes_left and (chunk := os.read(fd, _CHUNK)):
            digest.update(chunk)
            size += len(chunk)
        if size > self._bytes_left:
            return SeenFile(path, FileSort.LARGE, _identity(found), found.st_size)
        self._bytes_left -= size
        return SeenFile(path, FileSort.FILE, digest.hexdigest() + self._true_name(path), size)

    def _true_name(self, path: str) -> str:
        """Where a link leads: the same bytes elsewhere load other files from beside them."""
        true_path = os.path.realpath(os.path.join(self._root, path))
        plain = os.path.normpath(os.path.join(self._root, path))
        return "" if true_path == plain else f" {os.path.relpath(true_path, self._root)}"

    def _folder(self, folder: str) -> str:
        fd = open_beneath(self._root_fd, folder, PASSAGE)
        try:
            return _whereabouts(os.fstat(fd))
        finally:
            os.close(fd)

    def _from_root(self, path: str) -> str | None:
        inside = path.startswith(f"{self._root.rstrip('/')}/")
        return os.path.relpath(path, self._root) if inside else None


def _whereabouts(found: os.stat_result) -> str:
    return f"{found.st_dev}:{found.st_ino}"


def _identity(found: os.stat_result) -> str:
    times = f"{found.st_mtime_ns}:{found.st_ctime_ns}"
    return f"{_whereabouts(found)}:{found.st_size}:{times}"

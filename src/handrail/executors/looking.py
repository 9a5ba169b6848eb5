"""CommandLooker: by which files commands would be run, and what those hold now.

Programs of the system are known by where they are, their size and times: no agent can change them,
and to read them takes long. What lies in the workspace is known by its whole content.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from handrail.core.errors import CommandExecutionError, ToolError
from handrail.core.sight import FileSort, SeenFile, SeenStep, Sight
from handrail.core.stage import NamedFile, Stage, word_for
from handrail.core.visible import visible
from handrail.executors.beneath import PASSAGE, open_beneath
from handrail.executors.expanding import names_of_each
from handrail.executors.folders import files_within
from handrail.executors.interpreters import FirstLine, Interpreter, first_line
from handrail.executors.npm import refuse_missing_project
from handrail.executors.patterns import expand
from handrail.executors.programs import ProgramFinder, may_use_workspace

# Together, for one call: a look may take two seconds, also on a slow machine.
MOST_BYTES = 64 * 1024 * 1024
_CHUNK = 1024 * 1024
_MOST_INTERPRETERS = 4
_MOST_CHARS_OF_SHEBANG = 256
_READABLE = (FileSort.FILE, FileSort.LARGE, FileSort.SEVERAL)
_GONE = (errno.ENOENT, errno.ENOTDIR)
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
        """Look at what these stages would run.

        Raises:
            CommandExecutionError: A program or a folder is not here.
            PathValidationError: A program or a folder lies elsewhere.
        """
        root_fd = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            look = _Look(self._root, root_fd, self._programs, self._most_bytes)
            steps = [look.at(stage, self.find_workspace_program(stage)) for stage in stages]
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
        for name in stage.programs:
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

    def at(self, stage: Stage, own: str | None) -> SeenStep:
        """`own` is the program of the workspace that the stage starts by a bare name."""
        program = self._programs.find(stage.argv[0], stage.folder, in_workspace=own is not None)
        words = names_of_each(self._root, stage)
        scripts = tuple([self._script(script, stage.folder) for script in stage.scripts])
        own_file = None
        if own is not None:
            words[0] = (word_for(stage, self._root, own),)
            own_file = self._script(NamedFile(own, is_program=True), stage.folder)
            scripts = (*scripts, own_file)
        refuse_missing_project(stage, scripts)
        named = [self._named_file(one, stage.folder) for one in stage.named]
        return SeenStep(
            tuple([name for names in words for name in names]),
            self._program(program),
            stage.folder,
            self._folder(stage.folder),
            scripts,
            tuple([words[place] for place in stage.patterns]),
            named=tuple([file for file in named if file.sort in _READABLE]) if named else None,
            loads=stage.loads or own is not None,
            own=own_file,
            stdin=stage.stdin,
        )

    def _program(self, path: str) -> SeenFile:
        """One of the workspace by its content, any other by what the system says of it."""
        if (own := self._from_root(os.path.realpath(path))) is not None:
            return self._file(own)
        try:
            found = os.stat(path)
        except OSError:
            return SeenFile(path, FileSort.ABSENT)
        target = os.path.realpath(path)
        leads_to = "" if self._from_root(path) is None else target
        mark = f"{target} {_identity(found)}"
        return SeenFile(path, FileSort.PROGRAM, mark, found.st_size, leads_to=leads_to)

    def _interpreters(self, program: str, folder: str) -> Iterator[SeenFile]:
        """What the first line of a script names, and of that in turn, within the workspace."""
        todo = [program]
        for _ in range(_MOST_INTERPRETERS):
            if not todo:
                return
            own = self._from_root(os.path.realpath(todo.pop(0)))
            line = None if own is None else self._shebang(own)
            if line is None:
                continue
            said = first_line(line)
            files = [self._named_there(word, folder) for word in said.words]
            yield from (self._script(NamedFile(path), folder) for path in filter(None, files))
            todo += [os.path.join(self._root, path) for path in filter(None, files)]
            interpreter = self._named(said.interpreter, folder)
            if not self._is_clear(said, interpreter):
                yield SeenFile(line, FileSort.UNREAD, "unclear")
            if interpreter is not None:
                self._programs.refuse_hidden(interpreter)
                yield self._program(interpreter)
                todo.insert(0, interpreter)
        if todo:
            yield SeenFile(todo[0], FileSort.UNREAD, "too many")

    def _is_clear(self, said: FirstLine, program: str | None) -> bool:
        """Whether nothing decides what is run but the script, and those whom its line names."""
        if said.interpreter is None or program is None:
            return False
        is_own = self._from_root(os.path.realpath(program)) is not None
        return said.is_clear and (is_own or said.interpreter.is_known)

    def _named_there(self, word: str, folder: str) -> str | None:
        """The path from the root that a word may name; None where it leads elsewhere."""
        path = os.path.join(self._root, folder, word)
        if not path.startswith(f"{self._root}/"):
            return self._from_root(os.path.realpath(path))
        # With every `..` in it: links make something else of that.
        parts = path[len(self._root) :].split("/")
        return "/".join(part for part in parts if part not in ("", ".")) or None

    def _named(self, named: Interpreter | None, folder: str) -> str | None:
        """As the system finds it: by its path from where it is run, or looked up by its name."""
        if named is None:
            return None
        if not named.is_looked_up or "/" in named.name:
            return os.path.join(self._root, folder, named.name)
        try:
            return self._programs.find(named.name, folder)
        except ToolError:
            return None

    def _shebang(self, path: str) -> str | None:
        try:
            fd = open_beneath(self._root_fd, path, _READING)
        except OSError:
            return None
        try:
            head = os.read(fd, _MOST_CHARS_OF_SHEBANG)
        except OSError:
            return None
        finally:
            os.close(fd)
        if not head.startswith(b"#!"):
            return None
        line, end, _ = head[2:].partition(b"\n")
        # The end of a line is no part of one, unless nobody has seen where it ends.
        return os.fsdecode(line if end or len(head) < _MOST_CHARS_OF_SHEBANG else line + b"\n")

    def _script(self, script: NamedFile, folder: str) -> SeenFile:
        if script.is_program:
            path = os.path.join(self._root, script.path)
            if self._from_root(os.path.realpath(path)) is None:
                return self._kept_program(script.path)
            return replace(self._file(script.path), run_by=tuple(self._interpreters(path, folder)))
        if not script.is_pattern:
            found = self._file(script.path)
            return found if found.sort is not FileSort.FOLDER else self._within(found)
        return self._fitting(script.path, os.path.normpath(folder))

    def _named_file(self, named: NamedFile, folder: str) -> SeenFile:
        """One that the words name; of a folder nobody knows which files are meant."""
        if named.is_pattern:
            return self._fitting(named.path, os.path.normpath(folder))
        return self._file(named.path)

    def _fitting(self, pattern: str, folder: str) -> SeenFile:
        """The files for which a pattern stands; whatever the folder's own name, it is none."""
        own = pattern.removeprefix(f"{folder}/")
        start = "." if own == pattern else folder
        if "\\" in own:
            return SeenFile(pattern, FileSort.UNREAD, "unclear")
        try:
            names = expand(self._root_fd, start, own)
        except CommandExecutionError:
            return SeenFile(pattern, FileSort.UNREAD, "too many")
        found = [self._file(os.path.normpath(os.path.join(start, name))) for name in names]
        if [file.sort for file in found] == [FileSort.ABSENT]:
            return replace(found[0], path=pattern)
        return self._several(pattern, found)

    def _within(self, folder: SeenFile) -> SeenFile:
        """What a folder holds that is run: which of it comes to be run, only the program knows."""
        try:
            names = files_within(self._root_fd, folder.path)
        except OSError:
            return folder
        found = [self._file(name) for name in names or ()]
        if names is None or any(file.sort is not FileSort.FILE for file in found):
            return folder
        several = self._several(folder.path, found)
        return replace(several, mark=f"{folder.mark} {several.mark}")

    def _several(self, path: str, found: Sequence[SeenFile]) -> SeenFile:
        told = "\n".join(f"{file.path} {file.fact}" for file in found)
        mark = hashlib.sha256(told.encode(errors="surrogateescape")).hexdigest()
        return SeenFile(path, FileSort.SEVERAL, mark, len(found))

    def _kept_program(self, path: str) -> SeenFile:
        """A link of the workspace to a program elsewhere, if it is one that may be run."""
        try:
            return self._program(self._programs.find(os.path.join(".", path)))
        except ToolError:
            return self._file(path)

    def _file(self, path: str) -> SeenFile:
        if path not in self._seen:
            self._seen[path] = self._read(path)
        return self._seen[path]

    def _read(self, path: str) -> SeenFile:
        try:
            fd = open_beneath(self._root_fd, path, _READING)
        except OSError as error:
            sort = FileSort.ABSENT if error.errno in _GONE else FileSort.UNREAD
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
        """Where a link leads: the same bytes elsewhere load other things from beside them."""
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

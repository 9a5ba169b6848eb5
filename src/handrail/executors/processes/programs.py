"""Which file a command's name stands for.

The project's own programs come first, as in a shell with its environment activated. An agent can
write them, so the caller must judge, show and bind such a program by its path.
"""

import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from handrail.core.box import Profile
from handrail.core.errors import CommandExecutionError, PathValidationError, ToolError
from handrail.core.stage import Stage
from handrail.core.visible import visible
from handrail.executors.toolchains.toolchain import holds, is_in, is_systems

SEARCH_PATH = ("/usr/local/bin", "/usr/bin", "/bin")
# Where virtual environments and npm put the programs of a project, from its root.
WORKSPACE_FOLDERS = (".venv/bin", "node_modules/.bin")

# Credentials and settings are handed to these, so they are always the system's.
_ONLY_THE_SYSTEMS = {"git", "bash", "sh"}
# They run scripts of the workspace in a shell, which can start its programs by path anyway.
_BUILD_TOOLS = {"make", "npm", "npx", "pnpm", "yarn"}
_HINT_FOLDERS = (*WORKSPACE_FOLDERS, "venv/bin")
_MOST_HINT_ENTRIES = 100
_MOST_HINT_PROJECTS = 200
_PYTHON = re.compile(r"python[0-9.]*")


def may_use_workspace(stage: Stage) -> bool:
    """True if a bare name in this stage may mean a program of the workspace.

    Not in the READ box, whose commands run without a question, nor what may get credentials: git,
    and a program that has to be signed in.
    """
    git = "git" in stage.programs or os.path.basename(stage.argv[0]) == "git"
    return stage.profile is not Profile.READ and not git and not stage.account


def path_for(stage: Stage, root: str, search_path: Sequence[str]) -> str:
    """The PATH of a stage. Only a build tool finds the workspace's programs on it, and first.

    Other programs must not: `env`, `timeout` or `tar` would start a file that was never checked.
    Where there is a network they come last: no name of the system's may lead to code of an agent.
    """
    has_own = is_build_tool(stage) and may_use_workspace(stage) and ":" not in root
    own = [os.path.join(root, folder) for folder in WORKSPACE_FOLDERS] if has_own else []
    is_offline = stage.profile is not Profile.NET
    return ":".join((*own, *search_path) if is_offline else (*search_path, *own))


def is_build_tool(stage: Stage) -> bool:
    return os.path.basename(stage.argv[0]) in _BUILD_TOOLS


class ProgramFinder:
    """`toolchains` are folders beside the system's that a person has allowed."""

    def __init__(
        self,
        root: str,
        search_path: Sequence[str] = SEARCH_PATH,
        toolchains: Sequence[str] = (),
    ):
        self._root = root
        self._toolchains = toolchains
        self.search_path = [path for path in search_path if not self._is_inside(path)]

    def find(self, name: str, folder: str = ".", *, in_workspace: bool = False) -> str:
        """The program, by the path it is started with from a folder of the workspace.

        A bare name means a program of the project first, where it may be one `in_workspace`.

        Raises:
            CommandExecutionError: There is none.
            PathValidationError: It is one by its path that lies elsewhere.
        """
        if "/" in name:
            return self._find_own(name, folder)
        if in_workspace and (own := self.find_in_workspace(name)) is not None:
            return os.path.join(self._root, own)
        if (path := self._find_installed(name)) is None:
            raise CommandExecutionError(self._tell_missing(name, folder))
        return path

    def find_in_workspace(self, name: str) -> str | None:
        """The workspace's program for a bare name, as a path from the root.

        None if the workspace has none that may run, and for the programs that Handrail trusts with
        credentials.
        """
        if "/" in name or name in _ONLY_THE_SYSTEMS:
            return None
        return next(filter(self._may_run, _paths_of(name, WORKSPACE_FOLDERS)), None)

    def _find_installed(self, name: str) -> str | None:
        for folder in self.search_path:
            path = os.path.join(folder, name)
            if _is_program(path) and self._may_come_from(folder, path):
                return path
        return None

    def _may_run(self, path: str) -> bool:
        try:
            return bool(self._find_own(path, "."))
        except (ToolError, OSError, ValueError):
            return False

    def _tell_missing(self, name: str, folder: str) -> str:
        words = f"`{visible(name)}` is not installed on this machine"
        own = next(filter(self._may_run, self._elsewhere(name)), None) if name else None
        if own is None:
            return words
        path = os.path.relpath(own, folder)
        return f"{words}; there is one at {visible(path)}; call it by that path"

    def _elsewhere(self, name: str) -> Iterator[str]:
        """Usual places of a program, in the root of the workspace and two levels below."""
        yield from _paths_of(name, _HINT_FOLDERS)
        projects = _folders_in(self._root, "")
        projects += [below for one in projects for below in _folders_in(self._root, one)]
        for project in projects[:_MOST_HINT_PROJECTS]:
            for path in _paths_of(name, _HINT_FOLDERS):
                yield os.path.join(project, path)

    def _may_come_from(self, folder: str, path: str) -> bool:
        """A toolchain's programs are those that boxes show, wherever its links lead."""
        if self._is_inside(path):
            return False
        if not holds(self._toolchains, folder):
            return True
        return os.path.basename(path) not in _ONLY_THE_SYSTEMS and self._is_kept(path)

    def _find_own(self, name: str, folder: str) -> str:
        named = os.path.join(self._root, folder, name)
        path = os.path.realpath(named)
        if not self._is_inside(path):
            if (link := self._as_interpreter(named)) is not None:
                return link
            raise PathValidationError(f"{name} leads out of the workspace")
        if not _is_program(path):
            raise CommandExecutionError(f"{name} does not exist, or is not a program")
        return path

    def _as_interpreter(self, named: str) -> str | None:
        """A virtual environment's link to the Python it was made from, which goes by that name."""
        target = os.path.realpath(named)
        here = os.path.realpath(os.path.dirname(named))
        link = os.path.join(here, os.path.basename(named))
        names = (os.path.basename(link), os.path.basename(target))
        is_one = os.path.isfile(os.path.join(os.path.dirname(here), "pyvenv.cfg"))
        is_python = all(map(_PYTHON.fullmatch, names)) and _is_program(target)
        if is_one and is_python and self._is_inside(here) and self._is_kept(target):
            return link
        return None

    def _is_kept(self, path: str) -> bool:
        """Whether a program lies where nothing that runs in a box can change it."""
        return is_systems(path) or holds(self._toolchains, path)

    def _is_inside(self, path: str) -> bool:
        return is_in(os.path.realpath(path), self._root)


def _paths_of(name: str, folders: Sequence[str]) -> Iterator[str]:
    return (os.path.join(folder, name) for folder in folders)


def _folders_in(root: str, folder: str) -> list[str]:
    """The first folders in a folder that are not hidden, as paths from the root."""
    try:
        with os.scandir(os.path.join(root, folder)) as entries:
            found = [
                os.path.join(folder, entry.name)
                for entry in islice(entries, _MOST_HINT_ENTRIES)
                if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
            ]
    except OSError:
        return []
    return sorted(found)


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)

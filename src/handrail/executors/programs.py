"""Which file a command's name stands for. A bare name never means a file of the workspace."""

import os
import re
from collections.abc import Sequence

from handrail.core.errors import CommandExecutionError, PathValidationError
from handrail.executors.toolchains.toolchain import holds, is_in, is_systems

SEARCH_PATH = ("/usr/local/bin", "/usr/bin", "/bin")

# Boxes and lines are made for the system's own, which nobody can put another one in front of.
_ONLY_THE_SYSTEMS = {"git", "bash", "sh"}
_PYTHON = re.compile(r"python[0-9.]*")


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

    def find(self, name: str, folder: str = ".") -> str:
        """The program, by the path it is started with from a folder of the workspace.

        Raises:
            CommandExecutionError: There is none.
            PathValidationError: It is one by its path that lies elsewhere.
        """
        if "/" in name:
            return self._find_own(name, folder)
        for folder in self.search_path:
            path = os.path.join(folder, name)
            if (
                _is_program(path)
                and not self._is_inside(path)
                and self._may_come_from(folder, path)
            ):
                return path
        raise CommandExecutionError(f"{name} is not installed here")

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
            raise CommandExecutionError(f"{name} does not exist, or is no program")
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


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)

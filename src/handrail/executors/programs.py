"""Which file a command's name stands for. A bare name never means a file of the workspace."""

import os
from collections.abc import Sequence

from handrail.core.errors import CommandExecutionError, PathValidationError

SEARCH_PATH = ("/usr/local/bin", "/usr/bin", "/bin")


class ProgramFinder:
    def __init__(self, root: str, search_path: Sequence[str] = SEARCH_PATH):
        self._root = root
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
            if _is_program(path) and not self._is_inside(path):
                return path
        raise CommandExecutionError(f"{name} is not installed here")

    def _find_own(self, name: str, folder: str) -> str:
        path = os.path.realpath(os.path.join(self._root, folder, name))
        if not self._is_inside(path):
            raise PathValidationError(f"{name} leads out of the workspace")
        if not _is_program(path):
            raise CommandExecutionError(f"{name} does not exist, or is no program")
        return path

    def _is_inside(self, path: str) -> bool:
        true_path = os.path.realpath(path)
        return true_path == self._root or true_path.startswith(f"{self._root.rstrip('/')}/")


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)

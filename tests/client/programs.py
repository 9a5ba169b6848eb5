"""A real program that runs until it may end, and of which one sees whether anything is left."""

import fcntl
import os
import sys
from pathlib import Path
from typing import Any

from handrail.executors.commands.executor import SEARCH_PATH, CommandExecutor

_PYTHON = Path(os.path.realpath(sys.executable))

# Parent and child hold one lock, which the system takes back when both are gone. The child has a
# session of its own, like all who want to outlive their parent.
_TEXT = """
import fcntl, os, sys, time
name = sys.argv[1]
held = open(name + ".held", "w")
fcntl.flock(held, fcntl.LOCK_EX)
if os.fork() == 0:
    os.setsid()
    with open(name + ".runs", "a") as runs:
        runs.write("x")
while not os.path.exists(name + ".go"):
    time.sleep(0.01)
"""


class Program:
    """Runs, with a child, until `let_go`."""

    def __init__(self, root: Path, name: str = "one"):
        self._root = root
        self._name = name
        (root / "program.py").write_text(_TEXT)

    @property
    def argv(self) -> tuple[str, ...]:
        return (_PYTHON.name, "program.py", self._name)

    @property
    def params(self) -> dict[str, Any]:
        """How execute_command is told to run it."""
        command, *args = self.argv
        return {"command": command, "args": args, "timeout": 60}

    @property
    def runs(self) -> int:
        """How often it was begun."""
        runs = self._root / f"{self._name}.runs"
        return len(runs.read_text()) if runs.exists() else 0

    def is_alive(self) -> bool:
        """Whether anything of it is left; it must have been begun."""
        with (self._root / f"{self._name}.held").open() as held:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            return False

    def let_go(self) -> None:
        (self._root / f"{self._name}.go").touch()


def real_commands(root: Path) -> CommandExecutor:
    """Programs of this machine, with the Python that runs the tests among them."""
    path = (*SEARCH_PATH, str(_PYTHON.parent))
    return CommandExecutor(root, search_path=path, grace_seconds=0.5)

"""Commands for a test, and boxes for a workspace of its own."""

import os
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from handrail.core.box import Isolation, Profile
from handrail.core.stage import Stage
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.guarded.names import GuardedNames
from handrail.executors.sandbox.box import Box, Programs

# The Python of the tests may live in somebody's home, which no box shows unless told to.
PYTHON = Path(os.path.realpath(sys.executable))
TOOLCHAIN = str(PYTHON.parent.parent)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "ws"
    made.mkdir()
    return made


@pytest.fixture
def files(root: Path) -> Generator[FileSystemExecutor]:
    with FileSystemExecutor(root) as made:
        yield made


@pytest.fixture
def guarded(files: FileSystemExecutor) -> GuardedNames:
    return GuardedNames(files.root, files.rules, files.second_names)


@pytest.fixture
def executor(
    root: Path, programs: Programs, isolation: Isolation, guarded: GuardedNames
) -> CommandExecutor:
    box = Box(programs, isolation, guarded, toolchains=[TOOLCHAIN])
    search_path = ("/usr/local/bin", "/usr/bin", "/bin", str(PYTHON.parent))
    identity = [("user.name", "Ada"), ("user.email", "ada@example.com")]
    return CommandExecutor(
        root, box=box, search_path=search_path, grace_seconds=0.5, identity=identity
    )


def one(argv: Sequence[str], profile: Profile = Profile.WRITE) -> list[Stage]:
    """A single command."""
    return [Stage(tuple(argv), profile)]


@contextmanager
def somebody_else() -> Generator[None]:
    """Act as somebody who is not root, to whom everything is allowed."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(12345)
    try:
        yield
    finally:
        os.seteuid(0)

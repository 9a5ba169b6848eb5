"""Rehearsals in a workspace of its own, with changes kept in memory and on disk."""

import hashlib
import os
import stat
from collections.abc import AsyncGenerator, Callable, Generator
from pathlib import Path

import pytest

from handrail.core.box import Isolation, Profile
from handrail.core.stage import Stage
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.guarded.names import GuardedNames
from handrail.executors.rehearsal.caps import DEFAULT_CAPS, Caps
from handrail.executors.rehearsal.overlay import Maker
from handrail.executors.rehearsal.probe import Proof, prove_rehearsals
from handrail.executors.rehearsal.rehearser import Rehearsal, Rehearser
from handrail.executors.sandbox.box import Box, Programs
from tests.executors.conftest import PYTHON, TOOLCHAIN
from tests.executors.rehearsal.agent import Agent, open_agent
from tests.executors.rehearsal.repositories import make_template

OpenSession = Callable[..., "RehearsalSession"]


class RehearsalSession:
    """One session of rehearsals."""

    def __init__(self, rehearser: Rehearser, root: Path):
        self.rehearser = rehearser
        self.root = root
        self.rehearsed: list[Rehearsal] = []

    async def run(self, *stages: Stage, seconds: float = 30) -> Rehearsal:
        found = await self.rehearser.rehearse(stages, timeout_seconds=seconds)
        self.rehearsed.append(found)
        return found

    async def shell(self, line: str, *, seconds: float = 30) -> Rehearsal:
        return await self.run(Stage(("bash", "-c", line), Profile.WRITE), seconds=seconds)

    async def python(self, code: str, *, seconds: float = 30) -> Rehearsal:
        stage = Stage((PYTHON.name, "-c", code), Profile.WRITE)
        return await self.run(stage, seconds=seconds)

    async def close(self) -> None:
        """A second time does nothing."""
        for one in self.rehearsed:
            await one.close()
        await self.rehearser.close()


@pytest.fixture
async def maker() -> AsyncGenerator[Maker]:
    made = Maker()
    yield made
    made.close()


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    return tmp_path / "sessions"


@pytest.fixture
async def proof(maker: Maker, sessions: Path, isolation: Isolation) -> Proof:
    found = await prove_rehearsals(maker, sessions)
    if not found.holds:
        pytest.skip(f"nothing can be rehearsed on this machine: {found.why_not}")
    return found


@pytest.fixture
async def open_session(
    root: Path,
    programs: Programs,
    isolation: Isolation,
    guarded: GuardedNames,
    maker: Maker,
    proof: Proof,
    sessions: Path,
) -> AsyncGenerator[OpenSession]:
    box = Box(programs, isolation, guarded, toolchains=[TOOLCHAIN])
    search_path = ("/usr/local/bin", "/usr/bin", "/bin", str(PYTHON.parent))
    executor = CommandExecutor(root, box=box, search_path=search_path, grace_seconds=0.2)
    opened: list[RehearsalSession] = []

    def open_one(
        name: str = "first", caps: Caps = DEFAULT_CAPS, *, in_memory: bool | None = None
    ) -> RehearsalSession:
        place = proof.in_memory if in_memory is None else in_memory
        if place and not proof.in_memory:
            pytest.skip("this kernel keeps no upper directory in memory")
        known = Proof(holds=True, in_memory=place)
        rehearser = Rehearser(executor, box, maker, sessions / name, known, caps=caps)
        opened.append(RehearsalSession(rehearser, root))
        return opened[-1]

    yield open_one
    for one in opened:
        await one.close()


@pytest.fixture
async def agent(
    root: Path,
    programs: Programs,
    isolation: Isolation,
    guarded: GuardedNames,
    maker: Maker,
    proof: Proof,
    sessions: Path,
) -> AsyncGenerator[Agent]:
    made = open_agent(root, programs, isolation, guarded, maker, proof, sessions)
    yield made
    await made.close()


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository to copy, as `repositories` describes it."""
    made = tmp_path_factory.mktemp("git") / "template"
    make_template(made)
    return made


@pytest.fixture
def project(root: Path) -> Generator[Path]:
    """A workspace with something of every kind; the test ends with it as it was."""
    (root / "src/deep").mkdir(parents=True)
    (root / "src/a.py").write_text("a = 1\n")
    (root / "src/deep/b.py").write_text("b = 1\n")
    (root / "notes.txt").write_text("notes\n")
    (root / "tool.sh").write_text("#!/bin/sh\necho tool\n")
    (root / "tool.sh").chmod(0o755)
    os.link(root / "notes.txt", root / "second.txt")
    (root / "link").symlink_to("src/a.py")
    (root / "kept").mkdir()
    for name in (".env", "kept/.env"):
        (root / name).write_text("TOKEN=hunter2\n")
    before = snapshot(root)
    yield root
    assert snapshot(root) == before


@pytest.fixture
def session(open_session: OpenSession) -> RehearsalSession:
    return open_session()


@pytest.fixture(params=["memory", "disk"])
def either(request: pytest.FixtureRequest, open_session: OpenSession) -> RehearsalSession:
    """A session that keeps changes in memory, and one that keeps them on disk."""
    return open_session(in_memory=request.param == "memory")


def snapshot(root: Path) -> dict[str, tuple[object, ...]]:
    """Everything that can be told of every file but when it was last read."""
    return {path: _told(os.path.join(root, path)) for path in (".", *_names(root))}


def changed_in(rehearsal: Rehearsal) -> set[str]:
    """Every name in the upper directory, but folders that were only passed through."""
    fd = rehearsal.open_upper()
    try:
        upper = Path(f"/proc/self/fd/{fd}")
        names = {*_names(upper)}
        return {name for name in names if not any(one.startswith(f"{name}/") for one in names)}
    finally:
        os.close(fd)


def _names(root: Path) -> list[str]:
    return [
        os.path.relpath(os.path.join(folder, name), root)
        for folder, folders, files in os.walk(root)
        for name in (*folders, *files)
    ]


def _told(path: str) -> tuple[object, ...]:
    found = os.lstat(path)
    content: object = None
    if stat.S_ISREG(found.st_mode):
        content = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    elif stat.S_ISLNK(found.st_mode):
        content = os.readlink(path)
    xattrs = os.listxattr(path, follow_symlinks=False)
    kept = ("st_mode", "st_ino", "st_nlink", "st_uid", "st_gid", "st_mtime_ns", "st_ctime_ns")
    return (*(getattr(found, name) for name in kept), content, *xattrs)

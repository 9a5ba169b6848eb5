"""Fixtures for tests of effects; a plugin of the test modules that name it."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.executors.rehearsal import overlay
from tests.executors.rehearsal.another_user import GROUP, USER, interpreters, start
from tests.executors.rehearsal.workbench import Workbench

_IN_MEMORY = Path("/dev/shm")


@pytest.fixture(scope="session")
def needs_overlay(tmp_path_factory: pytest.TempPathFactory) -> None:
    base = tmp_path_factory.mktemp("probe")
    overlay.make_layers(base)
    done = subprocess.run(
        [sys.executable, "-S", overlay.__file__, str(base), "true"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"no overlay can be mounted here: {done.stderr.strip().splitlines()[-1]}")


@pytest.fixture
def bench(tmp_path: Path, needs_overlay: None) -> Generator[Workbench]:
    made = Workbench(tmp_path)
    yield made
    made.close()


@pytest.fixture
def fast_folder(tmp_path: Path) -> Generator[Path]:
    """A folder in memory, where there is one with extended attributes: nothing waits for a disk."""
    if not _has_xattrs(_IN_MEMORY):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=_IN_MEMORY, prefix="handrail-") as made:
        os.chmod(made, 0o777)
        yield Path(made)


def _has_xattrs(folder: Path) -> bool:
    try:
        with tempfile.NamedTemporaryFile(dir=folder) as file:
            os.setxattr(file.name, "user.test", b"1")
    except OSError:
        return False
    return True


@pytest.fixture
def interpreter(isolation: object) -> str:
    """One that an ordinary user may start, with this source in reach."""
    if os.geteuid() != 0:
        pytest.skip("this is an ordinary user already")
    for path in interpreters():
        try:
            run = start([path, "-c", "import handrail, pydantic"], Path("/"))
        except OSError:
            continue
        if run.returncode == 0:
            return path
    pytest.skip("no interpreter that another user may start can import Handrail")


@pytest.fixture
def place() -> Generator[Path]:
    """A folder of that user, with only folders above it that everybody may pass."""
    made = Path("/tmp") / f"handrail-{os.getpid()}-{os.urandom(4).hex()}"
    (made / "ws").mkdir(parents=True)
    for path in (made, made / "ws"):
        os.chown(path, USER, GROUP)
    yield made
    shutil.rmtree(made)

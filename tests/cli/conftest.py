"""The `handrail` command as a process of its own, with a home of its own."""

import os
import subprocess
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.forge import Forged, run_forged


class Shell:
    """One home and one workspace; commands are run in the workspace."""

    def __init__(self, folder: Path):
        self.home = folder / "home"
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        # Without compiled bytecode each of the many processes here would take seconds to start.
        unwanted = ("HANDRAIL", "ANTHROPIC", "OPENAI", "DAILY_TOKEN", "PYTHONDONTWRITEBYTECODE")
        kept = {k: v for k, v in os.environ.items() if not k.startswith(unwanted)}
        self.environment = kept | {
            "HANDRAIL_HOME": str(self.home),
            "PYTHONUNBUFFERED": "1",
            # Nobody's own keyring is touched.
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
            "COLUMNS": "400",  # Lines are compared, so none shall be folded.
            "TERM": "dumb",
        }
        self._started: list[Forged] = []

    def run(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        environment = self.environment | environment
        return run_forged(*words, environment=environment, folder=self.workspace)

    def pipe(self, given: bytes, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command that reads this from its standard input."""
        return run_forged(*words, environment=self.environment, folder=self.workspace, given=given)

    def run_all(self, *lines: str) -> list[subprocess.CompletedProcess[str]]:
        """Run several commands side by side."""
        with ThreadPoolExecutor(len(lines)) as pool:
            return list(pool.map(lambda line: self.run(*line.split()), lines))

    def start(self, *words: str, until: str) -> tuple[Forged, list[str]]:
        """Start a command that stays, and read what it says until it says this."""
        process = Forged(*words, environment=self.environment, folder=self.workspace, apart=True)
        self._started.append(process)
        said: list[str] = []
        for line in process.stdout:
            said.append(line.rstrip("\n"))
            if until in line:
                return process, said
        raise AssertionError(f"{words} ended by itself: {process.communicate()}")

    def start_up(self) -> tuple[Forged, list[str]]:
        """Start `handrail up` on a free port, and wait until it answers."""
        process, said = self.start("up", "--port", "0", until="Stop with Ctrl+C")
        address = said[0].rpartition(" ")[2]
        with urlopen(f"{address}/health", timeout=30) as answer:
            assert answer.status == 200
        return process, said

    def stop_all(self) -> None:
        for process in self._started:
            if process.poll() is None:
                process.kill()
            process.communicate()


@pytest.fixture
def shell(tmp_path: Path) -> Generator[Shell]:
    made = Shell(tmp_path)
    yield made
    made.stop_all()


def refused(process: subprocess.CompletedProcess[str]) -> str:
    """A command that must have failed with one clear line; gives the line."""
    assert process.returncode == 1
    (line,) = process.stderr.splitlines()
    assert line.startswith("handrail: ")
    return line.removeprefix("handrail: ")


def ended_well(process: subprocess.CompletedProcess[str]) -> str:
    assert (process.returncode, process.stderr) == (0, "")
    return process.stdout

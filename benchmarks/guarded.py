"""Handrail as its users run it: a server, and a client in its own process on the workspace."""

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks.task import prepare
from benchmarks.worker import Worker, worker

_COME_SECONDS = 30


class Guarded(NamedTuple):
    """`server` is also the asker inside it."""

    home: Path
    workspace: Path
    server: Worker
    client: subprocess.Popen[bytes]


@contextmanager
def guarded(folder: Path) -> Generator[Guarded]:
    home, workspace = folder / "home", folder / "workspace"
    prepare(workspace)
    with (
        worker("server", home, workspace) as server,
        connected(home, workspace, server) as client,
    ):
        yield Guarded(home, workspace, server, client)


@contextmanager
def connected(home: Path, workspace: Path, server: Worker) -> Generator[subprocess.Popen[bytes]]:
    """A client that has come."""
    command = [sys.executable, "-m", "handrail", "connect", str(workspace), "--home", str(home)]
    client = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        # The first call waits for the client.
        server.ask(do="row", count=1)
        yield client
    finally:
        client.terminate()
        client.wait()

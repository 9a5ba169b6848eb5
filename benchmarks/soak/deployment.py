"""A server and a client as real processes that can be killed and started again."""

import asyncio
import os
import random
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Literal

from handrail.app.home import Credentials, Home

Part = Literal["server", "client"]
PARTS: tuple[Part, ...] = ("server", "client")

_START_SECONDS, _LOOK_SECONDS = 120.0, 0.05
_LONGEST_DOWN_SECONDS = 1.5
_READY = {"server": "Connect this machine", "client": "connected"}


class Deployment:
    """One home, one workspace and one port."""

    def __init__(self, folder: Path):
        self.home, self.workspace = folder / "home", folder / "workspace"
        self.workspace.mkdir(parents=True)
        self._folder = folder
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self._port: int = probe.getsockname()[1]
        self._processes: dict[Part, subprocess.Popen[bytes]] = {}

    @property
    def database(self) -> Path:
        return Home(self.home).database

    @property
    def credentials(self) -> Credentials:
        found = Home(self.home).find_credentials(self.workspace)
        if found is None:
            raise RuntimeError(f"{self.home} has no credentials for {self.workspace}")
        return found

    async def start(self, part: Part) -> None:
        """Start a process and wait until it says that it is ready."""
        words = {
            "server": ["serve", "--workspace", str(self.workspace), "--port", str(self._port)],
            "client": ["connect", str(self.workspace), "--plain"],
        }
        output = self._folder / f"{part}.out"
        with output.open("wb") as file:
            process = self._run(words[part], file.fileno())
        self._processes[part] = process
        async with asyncio.timeout(_START_SECONDS):
            while _READY[part] not in (said := output.read_text()):
                if process.poll() is not None:
                    raise RuntimeError(f"the {part} did not start: {said}")
                await asyncio.sleep(_LOOK_SECONDS)

    async def ensure(self, part: Part) -> None:
        """Start it if it does not run, and wake it if it is suspended."""
        process = self._processes[part]
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
        else:
            await self.start(part)

    async def kill(self, parts: tuple[Part, ...], chance: random.Random) -> None:
        """SIGKILL, a short time without them, and a new start."""
        for part in parts:
            self._processes[part].kill()
            self._processes[part].wait()
        await asyncio.sleep(chance.uniform(0, _LONGEST_DOWN_SECONDS))
        for part in parts:
            await self.start(part)

    async def suspend(self, part: Part, seconds: float) -> None:
        process = self._processes[part]
        process.send_signal(signal.SIGSTOP)
        await asyncio.sleep(seconds)
        process.send_signal(signal.SIGCONT)

    async def stop(self) -> None:
        for process in reversed(self._processes.values()):
            process.send_signal(signal.SIGCONT)
            process.terminate()
            await asyncio.to_thread(process.wait)

    async def verify_audit(self) -> int:
        """The exit status of `handrail audit verify`."""
        words = ["audit", "verify", "--workspace", str(self.workspace)]
        return await asyncio.to_thread(self._run(words, subprocess.DEVNULL).wait)

    def resident_mb(self, part: Part) -> float:
        pages = int(Path(f"/proc/{self._processes[part].pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def _run(self, words: list[str], output: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "handrail", *words, "--home", str(self.home)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )

"""The maker and its boxes end with their client, however that ends."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from handrail.core.errors import CommandExecutionError
from handrail.core.outcome import Ending
from handrail.executors.rehearsal.overlay import Layers, Maker
from handrail.executors.rehearsal.probe import prove_rehearsals
from tests.executors.rehearsal.conftest import RehearsalSession

PROGRAM = Path(__file__).with_name("rehearsing_program.py")
SECONDS = 30
# Told from those of tests that run at the same time.
NAP = f"sleep 9876.{os.getpid()}"


def processes_with(words: str) -> list[str]:
    """Every process with these words in its command line, but for this one."""
    found: list[str] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if words in line and int(path.parent.name) != os.getpid():
            found.append(line)
    return found


def wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.usefixtures("proof")
@pytest.mark.parametrize("moment", ["begun", 0.0, 0.01, 0.02, 0.03, 0.05])
async def test_a_client_that_is_killed_leaves_no_process_and_no_folder(
    root: Path, tmp_path: Path, maker: Maker, moment: str | float
) -> None:
    """When its command has begun, or at some moment while its box is made."""
    sessions = tmp_path / "killed"
    words = [str(PROGRAM), str(root), str(sessions), f"echo x > made; {NAP} # {root}"]
    with subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE) as client:
        assert client.stdout is not None
        assert "ready" in json.loads(client.stdout.readline())
        if isinstance(moment, float):
            time.sleep(moment)
        else:
            wait_until(lambda: any(line.startswith(NAP) for line in processes_with(NAP)))
        client.send_signal(signal.SIGKILL)

    wait_until(lambda: not processes_with(str(root)))
    wait_until(lambda: not processes_with(NAP))
    assert not [*root.iterdir()]
    assert (await prove_rehearsals(maker, sessions)).holds
    assert not [*sessions.iterdir()]


async def test_a_maker_that_is_killed_takes_its_boxes_along(
    session: RehearsalSession, maker: Maker
) -> None:
    rehearsing = asyncio.ensure_future(session.shell(f"echo x > made; {NAP}"))
    while not any(line.startswith(NAP) for line in processes_with(NAP)):
        await asyncio.sleep(0.01)
    assert maker.pid is not None

    os.kill(maker.pid, signal.SIGKILL)
    rehearsal = await rehearsing

    assert rehearsal.outcome.ending is Ending.KILLED
    assert not processes_with(NAP)


async def test_a_layer_that_is_a_link_is_refused(maker: Maker, tmp_path: Path) -> None:
    for name in ("lower", "upper", "work", "view"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to("upper")
    layers = Layers([str(tmp_path / "lower")], str(tmp_path / "link"), str(tmp_path / "work"))

    with pytest.raises(CommandExecutionError, match="was replaced"):
        await maker.mount_overlay(layers, str(tmp_path / "view"))


async def test_names_that_look_like_options_are_names(maker: Maker, tmp_path: Path) -> None:
    base = tmp_path / "a,b:c=d\\e f"
    for name in ("lower", "upper", "work", "view"):
        (base / name).mkdir(parents=True)
    (base / "lower/file").write_text("x")
    layers = Layers([str(base / "lower")], str(base / "upper"), str(base / "work"))

    fd = await maker.mount_overlay(layers, str(base / "view"))

    assert os.listdir(fd) == ["file"]
    assert not os.listdir(base / "view")
    os.close(fd)


async def test_what_is_mounted_for_rehearsals_is_seen_by_nobody_else(
    maker: Maker, tmp_path: Path
) -> None:
    fd = await maker.mount_memory(str(tmp_path), 1 << 20, 10)

    assert str(tmp_path) not in Path("/proc/self/mountinfo").read_text()
    os.close(fd)

"""Each fault of the storage is told in one sentence at the start, and nothing is changed."""

import asyncio
import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from handrail.app.clock import SystemClock
from handrail.app.enrol import enrol
from handrail.app.home import Home
from handrail.app.storage import open_checkpoints, open_store
from handrail.bus.local import LocalBus
from handrail.core.audit import AuditRecord
from handrail.core.change import Change
from handrail.core.ids import ProjectId
from handrail.plane.sealing import Sealer
from tests.cli.conftest import Shell, ended_well, refused

_LINES = 200


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A home with a sealed record; beside it what the database was before, and without its log."""
    shell = Shell(tmp_path_factory.mktemp("used"))
    home = Home(shell.home)

    async def grow() -> None:
        async with open_store(home, LocalBus()) as store:
            known = await enrol(store, SystemClock(), home, shell.workspace, "http://127.0.0.1:1")
            project = ProjectId(known.project_id)
        shutil.copy(home.database, home.path.with_name("older.db"))
        async with open_store(home, LocalBus()) as store:
            for number in range(_LINES):
                line = AuditRecord("did", "ada", f"thing-{number}", {"words": "x" * 200})
                await store.submit(Change(project, datetime.now(UTC), (), (), (line,)))
            await Sealer(store, SystemClock(), open_checkpoints(home)).seal_all()
            shutil.copy(home.database, home.path.with_name("without-log.db"))

    asyncio.run(grow())
    return shell


def overwrite(file: Path, start: int, length: int) -> None:
    with file.open("r+b") as stream:
        stream.seek(start, os.SEEK_END if start < 0 else os.SEEK_SET)
        stream.write(b"\xa5" * length)


def middle(file: Path) -> None:
    overwrite(file, file.stat().st_size // 2 // 4096 * 4096, 4096)


def make_foreign(file: Path) -> None:
    file.unlink()
    opened = sqlite3.connect(file)
    opened.execute("CREATE TABLE cats (name)")
    opened.close()


def put_back(name: str) -> Callable[[Path], object]:
    return lambda file: shutil.copy(file.parent.parent / name, file)


FAULTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "deleted": (Path.unlink, "is missing, but line"),
    "emptied": (lambda file: file.write_bytes(b""), "is empty, but line"),
    "foreign": (make_foreign, "holds no records, but line"),
    "older": (put_back("older.db"), "is older than its checkpoints: the record ends at line 1,"),
    "log-deleted": (put_back("without-log.db"), "is older than its checkpoints"),
    "header": (lambda file: overwrite(file, 0, 100), "is damaged"),
    "truncated": (lambda file: os.truncate(file, file.stat().st_size // 2), "is damaged"),
    "middle-page": (middle, "is damaged"),
    "last-page": (lambda file: overwrite(file, -4096, 4096), "is damaged"),
}


@pytest.mark.points(4)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_database_that_lost_what_was_sealed_is_not_served(
    used: Shell, tmp_path: Path, fault: str
) -> None:
    shell = Shell(tmp_path)
    shutil.copytree(used.home, shell.home)
    for name in ("older.db", "without-log.db"):
        shutil.copy(used.home.with_name(name), tmp_path)
    damage, words = FAULTS[fault]
    damage(shell.home / "handrail.db")
    before = everything_in(shell.home)
    at = f"--workspace {used.workspace}"

    served, verified, examined = shell.run_all(
        f"serve {at} --port 0", f"audit verify {at} --json", f"doctor {at} --json"
    )

    line = refused(served)
    assert words in line
    assert "`handrail restore`" in line
    assert "`handrail init --fresh`" in line
    assert verified.returncode == 1, verified
    assert json.loads(verified.stdout)["broken"]
    (finding,) = [
        finding
        for finding in json.loads(examined.stdout)["findings"]
        if finding["subject"] == "database"
    ]
    assert (examined.returncode, finding["health"]) == (1, "broken")
    assert words.partition(":")[0] in finding["words"]
    after = everything_in(shell.home)
    assert {name: after.get(name) for name in before} == before

    fresh = shell.run("init", str(used.workspace), "--fresh", "--yes", "--json")
    assert json.loads(ended_well(fresh))["new"]
    (aside,) = shell.home.glob("old-*")
    moved = everything_in(aside)
    assert {name: moved.get(name) for name in before if name != "token.lock"} == before
    assert json.loads(ended_well(shell.run("audit", "verify", *at.split(), "--json")))["whole"]


def everything_in(folder: Path) -> dict[str, bytes]:
    """All but locks and what SQLite keeps beside a database that is open."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and file.suffix != ".lock" and not file.name.endswith(("-wal", "-shm"))
    }


@contextmanager
def disk(place: Path, megabytes: int) -> Generator[Path]:
    """A small file system of its own, where the test may mount one."""
    place.mkdir()
    options = f"size={megabytes}m,mode=700"
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
    made = subprocess.run(command, capture_output=True, check=False)
    if made.returncode:
        pytest.skip(f"no file system can be mounted here: {made.stderr.decode().strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill(folder: Path) -> Path:
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as stream:
        for size in (65_536, 4_096, 1):
            try:
                while True:
                    stream.write(b"x" * size)
            except OSError:
                continue
    return filler


def test_a_start_on_a_full_or_read_only_disk_is_refused_in_one_line(
    used: Shell, tmp_path: Path
) -> None:
    def start(*words: str) -> str:
        at = ("--workspace", str(used.workspace), "--port", "0")
        return refused(shell.run("serve", *at, *words))

    shell = Shell(tmp_path)
    with disk(tmp_path / "disk", 8) as place:
        shell.home = place / "home"
        shell.environment["HANDRAIL_HOME"] = str(shell.home)
        shutil.copytree(used.home, shell.home)
        filler = fill(place)
        full, full_and_new = start(), start("--home", str(place / "other"))
        filler.unlink()
        subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
        read_only, read_only_and_new = start(), start("--home", str(place / "other"))
        subprocess.run(["mount", "-o", "remount,rw", str(place)], check=True)
        verified = shell.run("audit", "verify", "--workspace", str(used.workspace), "--json")

    for line in (full, full_and_new):
        assert "full" in line or "No space left" in line
    for line in (read_only, read_only_and_new):
        assert "ead-only" in line
    assert json.loads(ended_well(verified))["whole"]

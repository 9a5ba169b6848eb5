"""Whether commands can be rehearsed is tried out, on the machine and in each workspace."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from handrail.core.errors import CommandExecutionError
from handrail.executors.rehearsal.conditions import why_not_here
from handrail.executors.rehearsal.overlay import Layers, Maker
from handrail.executors.rehearsal.probe import prove_rehearsals
from handrail.executors.rehearsal.session import lock_folder, sweep
from tests.executors.rehearsal.conftest import RehearsalSession, changed_in

PROGRAM = Path(__file__).with_name("rehearsing_program.py")


@pytest.mark.usefixtures("proof")
async def test_the_probe_leaves_nothing(maker: Maker, tmp_path: Path) -> None:
    found = await prove_rehearsals(maker, tmp_path / "base")

    assert (found.holds, found.why_not) == (True, None)
    assert not [*(tmp_path / "base").iterdir()]


def test_folders_of_clients_that_are_gone_are_removed(tmp_path: Path) -> None:
    for name in ("gone", "alive"):
        kept_by_kernel = tmp_path.joinpath(name, "layers", "1", "work", "work")
        kept_by_kernel.mkdir(parents=True)
        kept_by_kernel.chmod(0)
    lock = lock_folder(str(tmp_path / "alive"))

    sweep(tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["alive"]
    os.close(lock)


def test_a_base_that_is_not_there_needs_no_sweeping(tmp_path: Path) -> None:
    sweep(tmp_path / "missing")


def test_an_ordinary_workspace_can_be_rehearsed_on(root: Path) -> None:
    (root / "file").write_text("x")

    assert why_not_here(str(root)) is None


async def test_an_upper_directory_on_another_overlay_is_refused(
    maker: Maker, tmp_path: Path
) -> None:
    """As it would be in a container without memory for it."""
    for name in ("lower", "upper", "work", "view", "above"):
        (tmp_path / name).mkdir()
    at = {name: str(tmp_path / name) for name in ("lower", "upper", "work", "view", "above")}
    fd = await maker.mount_overlay(Layers([at["lower"]], at["upper"], at["work"]), at["view"])
    for name in ("upper", "work"):
        os.mkdir(name, dir_fd=fd)
    os.close(fd)

    with pytest.raises(CommandExecutionError, match="Invalid argument"):
        await maker.mount_overlay(
            Layers([at["lower"]], f"{at['view']}/upper", f"{at['view']}/work"), at["above"]
        )


async def test_root_changes_files_of_others_as_it_would_outside(
    session: RehearsalSession, root: Path
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make such files")
    (root / "theirs").write_text("x")
    (root / "theirs").chmod(0o666)
    os.chown(root / "theirs", 12345, 54321)

    rehearsal = await session.shell("echo y >> theirs; cat theirs")

    assert rehearsal.outcome.stdout == b"xy\n"
    assert not rehearsal.met_foreign
    assert changed_in(rehearsal) == {"theirs"}


@pytest.mark.parametrize("root", ["/tmp", "/tmp/home", "/"])
def test_a_workspace_in_the_place_of_the_temporary_folder_is_refused(root: str) -> None:
    assert "of their own" in (why_not_here(root) or "")


@pytest.mark.usefixtures("proof")
def test_a_mount_below_the_workspace_is_refused_with_its_name(root: Path, tmp_path: Path) -> None:
    (root / "node modules").mkdir()
    script = 'mount -t tmpfs t "$1" && shift && exec "$@"'
    words = [sys.executable, str(PROGRAM), str(root), str(tmp_path / "base"), "echo x > made"]

    run = subprocess.run(
        ["unshare", "-Urm", "sh", "-c", script, "sh", str(root / "node modules"), *words],
        capture_output=True,
        text=True,
        check=False,
    )

    if "ready" not in run.stdout:
        pytest.skip(f"no mount can be made for this test: {run.stdout}{run.stderr}")
    [_, told] = map(json.loads, run.stdout.splitlines())
    assert "mounted in the workspace, at node modules" in told["refused"]

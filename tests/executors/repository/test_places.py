"""Repositories of which a part lies elsewhere: git stays in the workspace, and says so."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from handrail.core.box import Profile
from handrail.core.errors import CommandExecutionError
from handrail.core.outcome import CommandOutcome
from handrail.core.stage import Stage
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.repository.places import check_place
from tests.executors.git.shell import PLAIN, sh

READ = Profile.READ
WRITE = Profile.WRITE


async def run(
    executor: CommandExecutor, line: str, profile: Profile = READ, folder: str = "."
) -> CommandOutcome:
    stage = Stage(("git", *line.split()), profile, folder=folder)
    return await executor.run([stage], timeout_seconds=30)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """Somebody's repository, next to the workspace."""
    made = tmp_path / "elsewhere"
    made.mkdir()
    sh(made, "git init -q -b main . && echo private > p.txt && git add . && git commit -qm private")
    return made


@pytest.fixture(params=["boxed", "open"])
def either(request: pytest.FixtureRequest, root: Path) -> CommandExecutor:
    """In a box, and where there is none."""
    if request.param == "open":
        return CommandExecutor(root)
    return request.getfixturevalue("executor")


def by_file(root: Path, elsewhere: Path) -> None:
    (root / ".git").write_text(f"gitdir: {elsewhere}/.git\n")


def by_way_round(root: Path, elsewhere: Path) -> None:
    (root / ".git").write_text("gitdir: ../elsewhere/.git")


def by_what_hides_its_end(root: Path, elsewhere: Path) -> None:
    (root / "x").mkdir()
    (root / ".git").write_bytes(b"gitdir: ../elsewhere/.git\0/../../ws/x")


def by_link(root: Path, elsewhere: Path) -> None:
    (root / ".git").symlink_to(elsewhere / ".git")


def by_file_behind_link(root: Path, elsewhere: Path) -> None:
    (root / "inside").symlink_to(elsewhere)
    (root / ".git").write_text("gitdir: inside/.git\n")


def by_shared_folder(root: Path, elsewhere: Path) -> None:
    sh(root, "git init -q -b main .")
    (root / ".git" / "commondir").write_text(f"{elsewhere}/.git\n")


def by_worktree(root: Path, elsewhere: Path) -> None:
    root.rmdir()
    sh(elsewhere, f"git worktree add -q {root}")


@pytest.mark.parametrize(
    "point",
    [
        by_file,
        by_way_round,
        by_what_hides_its_end,
        by_link,
        by_file_behind_link,
        by_shared_folder,
        by_worktree,
    ],
)
async def test_nothing_leads_git_out_of_the_workspace(
    either: CommandExecutor, root: Path, elsewhere: Path, point: Callable[[Path, Path], None]
) -> None:
    point(root, elsewhere)
    plain = subprocess.run(["git", "log"], cwd=root, env=PLAIN, capture_output=True, check=False)
    assert b"private" in plain.stdout, "plain git is not led out either, so nothing is shown"

    for profile in (READ, WRITE):
        with pytest.raises(CommandExecutionError, match=r"outside the workspace, .*elsewhere/"):
            await run(either, "log", profile)
    with pytest.raises(CommandExecutionError, match="make the folder of that repository the work"):
        await run(either, "log", folder=".")


async def test_nor_is_it_led_out_from_a_folder_within(
    either: CommandExecutor, root: Path, elsewhere: Path
) -> None:
    sh(root, "git init -q -b main . && mkdir -p sub/deep")
    (root / "sub" / ".git").write_text(f"gitdir: {elsewhere}/.git\n")

    with pytest.raises(CommandExecutionError, match="sub belongs to a repository outside"):
        await run(either, "log", folder="sub/deep")


async def test_a_submodule_that_lies_elsewhere_is_not_entered(
    executor: CommandExecutor, root: Path, elsewhere: Path
) -> None:
    sh(root, "git init -q -b main . && git config user.name a && git config user.email a@b.c")
    sh(root, f"git clone -q {elsewhere} s && git add s && git commit -qm s")
    sh(root, f"rm -r s/.git && echo 'gitdir: {elsewhere}/.git' > s/.git")
    sh(elsewhere, "git config filter.x.clean cat && git commit -q --allow-empty -m later")

    outcome = await run(executor, "diff --ignore-submodules=none", WRITE)

    assert b"later" not in outcome.stdout
    assert str(elsewhere).encode() in outcome.stderr


async def test_a_repository_around_the_workspace_is_not_seen(
    elsewhere: Path, either: CommandExecutor, root: Path, tmp_path: Path
) -> None:
    (elsewhere / ".git").rename(tmp_path / ".git")

    outcome = await run(either, "log")

    assert outcome.stdout == b""
    assert b"not a git repository" in outcome.stderr


async def test_a_worktree_within_the_workspace_works(executor: CommandExecutor, root: Path) -> None:
    sh(root, "git init -q -b main . && echo a > a.txt && git add . && git commit -qm first")

    made = await run(executor, "worktree add -q side", WRITE)
    (root / "side" / "a.txt").write_text("b\n")
    committed = await run(executor, "commit -qam second", WRITE, folder="side")
    log = await run(executor, "log --format=%s side --")

    assert (made.exit_code, committed.exit_code) == (0, 0), made.stderr + committed.stderr
    assert log.stdout == b"second\nfirst\n"


async def test_a_submodule_within_the_workspace_works(
    executor: CommandExecutor, root: Path, elsewhere: Path
) -> None:
    sh(root, "git init -q -b main .")
    sh(root, f"git -c protocol.file.allow=always submodule add -q {elsewhere} lib")
    assert (root / "lib" / ".git").is_file()
    (root / "lib" / "p.txt").write_text("changed\n")

    committed = await run(executor, "commit -qam second", WRITE, folder="lib")
    log = await run(executor, "log --format=%s", folder="lib")

    assert committed.exit_code == 0, committed.stderr
    assert log.stdout == b"second\nprivate\n"


@pytest.mark.parametrize("words", [b"", b"gitdir", b"gitdir: ", b"\0" * 9_000, b"gitdir: a\0b"])
async def test_what_points_nowhere_is_for_git_to_refuse(
    executor: CommandExecutor, root: Path, words: bytes
) -> None:
    (root / ".git").write_bytes(words)

    assert (await run(executor, "status")).exit_code == 128


def test_nobody_waits_at_a_pipe(root: Path) -> None:
    os.mkfifo(root / ".git")

    check_place(str(root), ".")

"""git gets what is its own in the repository it is about, and nothing of any other."""

import os
import subprocess
from pathlib import Path

import pytest

from handrail.core.box import Profile
from handrail.core.outcome import CommandOutcome
from handrail.core.stage import Stage
from handrail.executors.commands.executor import CommandExecutor

PASSWORD = "PASSWORD-4713"
AUTHOR = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"]
HARMLESS = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "GIT_CONFIG_GLOBAL": os.devnull}


def git(folder: Path, *words: str) -> None:
    subprocess.run(
        ["git", *AUTHOR, *words], cwd=folder, env=HARMLESS, check=True, capture_output=True
    )


def make_repository(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    git(folder, "init", "-q")
    (folder / "a.txt").write_text("x\n")
    git(folder, "add", "a.txt")
    git(folder, "commit", "-qm", "first")
    git(folder, "config", "user.name", "a")
    git(folder, "config", "user.email", "a@b")
    return folder


async def run(
    executor: CommandExecutor, *words: str, profile: Profile = Profile.WRITE, folder: str = "."
) -> CommandOutcome:
    stage = Stage(("git", *words), profile, folder=folder)
    return await executor.run([stage], timeout_seconds=30)


@pytest.fixture
def planted(root: Path) -> Path:
    """A repository with another in it, whose filter plants a hook in the first one."""
    make_repository(root)
    git(root, "config", "remote.x.url", f"https://a:{PASSWORD}@nowhere/")
    inner = make_repository(root / "inner")
    script = root / "planted.sh"
    script.write_text(
        f"#!/bin/sh\ncp {root}/.git/config {root}/stolen\necho x > {root}/.git/hooks/pre-commit\n"
    )
    script.chmod(0o755)
    git(inner, "config", "filter.x.clean", str(script))
    (inner / ".gitattributes").write_text("* filter=x\n")
    # Without this word, nobody would look into it.
    module = '[submodule "inner"]\n\tpath = inner\n\turl = ./inner\n\tignore = none\n'
    (root / ".gitmodules").write_text(module)
    git(root, "add", ".gitmodules", "inner")
    git(root, "commit", "-qm", "second")
    # As long as it was, so that it takes a look, and with it the filter, to see that it differs.
    (inner / "a.txt").write_text("y\n")
    return root


@pytest.mark.parametrize("words", [["add", "-A"], ["add", "inner"], ["stash"], ["status"]])
async def test_a_repository_within_runs_nothing_that_reaches_the_outer_one(
    executor: CommandExecutor, planted: Path, words: list[str]
) -> None:
    await run(executor, *words)

    assert not (planted / ".git" / "hooks" / "pre-commit").exists()
    stolen = planted / "stolen"
    assert not stolen.exists() or PASSWORD not in stolen.read_text()

    subprocess.run(["git", *words], cwd=planted, env=HARMLESS, check=False, capture_output=True)
    assert (planted / ".git" / "hooks" / "pre-commit").exists(), "so nothing is shown"


async def test_nor_does_it_when_git_is_about_it_alone(
    executor: CommandExecutor, planted: Path
) -> None:
    outcome = await run(executor, "add", "a.txt", folder="inner")

    assert outcome.exit_code == 0, outcome.stderr
    assert not (planted / ".git" / "hooks" / "pre-commit").exists()
    stolen = planted / "stolen"
    assert not stolen.exists() or PASSWORD not in stolen.read_text()


async def test_no_settings_of_git_are_read_as_files_among_others(
    executor: CommandExecutor, planted: Path
) -> None:
    (planted / "empty").mkdir()
    (planted / "other.txt").write_text("y\n")
    words = ["diff", "--no-ext-diff", "--no-index"]

    everything = await run(executor, *words, "empty", ".", profile=Profile.READ)
    two_files = await run(executor, *words, "a.txt", "other.txt", profile=Profile.READ)

    assert PASSWORD.encode() not in everything.stdout
    assert b"-x\n+y\n" in two_files.stdout

    plain = ["git", *words, "empty", "."]
    told = subprocess.run(plain, cwd=planted, env=HARMLESS, check=False, capture_output=True)
    assert PASSWORD.encode() in told.stdout, "so nothing is shown"


@pytest.mark.parametrize(
    "words",
    [
        ["remote", "-v"],
        ["remote", "get-url", "x"],
        ["blame", "--contents", ".git/config", "a.txt"],
        ["blame", "-S", ".git/config", "a.txt"],
        ["config", "--list"],
        # A file that is known to git, in a folder that has become a way to its settings.
        ["grep", "nowhere"],
    ],
)
async def test_who_only_looks_sees_no_password_of_a_remote(
    executor: CommandExecutor, root: Path, words: list[str]
) -> None:
    make_repository(root)
    (root / "way").mkdir()
    (root / "way" / "config").write_text("x\n")
    git(root, "add", "way")
    git(root, "config", "remote.x.url", f"https://a:{PASSWORD}@nowhere/")
    (root / "way" / "config").unlink()
    (root / "way").rmdir()
    (root / "way").symlink_to(".git")

    for profile in (Profile.READ, Profile.WRITE):
        looked = await run(executor, *words, profile=profile)
        assert PASSWORD.encode() not in looked.stdout + looked.stderr
        assert b"nowhere" in looked.stdout + looked.stderr, looked

    told = subprocess.run(["git", *words], cwd=root, env=HARMLESS, check=False, capture_output=True)
    assert PASSWORD.encode() in told.stdout + told.stderr, "so nothing is shown"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (
            f'[url "https://a:{PASSWORD}@nowhere/"]\n\tinsteadOf = near:\n'
            '[remote "x"]\n\turl = near:y\n',
            ["remote", "-v"],
        ),
        ('[remote "x"]\n\turl = https://a:PASS\\\nWORD-4713@nowhere/\n', ["remote", "-v"]),
        (f'[core] [http "https://a:{PASSWORD}@nowhere/"] x = y\n', ["config", "--list"]),
    ],
)
async def test_nor_one_that_is_written_in_an_unusual_way(
    executor: CommandExecutor, root: Path, lines: str, words: list[str]
) -> None:
    make_repository(root)
    with (root / ".git" / "config").open("a") as config:
        config.write(lines)

    for profile in (Profile.READ, Profile.WRITE):
        looked = await run(executor, *words, profile=profile)
        assert PASSWORD.encode() not in looked.stdout + looked.stderr
        assert b"nowhere" in looked.stdout, looked

    told = subprocess.run(["git", *words], cwd=root, env=HARMLESS, check=False, capture_output=True)
    assert PASSWORD.encode() in told.stdout, "so nothing is shown"


async def test_settings_that_cannot_be_looked_through_are_shown_to_no_command(
    executor: CommandExecutor, root: Path
) -> None:
    make_repository(root)
    with (root / ".git" / "config").open("a") as config:
        config.write(f'[remote "x"]\n\turl = https://a:{PASSWORD}@nowhere/\n')
        config.write("# nothing is said here\n" * 60_000)

    looked = await run(executor, "config", "--list", profile=Profile.READ)

    assert looked.stdout.startswith(b"user.name=") is False
    assert PASSWORD.encode() not in looked.stdout + looked.stderr


async def test_who_works_with_parts_and_further_trees_can_do_so(
    executor: CommandExecutor, root: Path
) -> None:
    upstream = make_repository(root.parent / "upstream")
    make_repository(root)
    git(root, "submodule", "add", "-q", str(upstream), "part")
    git(root, "commit", "-qm", "second")
    git(root, "worktree", "add", "-q", "tree")
    make_repository(root / "apart")

    for words, folder in (
        (["status", "--short"], "."),
        (["status", "--short"], "part"),
        (["commit", "--allow-empty", "-qm", "x"], "part"),
        (["commit", "--allow-empty", "-qm", "x"], "tree"),
        (["commit", "--allow-empty", "-qm", "x"], "apart"),
        (["add", "-A"], "."),
    ):
        outcome = await run(executor, *words, folder=folder)
        assert outcome.exit_code == 0, (words, folder, outcome.stderr)

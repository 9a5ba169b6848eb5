"""git gets what is its own in the repository it is about, and nothing of any other."""

import os
import subprocess
from pathlib import Path

import pytest

from handrail.core.box import Profile
from handrail.core.errors import CommandExecutionError
from handrail.core.outcome import CommandOutcome
from handrail.core.stage import Stage
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.repository.places import own_of_git
from handrail.executors.sandbox.guarded import GuardedNames

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


@pytest.fixture(params=["in its place", "under another name"])
def planted(root: Path, request: pytest.FixtureRequest) -> Path:
    """A repository with another in it, whose filter plants a hook in the first one."""
    make_repository(root)
    git(root, "config", "remote.x.url", f"https://a:{PASSWORD}@nowhere/")
    inner = make_repository(root / "inner")
    if request.param == "under another name":
        (inner / ".git").rename(root / "store")
        (inner / ".git").write_text("gitdir: ../store\n")
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
    assert not (planted / "stolen").exists()

    subprocess.run(["git", *words], cwd=planted, env=HARMLESS, check=False, capture_output=True)
    assert (planted / ".git" / "hooks" / "pre-commit").exists(), "so nothing is shown"


async def test_nor_does_it_when_git_is_about_it_alone(
    executor: CommandExecutor, planted: Path
) -> None:
    outcome = await run(executor, "add", "a.txt", folder="inner")

    assert outcome.exit_code == 0, outcome.stderr
    assert not (planted / ".git" / "hooks" / "pre-commit").exists()
    assert not (planted / "stolen").exists()


FILTER = """
printf '#!/bin/sh\\ntouch %s/planted-ran\\ncat\\n' "$PWD" > planted.sh && chmod +x planted.sh
printf '[filter "x"]\\n\\tsmudge = %s/planted.sh\\n' "$PWD" > extra
"""


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (
            "printf '[includeIf \"gitdir:**/worktrees/**\"]\\npath = ../extra\\n' >> .git/config",
            ["worktree", "add", "tree"],
        ),
        (
            "printf '[includeIf \"gitdir:**/modules/part\"]\\npath = ../../../extra\\n'"
            " >> .git/modules/part/config",
            ["submodule", "update", "--force"],
        ),
    ],
)
async def test_settings_that_hold_in_one_folder_only_run_nothing_there(
    executor: CommandExecutor, root: Path, lines: str, words: list[str]
) -> None:
    upstream = make_repository(root.parent / "upstream")
    make_repository(root)
    for folder in (upstream, root):
        (folder / ".gitattributes").write_text("*.txt filter=x\n")
        git(folder, "add", ".gitattributes")
        git(folder, "commit", "-qm", "second")
    git(root, "submodule", "add", "-q", str(upstream), "part")
    git(root, "commit", "-qm", "third")
    (root / "part" / "a.txt").unlink()
    subprocess.run(["sh", "-ec", FILTER + lines], cwd=root, env=HARMLESS, check=True)

    with pytest.raises(CommandExecutionError, match="conditional settings"):
        await run(executor, *words)
    assert not (root / "planted-ran").exists()

    git(root, *words)
    assert (root / "planted-ran").exists(), "so nothing is shown"


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


async def test_settings_that_cannot_be_looked_through_are_shown_to_nobody(
    executor: CommandExecutor, root: Path
) -> None:
    make_repository(root)
    with (root / ".git" / "config").open("a") as config:
        config.write("# nothing is said here\n" * 60_000)

    with pytest.raises(CommandExecutionError, match="larger than"):
        await run(executor, "status", profile=Profile.READ)


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
        (["worktree", "remove", "tree"], "."),
        (["rm", "-qf", "part"], "."),
    ):
        outcome = await run(executor, *words, folder=folder)
        assert outcome.exit_code == 0, (words, folder, outcome.stderr)


def test_the_nearest_repository_is_meant(root: Path) -> None:
    for folder in (".git", "a/.git", "a/b"):
        (root / folder).mkdir(parents=True)
    (root / "way").symlink_to("a/b")
    found = [".git", "a/.git"]

    assert own_of_git(str(root), ".", found) == (".git",)
    assert own_of_git(str(root), "a", found) == ("a/.git",)
    assert own_of_git(str(root), "a/b", found) == ("a/.git",)
    assert own_of_git(str(root), "way", found) == ("a/.git",)


def test_where_there_is_none_it_is_the_one_that_would_be_made(root: Path) -> None:
    (root / "a").mkdir()

    assert own_of_git(str(root), "a", []) == (".git",)


def test_files_that_point_to_a_repository_belong_to_it(root: Path) -> None:
    for folder in (".git/modules/part", "part", "strange", "away"):
        (root / folder).mkdir(parents=True)
    (root / "part" / ".git").write_text("gitdir: ../.git/modules/part\n")
    (root / "strange" / ".git").write_text("no pointer\n")
    (root / "away" / ".git").write_text("gitdir: /nowhere/.git\n")
    found = [".git", "part/.git", "strange/.git", "away/.git"]

    assert own_of_git(str(root), ".", found) == (".git", "part/.git")
    assert own_of_git(str(root), "part", found) == (".git", "part/.git")
    assert own_of_git(str(root), "strange", found) == ("strange/.git",)


def test_what_is_not_gits_own_stays_covered(root: Path, guarded: GuardedNames) -> None:
    for folder in (".git", "inner/.git"):
        (root / folder).mkdir(parents=True)
        (root / folder / "config").write_text("x")

    outer, inner = guarded.view(git_in="."), guarded.view(git_in="inner")

    assert (outer.frozen[0], outer.gits) == (str(root / "inner/.git"), (str(root / ".git"),))
    assert outer.hidden_files == (str(root / "inner/.git/config"),)
    assert (inner.frozen[0], inner.gits) == (str(root / ".git"), (str(root / "inner/.git"),))
    assert inner.hidden_files == (str(root / ".git/config"),)

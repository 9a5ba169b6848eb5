"""git runs nothing that a repository would have it run, and works all the same."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from handrail.core.box import Profile
from handrail.core.hands import CommandOutcome
from handrail.core.stage import Stage
from handrail.executors.command import CommandExecutor
from handrail.executors.git import own_identity

WRITE = Profile.WRITE
AUTHOR = {
    f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
}
CLEAN = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "GIT_CONFIG_GLOBAL": os.devnull, **AUTHOR}


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=root, env=CLEAN, check=True, capture_output=True)


@pytest.fixture
def repository(root: Path) -> Path:
    git(root, "init", "-q", "-b", "main", ".")
    (root / "a.txt").write_text("one\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    (root / "a.txt").write_text("two\n")
    script = root / "planted.sh"
    script.write_text("#!/bin/sh\necho ran >> planted.log\ncat\n")
    script.chmod(0o755)
    return root


Plant = Callable[[Path], None]


def setting(name: str, value: str = "./planted.sh") -> Plant:
    return lambda root: git(root, "config", name, value)


def attribute(line: str, *settings: tuple[str, str]) -> Plant:
    def plant(root: Path) -> None:
        (root / ".gitattributes").write_text(f"* {line}\n")
        for name, value in settings:
            git(root, "config", name, value)

    return plant


def hook(name: str) -> Plant:
    def plant(root: Path) -> None:
        path = root / ".git" / "hooks" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("#!/bin/sh\necho ran >> planted.log\n")
        path.chmod(0o755)

    return plant


def hooks_elsewhere(root: Path) -> None:
    hook("post-index-change")(root)
    (root / ".git" / "hooks").rename(root / "hooks")
    git(root, "config", "core.hooksPath", "hooks")


def signing(root: Path) -> None:
    git(root, "config", "commit.gpgSign", "true")
    git(root, "config", "gpg.program", RUN)


RUN = "./planted.sh"
PLANTED: dict[str, tuple[Plant, list[str]]] = {
    "fsmonitor": (setting("core.fsmonitor"), ["status"]),
    "hooks folder": (hooks_elsewhere, ["add", "a.txt"]),
    "clean filter": (attribute("filter=x", ("filter.x.clean", RUN)), ["add", "a.txt"]),
    "required filter": (
        attribute("filter=x", ("filter.x.clean", RUN), ("filter.x.required", "true")),
        ["add", "a.txt"],
    ),
    "filter with dots in its name": (
        attribute("filter=x.y.z", ("filter.x.y.z.clean", RUN)),
        ["add", "a.txt"],
    ),
    "external diff": (setting("diff.external"), ["diff"]),
    "pre-commit": (hook("pre-commit"), ["commit", "-aqm", "x"]),
    "post-index-change": (hook("post-index-change"), ["add", "a.txt"]),
    "editor": (setting("core.editor"), ["commit", "-aq"]),
    "gpg": (signing, ["commit", "-aqm", "x"]),
}


async def run(executor: CommandExecutor, *words: str, profile: Profile = WRITE) -> CommandOutcome:
    return await executor.run([Stage(("git", *words), profile)], timeout_seconds=30)


@pytest.mark.parametrize(("plant", "words"), PLANTED.values(), ids=PLANTED.keys())
async def test_what_was_planted_runs_with_plain_git_and_not_with_ours(
    executor: CommandExecutor, repository: Path, plant: Plant, words: list[str]
) -> None:
    plant(repository)
    marker = repository / "planted.log"

    await run(executor, *words)
    assert not marker.exists()

    (repository / "a.txt").write_text("something else again\n")
    subprocess.run(["git", *words], cwd=repository, env=CLEAN, check=False, capture_output=True)
    assert marker.exists(), "with plain git it does nothing either, so nothing is shown"


async def test_git_works_where_nothing_was_planted(
    executor: CommandExecutor, repository: Path
) -> None:
    status = await run(executor, "status", "--short", profile=Profile.READ)
    await run(executor, "add", "a.txt")
    commit = await run(executor, "commit", "-qm", "second")
    log = await run(executor, "log", "--format=%s %an", profile=Profile.READ)

    assert status.stdout == b" M a.txt\n?? planted.sh\n"
    assert commit.exit_code == 0, commit.stderr
    assert log.stdout == b"second Ada\nfirst a@b.c\n"


async def test_settings_that_cannot_be_told_are_not_trusted(
    executor: CommandExecutor, repository: Path
) -> None:
    (repository / ".git" / "config").write_text("[broken")

    outcome = await run(executor, "status", profile=Profile.READ)

    assert outcome.exit_code != 0
    assert b"bad config" in outcome.stderr


def test_one_commits_under_the_name_of_ones_own_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "gitconfig"
    settings.write_text("[user]\n\tname = Ada Lovelace\n\temail = ada@example.com\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    assert own_identity() == [("user.name", "Ada Lovelace"), ("user.email", "ada@example.com")]

    settings.write_text("[user]\n\tname = Ada\n")
    assert own_identity() == [("user.name", "Ada")]

    monkeypatch.setenv("PATH", "/nowhere")
    assert own_identity() == []

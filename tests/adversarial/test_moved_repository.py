"""A repository whose inside lies elsewhere in the workspace is no less git's own."""

import os
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest

from handrail import judge
from handrail.core.box import Isolation, Profile
from handrail.core.risk import RiskLevel
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.sandbox.box import Programs
from tests.adversarial.boxes import boxed, run

PASSWORD = "PASSWORD-4713"
PLAIN = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "GIT_CONFIG_GLOBAL": os.devnull}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """As `git init --separate-git-dir=pub` leaves it."""
    made = tmp_path / "ws"
    made.mkdir()
    for words in (
        ["init", "-q", "--separate-git-dir=pub"],
        ["config", "remote.x.url", f"https://a:{PASSWORD}@nowhere/"],
    ):
        subprocess.run(["git", *words], cwd=made, env=PLAIN, check=True, capture_output=True)
    assert (made / ".git").is_file()
    return made


@pytest.fixture
def executor(root: Path, programs: Programs, isolation: Isolation) -> Generator[CommandExecutor]:
    with boxed(root, programs, isolation) as made:
        yield made


async def test_its_settings_are_neither_seen_nor_changed(
    executor: CommandExecutor, root: Path
) -> None:
    seen = await run(executor, "cat", "pub/config", profile=Profile.READ)
    assert PASSWORD.encode() not in seen.stdout + seen.stderr

    line = (
        "echo x > pub/hooks/pre-commit; echo x > pub/config; mv pub moved; cat */config; echo end"
    )
    tried = await run(executor, "sh", "-c", line)
    assert b"end" in tried.stdout
    assert PASSWORD.encode() not in tried.stdout
    assert not (root / "pub" / "hooks" / "pre-commit").exists()
    assert PASSWORD in (root / "pub" / "config").read_text()


async def test_git_looks_at_it_and_writes_nothing_there(
    executor: CommandExecutor, root: Path
) -> None:
    (root / "a.txt").write_text("x\n")

    added = await run(executor, "git", "add", "a.txt")
    looked = await run(executor, "git", "remote", "-v", profile=Profile.READ)

    assert b"Read-only" in added.stderr
    assert b"nowhere" in looked.stdout
    assert PASSWORD.encode() not in looked.stdout


@pytest.mark.parametrize("flag", ["--separate-git-dir=pub", "--separate-git", "--sep"])
def test_nobody_is_asked_whether_to_make_one(flag: str) -> None:
    for words in (["init", flag, "pub"], ["clone", flag, "pub", "https://example.com/a.git"]):
        verdict = judge("execute_command", {"command": "git", "args": words}, workspace="/ws")
        assert verdict.risk is RiskLevel.FORBIDDEN

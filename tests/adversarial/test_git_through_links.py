"""git writes through links of the workspace; none of them leads to what names programs.

Each is first shown to work with plain git, in the open: what a person's git does next runs it.
"""

import asyncio
import os
import subprocess
from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from handrail.core.box import Isolation, Profile
from handrail.core.errors import CommandExecutionError
from handrail.core.hands import Hands
from handrail.core.stage import Join, Stage
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.sandbox.box import Programs
from handrail.policy.security import Scene
from handrail.testing import try_tool
from handrail.tools.builtin.run_bash import RunBash
from tests.adversarial.boxes import boxed, run

PLAIN = {
    "PATH": os.environ["PATH"],
    "HOME": "/nowhere",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
}
START = """
git init -qb main . && git config user.name a && git config user.email a@b
git config protocol.file.allow always && echo x > a.txt && git add a.txt && git commit -qm first
"""
# A file whose archive git would read as settings, which name a program.
SETTINGS = r"""
printf '\n[core]\n\trepositoryformatversion = 0\n\tfsmonitor = "touch PWNED; false"\n#' > '#'
git add '#' && git commit -qm settings
"""
STORE = """
git init -q --bare evil && git -C evil config core.bare false
git -C evil config core.fsmonitor 'touch ../PWNED PWNED; false'
"""
HOOK = r"""
git checkout -qb other && git rm -q a.txt && printf '#!/bin/sh\ntouch PWNED\n' > pre-commit
chmod +x pre-commit && git add pre-commit && git commit -qm hook && git checkout -q main
"""
COMMIT = "git commit -q --allow-empty -m next"


@dataclass(frozen=True, slots=True)
class Attack:
    """What is planted, the words of git that write there, and what a person does next."""

    plant: str
    words: tuple[str, ...]
    then: str = "git status"


ATTACKS: dict[str, Attack] = {
    "an archive that is a file of settings": Attack(
        f"{SETTINGS} ln -s .git/config x.tar",
        ("archive", "-o", "x.tar", "--format=tar", "HEAD^{tree}", "--", "#"),
    ),
    "an archive that leads to another repository": Attack(
        "ln -s .git/commondir x.tar",
        ("archive", "-o", "x.tar", "--prefix=../evil/", "HEAD^{tree}"),
        # git finds it before all else, and cannot be used any more.
        "git status || touch PWNED",
    ),
    "an archive that makes a part of another repository": Attack(
        f"{STORE} git init -q ../up && git -C ../up -c user.name=a -c user.email=a@b commit -q"
        " --allow-empty -m x && git -c protocol.file.allow=always submodule --quiet add ../up part"
        " && ln -s part/.git x.tar",
        ("archive", "-o", "x.tar", "--format=tar", "--prefix=gitdir: ../evil/", "HEAD^{tree}"),
        "git -C part status",
    ),
    "a patch that is a hook": Attack(
        "git config user.name 'a # b' && cp /bin/true .git/hooks/pre-commit"
        " && ln -s .git/hooks/pre-commit 0001-b.patch && git add 0001-b.patch"
        " && git commit -qm 'b\n\ntouch PWNED\nexit 0\n'",
        ("format-patch", "-1"),
        COMMIT,
    ),
    "a worktree in the place of the hooks": Attack(
        f"{HOOK} rm -r .git/hooks && ln -s .git way",
        ("worktree", "add", "way/hooks", "other"),
        COMMIT,
    ),
    "a worktree in the place of a part": Attack(
        f"{HOOK} ln -s .git way",
        ("worktree", "add", "way/modules/part", "other"),
        "test ! -e .git/modules/part/pre-commit || touch PWNED",
    ),
}


def sh(root: Path, lines: str) -> None:
    subprocess.run(["sh", "-ec", lines], cwd=root, env=PLAIN, check=True, capture_output=True)


def is_run(root: Path, lines: str) -> bool:
    """Whether what a person does next runs what was planted."""
    subprocess.run(["sh", "-c", lines], cwd=root, env=PLAIN, check=False, capture_output=True)
    return bool([*root.rglob("PWNED")])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "ws"
    made.mkdir()
    sh(made, START)
    return made


@pytest.fixture
def executor(root: Path, programs: Programs, isolation: Isolation) -> Generator[CommandExecutor]:
    with boxed(root, programs, isolation) as made:
        yield made


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_in_the_open_it_works(root: Path, attack: Attack) -> None:
    sh(root, attack.plant)
    subprocess.run(["git", *attack.words], cwd=root, env=PLAIN, check=False, capture_output=True)

    assert is_run(root, attack.then), "so nothing is shown"


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
async def test_in_the_box_it_does_nothing(
    executor: CommandExecutor, root: Path, attack: Attack
) -> None:
    sh(root, attack.plant)
    with suppress(CommandExecutionError):
        outcome = await run(executor, "git", *attack.words)
        assert outcome.exit_code != 0

    assert not is_run(root, attack.then)


async def test_what_one_command_of_a_line_brings_the_next_does_not_write_through(
    executor: CommandExecutor, root: Path
) -> None:
    sh(root, "git checkout -qb other && ln -s .git/config x.tar && git add x.tar")
    sh(root, "git commit -qm link && git checkout -q main")
    line = "git checkout other && git archive -o x.tar HEAD"

    with FileSystemExecutor(root) as files:
        hands, scene = Hands(files, executor), Scene(str(root))
        tried = await try_tool(RunBash(), {"command": line}, hands, scene)

    assert "x.tar" in tried.result.fields["stderr"]
    assert (root / ".git" / "config").read_bytes().startswith(b"[core]")
    assert (root / "x.tar").is_symlink()


async def test_what_is_left_to_a_running_git_is_not_taken_for_held(
    executor: CommandExecutor, root: Path
) -> None:
    """Its box could still exchange such a name for a link, while another is made."""
    patient = "while [ ! -e go ]; do sleep 0.02; done"
    stages = [
        Stage(("sh", "-c", patient), Profile.WRITE),
        Stage(("git", "update-index", "--index-info"), Profile.WRITE, Join.PIPE),
    ]
    async with asyncio.TaskGroup() as group:
        first = group.create_task(executor.run(stages, timeout_seconds=60))
        while not (root / ".git" / "index.lock").exists():
            assert not first.done()
            await asyncio.sleep(0.02)
        try:
            assert (await run(executor, "true", profile=Profile.READ)).exit_code == 0
            (root / ".git" / "worktrees" / "new").mkdir(parents=True)
            settings = root / ".git" / "worktrees" / "new" / "config.worktree"
            settings.write_text("[http]\n\textraHeader = Authorization: Basic c2VjcmV0\n")
            with pytest.raises(CommandExecutionError, match=r"config.worktree .* try again"):
                await run(executor, "true", profile=Profile.READ)
        finally:
            (root / "go").touch()
    assert (await run(executor, "true", profile=Profile.READ)).exit_code == 0

"""An agent works with a remote by ssh: it pushes, and commits and pushes in one line."""

import asyncio
import shutil
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from handrail.core.card import Card, Choice
from tests.executors.git.shell import sh
from tests.executors.git.ssh_remote import SshRemote, ssh_remote
from tests.journeys.conftest import Rig

pytestmark = pytest.mark.skipif(
    shutil.which("sshd", path="/usr/sbin:/usr/bin") is None, reason="no ssh server is installed"
)
YES = Choice(approved=True)


@pytest.fixture
def remote(rig: Rig, tmp_path: Path) -> Generator[SshRemote]:
    """A remote that the person's git logs in to, and that their policy file names."""
    folder = tmp_path / "served"
    folder.mkdir()
    with ssh_remote(folder) as made:
        made.make("a.git")
        settings = tmp_path / "gitconfig"
        settings.write_text(
            f'[core]\n\tsshCommand = "{made.command}"\n'
            "[user]\n\tname = Ada\n\temail = ada@example.com\n"
        )
        rig.environment["GIT_CONFIG_GLOBAL"] = str(settings)
        rig.home.mkdir(mode=0o700)
        text = f'[[network]]\nname = "git"\nhosts = ["{made.place}"]\n'
        (rig.home / "policy.toml").write_text(text)
        sh(
            rig.workspace,
            "git init -q -b main . && echo one > a.txt && git add . && git commit -qm 1",
        )
        sh(rig.workspace, f"git remote add origin {made.url('a.git')}")
        yield made


async def approved(rig: Rig, line: str, call_id: str) -> tuple[dict[str, Any], Card]:
    """Run a line that a person approves; how it ended, and the card."""
    async with asyncio.TaskGroup() as group:
        call = group.create_task(rig.call("run_bash", {"command": line}, call_id))
        asked = group.create_task(rig.answer(YES))
    return call.result(), asked.result()


@pytest.mark.behaviour("git.ssh")
async def test_a_commit_is_pushed_by_ssh_after_a_card_that_names_the_address(
    rig: Rig, remote: SshRemote
) -> None:
    rig.start_server()
    rig.start_client()

    pushed, card = await approved(rig, "git push -u origin main", "call-1")
    (rig.workspace / "a.txt").write_text("two\n")
    ended, _ = await approved(rig, 'git commit -qam "Change a" && git push', "call-2")

    assert f"remote   {remote.url('a.git')}" in card.evidence.splitlines()
    assert f"To {remote.url('a.git')}" in pushed["result"]["output"]
    assert (pushed["status"], ended["status"]) == ("completed", "completed"), (pushed, ended)
    assert sh(remote.folder / "a.git", "git log -1 --format=%s main") == "Change a\n"
    assert [*(rig.home / "remotes").iterdir()] != []
    assert sh(rig.workspace, "git status -sb") == "## main...origin/main\n"


@pytest.mark.behaviour("git.remote-effects")
async def test_a_pull_that_would_lose_work_or_plant_a_setting_changes_nothing_here(
    rig: Rig, remote: SshRemote
) -> None:
    rig.start_server()
    rig.start_client()
    await approved(rig, "git push -u origin main", "call-1")
    program = rig.workspace / ".git/planting"
    program.write_text("#!/bin/sh\ncat\nprintf '[core]\\n\\tfsmonitor = x\\n' >> .git/config\n")
    program.chmod(0o755)
    sh(rig.workspace, "git config filter.x.smudge .git/planting")
    (rig.workspace / ".git/info/attributes").write_text("* filter=x\n")
    bare = remote.folder / "a.git"
    sh(
        bare,
        "B=$(echo theirs | git hash-object -w --stdin)\n"
        "T=$(printf '100644 blob %s\\ta.txt\\n' $B | git mktree)\n"
        "git update-ref refs/heads/main $(git commit-tree -p main -m new $T)",
    )
    head = sh(rig.workspace, "git rev-parse HEAD")

    planted, _ = await approved(rig, "git pull", "call-2")
    sh(rig.workspace, "git config --unset filter.x.smudge")
    (rig.workspace / "a.txt").write_text("mine\n")
    lost, _ = await approved(rig, "git fetch && git reset --hard origin/main", "call-3")

    for call in (planted, lost):
        assert "nothing was changed here" in call["result"]["output"], call
    assert "core.fsmonitor" in planted["result"]["output"]
    assert "fsmonitor" not in (rig.workspace / ".git/config").read_text()
    assert sh(rig.workspace, "git rev-parse HEAD") == head
    assert (rig.workspace / "a.txt").read_text() == "mine\n"

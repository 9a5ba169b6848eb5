"""Remotes by ssh are reached outside the box, with the keys of the person at this machine."""

import shutil
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest

from handrail.core.outcome import CommandOutcome
from handrail.executors.commands.executor import CommandExecutor
from handrail.policy.rulebook.book import Rulebook, operator_rules
from handrail.policy.validators.commands import CommandValidator
from tests.executors.git.plants import PLAIN
from tests.executors.git.ssh_remote import SshRemote, ssh_remote

pytestmark = pytest.mark.skipif(
    shutil.which("sshd", path="/usr/sbin:/usr/bin") is None, reason="no ssh server is installed"
)


@pytest.fixture
def remote(tmp_path: Path) -> Generator[SshRemote]:
    folder = tmp_path / "served"
    folder.mkdir()
    with ssh_remote(folder) as made:
        made.make("a.git")
        yield made


@pytest.fixture
def repository(
    root: Path, remote: SshRemote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    settings = tmp_path / "gitconfig"
    settings.write_text(f'[core]\n\tsshCommand = "{remote.command}"\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    sh(root, "git init -q -b main . && echo one > a.txt && git add . && git commit -qm first")
    sh(root, f"git remote add origin {remote.url('a.git')}")
    return root


@pytest.fixture
def is_named_as_local(executor: CommandExecutor, remote: SshRemote) -> None:
    text = f'[[network]]\nname = "git"\nhosts = ["{remote.place}"]'
    executor.adopt(Rulebook(operator_rules(text, "policy.toml")).rules_for(""))


def sh(root: Path, lines: str) -> None:
    subprocess.run(["sh", "-ec", lines], cwd=root, env=PLAIN, check=True, capture_output=True)


async def run(executor: CommandExecutor, line: str) -> CommandOutcome:
    command, *args = line.split()
    stages = [CommandValidator(executor.root).stage_of(command, args)]
    sight = await executor.look(stages)
    return await executor.run(stages, timeout_seconds=50, expected=sight.facts)


@pytest.mark.behaviour("git.ssh")
@pytest.mark.usefixtures("is_named_as_local")
async def test_one_pushes_fetches_and_clones_by_ssh(
    executor: CommandExecutor, repository: Path, remote: SshRemote
) -> None:
    for line in (
        "git push -u origin main",
        "git pull --rebase",
        "git ls-remote origin",
        f"git clone -q {remote.url('a.git')} lib",
    ):
        outcome = await run(executor, line)

        assert outcome.exit_code == 0, outcome.stderr
    assert (repository / "lib" / "a.txt").read_text() == "one\n"


@pytest.mark.usefixtures("is_named_as_local", "repository")
async def test_a_key_that_the_server_does_not_know_is_gits_own_failure(
    executor: CommandExecutor, remote: SshRemote
) -> None:
    (remote.folder / "key.pub").write_text("")

    outcome = await run(executor, "git fetch")

    assert outcome.exit_code == 128
    assert b"Permission denied" in outcome.stderr


@pytest.mark.usefixtures("repository")
async def test_a_server_in_the_own_network_is_reached_only_where_it_is_named(
    executor: CommandExecutor,
) -> None:
    outcome = await run(executor, "git fetch")

    assert outcome.exit_code == 128
    assert b"only a host that is listed as local" in outcome.stderr


@pytest.mark.usefixtures("is_named_as_local")
async def test_an_ssh_command_of_the_repository_is_not_obeyed(
    executor: CommandExecutor, repository: Path
) -> None:
    sh(repository, "git config core.sshCommand 'touch stolen; false'")

    outcome = await run(executor, "git push origin main")

    assert outcome.exit_code == 0, outcome.stderr
    assert not (repository / "stolen").exists()

"""Remotes by ssh are reached outside the box, with the keys of the person at this machine."""

import shutil
from collections.abc import Generator
from pathlib import Path

import pytest

from handrail.executors.commands.executor import CommandExecutor
from tests.executors.git.shell import run_approved, sh, trust_host
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
    trust_host(executor, remote.place)


@pytest.mark.behaviour("git.ssh")
@pytest.mark.usefixtures("is_named_as_local")
async def test_one_pushes_fetches_and_clones_by_ssh(
    executor: CommandExecutor, repository: Path, remote: SshRemote
) -> None:
    for line in (
        "git push -u origin main",
        "git pull --rebase origin main",
        "git ls-remote origin",
        f"git clone -q {remote.url('a.git')} lib",
    ):
        outcome = await run_approved(executor, line)

        assert outcome.exit_code == 0, outcome.stderr
    assert (repository / "lib" / "a.txt").read_text() == "one\n"


@pytest.mark.usefixtures("is_named_as_local", "repository")
async def test_a_key_that_the_server_does_not_know_is_gits_own_failure(
    executor: CommandExecutor, remote: SshRemote
) -> None:
    (remote.folder / "key.pub").write_text("")

    outcome = await run_approved(executor, "git fetch")

    assert outcome.exit_code == 128
    assert b"Permission denied" in outcome.stderr


@pytest.mark.usefixtures("repository")
async def test_a_server_in_the_own_network_is_reached_only_where_it_is_named(
    executor: CommandExecutor,
) -> None:
    outcome = await run_approved(executor, "git fetch")

    assert outcome.exit_code == 128
    assert b"only a host that is listed as local" in outcome.stderr


@pytest.mark.usefixtures("is_named_as_local")
async def test_an_ssh_command_of_the_repository_is_not_obeyed(
    executor: CommandExecutor, repository: Path
) -> None:
    sh(repository, "git config core.sshCommand 'touch stolen; false'")

    outcome = await run_approved(executor, "git push origin main")

    assert outcome.exit_code == 0, outcome.stderr
    assert not (repository / "stolen").exists()

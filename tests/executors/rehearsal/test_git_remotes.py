"""git that reaches a remote runs over an overlay; what it did here is told, and then applied."""

from collections.abc import Generator
from pathlib import Path

import pytest

from handrail.core.effects import GitWeight
from handrail.core.errors import CommandExecutionError, StaleCommandError
from handrail.core.rehearsal import CallRef, Rehearsed
from handrail.core.stage import Join, Stage
from handrail.policy.validators.commands import CommandValidator
from tests.executors.git.http_remote import HttpRemote, http_remote
from tests.executors.git.shell import trust_host
from tests.executors.rehearsal.agent import Agent
from tests.executors.rehearsal.conftest import snapshot
from tests.executors.rehearsal.repositories import faults_in, run, state_of

# The remote has a branch less than the clone, one more, one moved forward and one rewritten.
MADE = """set -e
git init -q -b main a; cd a
echo one > a.txt; git add .; git commit -qm one; git tag v1
git branch old; git branch gone
git switch -qc moved; git commit -q --allow-empty -m before; git switch -q main
git clone -q --bare . ../{bare}; git -C ../{bare} config http.receivepack true
git clone -q ../{bare} ../clone
echo two >> a.txt; git commit -qam two
git switch -q moved; git commit -q --amend --allow-empty -m after
git switch -q main; git tag v2; git branch new
git push -q -f ../{bare} main moved new v2 :gone
rm -rf ../a
"""
REACHING = [
    "git fetch",
    "git fetch --prune",
    "git fetch --tags",
    "git fetch origin new",
    "git fetch origin new:mine",
    "git fetch --depth 1",
    "git pull",
    "git pull --ff-only origin main",
    "git remote update",
    "git remote prune origin",
    "git remote show origin",
    "git ls-remote origin",
    "git clone -q {url} lib",
    "git clone -q --depth 1 {url} lib",
]
AHEAD = "git pull -q; git commit -q --allow-empty -m three; git tag v3"
PUSHING = [
    "git push",
    "git push origin main",
    "git push -u origin HEAD:topic",
    "git push --tags",
    "git push --all",
]


@pytest.fixture
def remote(tmp_path: Path) -> Generator[HttpRemote]:
    folder = tmp_path / "served"
    folder.mkdir()
    with http_remote(folder, is_open=True) as made:
        yield made


def prepare(remote: HttpRemote, bare: str, folder: Path, setup: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    run(MADE.format(bare=bare), remote.folder)
    run(f"cp -a clone/. {folder}; rm -rf clone", remote.folder)
    run(f"git remote set-url origin {remote.url(bare)}", folder)
    run(setup, folder)
    return folder


def refs_at(remote: HttpRemote, bare: str) -> str:
    return run("git for-each-ref --format='%(refname) %(objectname)'", remote.folder / bare)


def stages_of(agent: Agent, *lines: str) -> list[Stage]:
    validator = CommandValidator(agent.executor.root)
    words = [line.split() for line in lines]
    stages = [validator.stage_of(program, args) for program, *args in words]
    return [stages[0], *(stage._replace(join=Join.AND) for stage in stages[1:])]


async def carry_out(agent: Agent, remote: HttpRemote, *lines: str) -> tuple[CallRef, Rehearsed]:
    trust_host(agent.executor, remote.address.removeprefix("http://"))
    stages = stages_of(agent, *lines)
    sight = await agent.executor.look(stages)
    call = CallRef("first", lines[0])
    done = await agent.kept.carry_out(call, stages, timeout_seconds=50, expected=sight.facts)
    return call, done


@pytest.mark.parametrize(
    ("line", "setup"),
    [
        *((line, "") for line in REACHING),
        *(
            (line, "git pull -q; git commit -q --allow-empty -m three; git tag v3")
            for line in PUSHING
        ),
    ],
)
async def test_a_command_does_here_and_at_the_remote_what_plain_git_does(
    agent: Agent, root: Path, remote: HttpRemote, tmp_path: Path, line: str, setup: str
) -> None:
    prepare(remote, "a.git", root, setup)
    plain = prepare(remote, "b.git", tmp_path / "plain/ws", setup)
    before = snapshot(root)

    call, done = await carry_out(agent, remote, line.format(url=remote.url("a.git")))

    assert done.is_complete, done.ended_by
    assert done.outcome.exit_code == 0, done.outcome.stderr.decode()
    assert {note.weight for note in done.effects.git.notes} <= {
        GitWeight.CHANGE,
        GitWeight.SETTING,
    }, done.effects.git.notes
    assert snapshot(root) == before
    await agent.kept.apply(call)
    run(line.format(url=remote.url("b.git")), plain)
    assert state_of(root) == renamed(state_of(plain))
    assert refs_at(remote, "a.git") == refs_at(remote, "b.git")
    assert faults_in(root) == []


def renamed(state: object) -> object:
    """The state with the address of the one remote in the place of that of the other."""
    match state:
        case str():
            return state.replace("b.git", "a.git")
        case bytes():
            return state.replace(b"b.git", b"a.git")
        case dict():
            return {key: renamed(value) for key, value in state.items()}
        case list():
            return [renamed(value) for value in state]
        case tuple():
            return tuple(renamed(value) for value in state)
        case _:
            return state


async def test_a_line_commits_and_pushes(agent: Agent, root: Path, remote: HttpRemote) -> None:
    prepare(remote, "a.git", root, "git pull -q; git config user.name a; git config user.email b")
    (root / "a.txt").write_text("three\n")

    call, done = await carry_out(agent, remote, "git commit -qam three", "git push")
    await agent.kept.apply(call)

    assert done.outcome.exit_code == 0, done.outcome.stderr.decode()
    assert run("git status -sb", root) == "## main...origin/main\n"
    assert run("git log -1 --format=%s main", remote.folder / "a.git") == "three\n"


PLANTING = "#!/bin/sh\ncat\ntouch ran\nprintf '[core]\\n\\tfsmonitor = x\\n' >> .git/config\n"


def plant(root: Path, name: str) -> None:
    (root / ".git" / name).write_text(PLANTING)
    (root / ".git" / name).chmod(0o755)


async def test_what_a_repository_has_git_run_is_told_and_refused(
    agent: Agent, root: Path, remote: HttpRemote
) -> None:
    prepare(remote, "a.git", root)
    plant(root, "planting")
    run("git config filter.x.smudge .git/planting", root)
    (root / ".git/info/attributes").write_text("* filter=x\n")
    before = snapshot(root)

    _, done = await carry_out(agent, remote, "git pull")

    assert GitWeight.REFUSED in [note.weight for note in done.effects.git.notes]
    assert snapshot(root) == before


@pytest.mark.parametrize(
    ("name", "line"), [("hooks/pre-push", "git push"), ("hooks/post-merge", "git pull")]
)
async def test_no_hook_meets_a_remote(
    agent: Agent, root: Path, remote: HttpRemote, name: str, line: str
) -> None:
    prepare(remote, "a.git", root)
    plant(root, name)

    _, done = await carry_out(agent, remote, line)

    assert "ran" not in [change.path for change in done.effects.changes]


async def test_what_is_lost_here_is_told_as_a_loss(
    agent: Agent, root: Path, remote: HttpRemote
) -> None:
    prepare(remote, "a.git", root)
    (root / "a.txt").write_text("mine\n")

    _, done = await carry_out(agent, remote, "git fetch", "git reset --hard origin/main")

    assert done.is_complete, done.ended_by
    losses = [note.words for note in done.effects.git.notes if note.weight is GitWeight.LOSS]
    assert len(losses) == 1
    assert "a.txt" in losses[0]


async def test_nothing_is_started_once_the_machine_has_changed(
    agent: Agent, root: Path, remote: HttpRemote
) -> None:
    prepare(remote, "a.git", root)
    trust_host(agent.executor, remote.address.removeprefix("http://"))
    stages = stages_of(agent, "git push")
    sight = await agent.executor.look(stages)
    run("git commit -q --allow-empty -m more", root)

    with pytest.raises(StaleCommandError):
        await agent.kept.carry_out(
            CallRef("s", "t"), stages, timeout_seconds=50, expected=sight.facts
        )
    assert remote.visits == []


async def test_the_message_of_a_merge_names_the_remote(
    agent: Agent, root: Path, remote: HttpRemote
) -> None:
    prepare(remote, "a.git", root, "git config user.name a; git config user.email b")
    run("git commit -q --allow-empty -m mine", root)

    call, done = await carry_out(agent, remote, "git pull --no-rebase --no-edit")
    await agent.kept.apply(call)

    assert done.outcome.exit_code == 0, done.outcome.stderr.decode()
    subject = run("git log -1 --format=%s", root)
    assert subject == f"Merge branch 'main' of {remote.url('a')}\n"


LEADING = [
    "remote.origin.receivepack ./tools.sh",
    "remote.origin.uploadpack ./tools.sh",
    "include.path ../settings",
    "includeIf.gitdir:/.path ../settings",
]


@pytest.mark.parametrize("setting", LEADING)
async def test_a_setting_that_could_lead_to_another_stand_in_is_refused(
    agent: Agent, root: Path, remote: HttpRemote, setting: str
) -> None:
    prepare(remote, "a.git", root, f"git config {setting}")

    with pytest.raises(CommandExecutionError, match="could have git do more at the remote"):
        await carry_out(agent, remote, "git push origin main")
    assert remote.visits == []

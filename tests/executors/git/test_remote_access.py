"""git reaches the remote that was approved, from its box, with the credential for that one."""

import subprocess
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from handrail.core.errors import CommandExecutionError, StaleCommandError
from handrail.core.hands import Hands
from handrail.core.outcome import CommandOutcome
from handrail.core.stage import Join
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.git.mirror import Mirror
from handrail.executors.git.stand_in import Change, StandIn
from handrail.executors.sandbox import box, bubblewrap
from handrail.policy.rulebook.book import Rulebook, operator_rules
from handrail.policy.validators.commands import CommandValidator
from handrail.testing import FakeFiles
from handrail.tools.command.survey import survey_stages
from tests.executors.git.http_remote import PASSWORD, USERNAME, HttpRemote, http_remote
from tests.executors.git.shell import PLAIN, run_approved, sh, trust_host

QUOTED = PASSWORD.replace(" ", "%20").replace("/", "%2f")


@pytest.fixture
def remote(tmp_path: Path) -> Generator[HttpRemote]:
    folder = tmp_path / "served"
    folder.mkdir()
    with http_remote(folder) as made:
        made.make("a.git")
        yield made


@pytest.fixture
def place(remote: HttpRemote) -> str:
    return remote.address.removeprefix("http://")


@pytest.fixture
def home(tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of the person at the machine, whose helper knows the remote."""
    made = tmp_path / "home"
    made.mkdir()
    (made / "kept").write_text(f"http://{USERNAME}:{QUOTED}@{place}\n")
    (made / ".gitconfig").write_text(f"[credential]\n\thelper = store --file={made}/kept\n")
    monkeypatch.setenv("HOME", str(made))
    monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)
    return made


@pytest.fixture
def repository(root: Path, remote: HttpRemote, executor: CommandExecutor, place: str) -> Path:
    """Its remote is on this machine, which is reached only where somebody has said so."""
    sh(root, "git init -q -b main . && echo one > a.txt && git add . && git commit -qm first")
    sh(root, f"git remote add origin {remote.url('a.git')}")
    trust_host(executor, place)
    return root


def seeded(repository: Path, remote: HttpRemote) -> None:
    """Give the remote two branches, `main` one commit in front of `old`."""
    sh(repository, f"git push -q {remote.folder}/a.git main:main main:old")
    sh(repository, "git commit -q --allow-empty -m second")
    sh(repository, f"git push -q {remote.folder}/a.git main:main")


def heads(remote: HttpRemote) -> dict[str, str]:
    words = ["git", "for-each-ref", "--format=%(refname) %(objectname)"]
    told = subprocess.run(
        words, cwd=remote.folder / "a.git", env=PLAIN, check=True, capture_output=True, text=True
    )
    return dict(row.split() for row in told.stdout.splitlines())


def hook(remote: HttpRemote, name: str, lines: str) -> None:
    path = remote.folder / "a.git" / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{lines}\n")
    path.chmod(0o755)


@pytest.mark.behaviour("git.one-credential")
@pytest.mark.usefixtures("home")
async def test_one_pushes_and_fetches_and_clones_from_the_box(
    executor: CommandExecutor, repository: Path, remote: HttpRemote, place: str
) -> None:
    for line in (
        "git push -u origin main",
        "git fetch origin main",
        "timeout 40 git fetch origin",
        "git remote show origin",
        f"git clone -q {remote.url('a.git')} lib",
    ):
        outcome = await run_approved(executor, line)

        assert outcome.exit_code == 0, outcome.stderr
        assert PASSWORD.encode() not in outcome.stdout + outcome.stderr
        assert [contact.host for contact in outcome.traffic.contacted] == [place]
        assert b"/remotes/" not in outcome.stdout + outcome.stderr

    assert (repository / "lib" / "a.txt").read_text() == "one\n"
    left = ["grep", "-rlE", f"{PASSWORD}|{QUOTED}", str(repository), str(remote.folder)]
    assert subprocess.run(left, capture_output=True, check=False).stdout == b""


async def test_who_has_no_credential_does_not_get_in(
    executor: CommandExecutor, repository: Path, remote: HttpRemote, home: Path
) -> None:
    (home / "kept").write_text("")

    outcome = await run_approved(executor, "git push origin main")

    assert outcome.exit_code == 128
    assert {words for _, words in remote.visits} == {None}


@pytest.mark.usefixtures("home")
async def test_a_helper_that_the_repository_names_gets_nothing(
    executor: CommandExecutor, repository: Path, place: str
) -> None:
    thief = "!f() { cat > stolen; echo ran >> stolen; }; f"
    for name in ("credential.helper", f"credential.http://{place}.helper"):
        subprocess.run(["git", "config", name, thief], cwd=repository, check=True)

    outcome = await run_approved(executor, "git push origin main")

    assert outcome.exit_code == 0, outcome.stderr
    assert not (repository / "stolen").exists()


@pytest.mark.usefixtures("home")
async def test_what_the_remote_says_to_a_push_reaches_the_agent(
    executor: CommandExecutor, repository: Path, remote: HttpRemote
) -> None:
    hook(remote, "pre-receive", "echo 'create a pull request at https://x.example/1'")

    outcome = await run_approved(executor, "git push origin main")

    assert outcome.exit_code == 0
    assert b"remote: create a pull request at https://x.example/1" in outcome.stderr


@pytest.mark.usefixtures("home")
async def test_a_push_that_the_remote_refuses_has_failed(
    executor: CommandExecutor, repository: Path, remote: HttpRemote
) -> None:
    hook(remote, "update", "echo 'main is protected'; exit 1")

    outcome = await run_approved(executor, "git push origin main")

    assert outcome.exit_code == 128
    assert b"main is protected" in outcome.stderr
    assert heads(remote) == {}


@pytest.mark.usefixtures("home")
async def test_push_options_reach_the_remote(
    executor: CommandExecutor, repository: Path, remote: HttpRemote
) -> None:
    sh(remote.folder / "a.git", "git config receive.advertisePushOptions true")
    hook(remote, "pre-receive", 'echo "told $GIT_PUSH_OPTION_0"')

    outcome = await run_approved(executor, "git push -o ci.skip origin main")

    assert b"told ci.skip" in outcome.stderr


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("lines", "what"),
    [
        ("git --git-dir={} update-ref refs/heads/main refs/heads/old", "rewrite"),
        ("git --git-dir={} update-ref -d refs/heads/old", "delete"),
    ],
)
async def test_no_push_takes_anything_away_whatever_ran_in_the_box(
    executor: CommandExecutor,
    repository: Path,
    remote: HttpRemote,
    monkeypatch: pytest.MonkeyPatch,
    lines: str,
    what: str,
) -> None:
    seeded(repository, remote)
    sh(repository, "git commit -q --allow-empty -m third")
    before = heads(remote)
    changes = StandIn.changes

    def changed_by_others(stand_in: StandIn) -> list[Change]:
        refs = f"{remote.folder}/a.git"
        sh(stand_in.folder, f"echo {refs}/objects >> objects/info/alternates")
        sh(stand_in.folder, lines.format(stand_in.folder))
        return changes(stand_in)

    monkeypatch.setattr(StandIn, "changes", changed_by_others)
    outcome = await run_approved(executor, "git push origin main:topic")

    assert outcome.exit_code == 128
    assert f"the push would {what} refs/heads/".encode() in outcome.stderr
    assert heads(remote) == before


@pytest.mark.usefixtures("home")
async def test_only_a_push_changes_a_remote(
    executor: CommandExecutor,
    repository: Path,
    remote: HttpRemote,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seeded(repository, remote)
    before = heads(remote)

    def box_that_writes(*_: object) -> list[Change]:
        raise AssertionError("what a fetch leaves in a stand-in is not looked at")

    monkeypatch.setattr(StandIn, "changes", box_that_writes)
    outcome = await run_approved(executor, "git fetch origin")

    assert outcome.exit_code == 0, outcome.stderr
    assert heads(remote) == before


@pytest.mark.usefixtures("home")
async def test_settings_of_the_person_say_what_is_pushed_as_with_plain_git(
    executor: CommandExecutor, repository: Path, remote: HttpRemote
) -> None:
    seeded(repository, remote)
    sh(repository, "git checkout -qb topic && git commit -q --allow-empty -m mine")
    sh(repository, "git config branch.topic.remote origin && git tag -am x v1")
    sh(repository, "git config branch.topic.merge refs/heads/main")
    sh(repository, "git config push.default upstream && git config push.followTags true")

    outcome = await run_approved(executor, "git push")

    assert outcome.exit_code == 0
    assert b"topic -> main" in outcome.stderr
    assert {*heads(remote)} == {"refs/heads/main", "refs/heads/old", "refs/tags/v1"}


@pytest.mark.usefixtures("home")
async def test_the_login_of_an_address_is_not_in_the_box(
    executor: CommandExecutor, repository: Path, remote: HttpRemote, place: str
) -> None:
    sh(repository, f"git remote set-url origin http://{USERNAME}:{QUOTED}@{place}/a.git")
    seen: list[str] = []
    arguments = bubblewrap.arguments

    def noted(*told: Any, **further: Any) -> list[str]:
        words = arguments(*told, **further)
        seen.extend(words)
        return words

    with mock.patch.object(box, "arguments", noted):
        outcome = await run_approved(executor, "git push origin main")

    assert outcome.exit_code == 0, outcome.stderr
    assert any("insteadOf" in word for word in seen)
    assert not any(QUOTED in word or PASSWORD in word for word in seen)


@pytest.mark.usefixtures("home")
async def test_two_commands_of_a_pipe_do_not_wait_for_each_other(
    executor: CommandExecutor, repository: Path, remote: HttpRemote
) -> None:
    seeded(repository, remote)
    told = CommandValidator(executor.root)
    stages = [
        told.stage_of("git", ["ls-remote", "origin"]),
        told.stage_of("git", ["fetch", "origin"])._replace(join=Join.PIPE),
    ]
    sight = await executor.look(stages)

    outcome = await executor.run(stages, timeout_seconds=50, expected=sight.facts)

    assert outcome.exit_code == 0, outcome.stderr


@pytest.mark.usefixtures("home")
async def test_objects_of_a_refused_push_do_not_stay_in_the_mirror(
    executor: CommandExecutor, repository: Path, remote: HttpRemote, tmp_path: Path
) -> None:
    executor._mirrors = tmp_path / "mirrors"
    seeded(repository, remote)
    hook(remote, "update", "exit 1")
    sh(repository, "git commit -q --allow-empty -m private")
    private = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=repository, text=True)

    outcome = await run_approved(executor, "git push origin main")

    assert outcome.exit_code == 128
    [mirror] = (tmp_path / "mirrors").iterdir()
    words = ["git", f"--git-dir={mirror}", "cat-file", "-e", private.strip()]
    assert subprocess.run(words, capture_output=True, check=False).returncode != 0


@pytest.mark.usefixtures("home")
async def test_a_push_behind_the_remote_is_rejected_as_by_git(
    executor: CommandExecutor, repository: Path, remote: HttpRemote
) -> None:
    seeded(repository, remote)
    sh(repository, "git commit -q --amend --allow-empty -m other")

    outcome = await run_approved(executor, "git push origin main")

    assert outcome.exit_code == 1
    assert b"[rejected]" in outcome.stderr


@pytest.mark.usefixtures("home")
async def test_a_remote_that_moves_during_the_push_is_left_as_it_is(
    executor: CommandExecutor, repository: Path, remote: HttpRemote, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeded(repository, remote)
    sh(repository, "git commit -q --allow-empty -m mine")
    take_over = Mirror.take_over

    async def moved_meanwhile(mirror: Mirror, stand_in: StandIn) -> None:
        sh(remote.folder / "a.git", "git update-ref refs/heads/main refs/heads/old")
        await take_over(mirror, stand_in)

    monkeypatch.setattr(Mirror, "take_over", moved_meanwhile)
    outcome = await run_approved(executor, "git push origin main")

    assert outcome.exit_code == 128
    assert b"stale info" in outcome.stderr
    assert heads(remote)["refs/heads/main"] == heads(remote)["refs/heads/old"]


@pytest.mark.usefixtures("home")
async def test_one_pulls_and_pushes_in_one_line_of_several_stages(
    executor: CommandExecutor, repository: Path, remote: HttpRemote
) -> None:
    seeded(repository, remote)
    told = CommandValidator(executor.root)
    stages = [
        told.stage_of("git", ["pull", "origin", "old"]),
        told.stage_of("git", ["push", "origin", "main:topic"])._replace(join=Join.AND),
    ]
    sight = await executor.look(stages)

    outcome = await executor.run(stages, timeout_seconds=50, expected=sight.facts)

    assert outcome.exit_code == 0, outcome.stderr
    assert "refs/heads/topic" in heads(remote)


async def test_the_card_names_the_host(executor: CommandExecutor, root: Path) -> None:
    sh(root, "git init -q . && git remote add origin https://ada@code.example.com/x.git")

    sight = await executor.look([CommandValidator(str(root)).stage_of("git", ["push"])])

    assert sight.hosts == ("code.example.com:443",)
    assert sight.remotes == ("https://code.example.com/x.git",)


async def test_the_card_names_the_address(executor: CommandExecutor, root: Path) -> None:
    sh(root, "git init -q . && git remote add origin https://ada:pw@code.example.com/x.git")
    stages = [CommandValidator(str(root)).stage_of("git", ["push"])]

    survey = await survey_stages(Hands(FakeFiles({}), executor), stages)

    assert "remote   https://code.example.com/x.git" in survey.evidence.splitlines()


@pytest.mark.parametrize(
    "address", ["https://evil.example/x.git", "https://code.example.com/y.git"]
)
async def test_a_remote_that_was_exchanged_meanwhile_is_stale(
    executor: CommandExecutor, root: Path, address: str
) -> None:
    sh(root, "git init -q . && git remote add origin https://code.example.com/x.git")
    stages = [CommandValidator(str(root)).stage_of("git", ["push"])]
    seen = await executor.look(stages)
    sh(root, f"git remote set-url origin {address}")

    with pytest.raises(StaleCommandError, match="the address of the remote"):
        await executor.run(stages, timeout_seconds=20, expected=seen.facts)


@pytest.mark.usefixtures("home")
async def test_neither_is_one_reached_that_a_step_before_has_exchanged(
    executor: CommandExecutor, repository: Path, remote: HttpRemote
) -> None:
    other = remote.make("b.git")
    told = CommandValidator(executor.root)
    stages = [
        # That somebody has seen the other address as well, makes it none for what follows.
        told.stage_of("git", ["ls-remote", remote.url("b.git")]),
        told.stage_of("git", ["remote", "set-url", "origin", remote.url("b.git")])._replace(
            join=Join.AND
        ),
        told.stage_of("git", ["push", "origin", "main"])._replace(join=Join.AND),
    ]
    seen = await executor.look(stages)

    outcome = await executor.run(stages, timeout_seconds=50, expected=seen.facts)

    assert outcome.exit_code != 0
    assert [*(other / "refs" / "heads").iterdir()] == []
    assert not any("receive-pack" in path for path, _ in remote.visits)


async def test_git_reaches_no_other_host_than_its_remotes(
    executor: CommandExecutor, repository: Path, place: str
) -> None:
    text = f'[[network]]\nname = "git"\nhosts = ["{place}", "other.example:443"]'
    executor.adopt(Rulebook(operator_rules(text, "policy.toml")).rules_for(""))
    told: dict[str, tuple[str, ...] | None] = {}
    for line in ("git fetch origin", "git remote show origin", "git submodule update"):
        command, *args = line.split()
        sight = await executor.look([CommandValidator(executor.root).stage_of(command, args)])
        told[line] = sight.hosts

    assert told == {
        "git fetch origin": (place,),
        "git remote show origin": (place,),
        "git submodule update": (),
    }


@pytest.mark.usefixtures("home")
async def test_among_several_steps_each_git_reaches_its_own_remote(
    executor: CommandExecutor, repository: Path, remote: HttpRemote, place: str
) -> None:
    validator = CommandValidator(executor.root)
    stages = [
        validator.stage_of("git", ["push", "origin", "main"]),
        validator.stage_of("git", ["remote", "show", "other"])._replace(join=Join.THEN),
    ]
    with http_remote(remote.folder) as other:
        sh(repository, f"git remote add other {other.url('a.git')}")
        sight = await executor.look(stages)
        outcome = await executor.run(stages, timeout_seconds=50, expected=sight.facts)

    elsewhere = other.address.removeprefix("http://")
    assert sight.hosts == (place, elsewhere)
    assert sight.remotes == (remote.url("a.git"), other.url("a.git"))
    # The rules say nothing of that one, which lies on this machine.
    assert [contact.host for contact in outcome.traffic.contacted] == [place]
    assert {words for _, words in other.visits} <= {None}


HOSTILE = {
    "addresses": "url.{evil}/.insteadOf {good}/",
    "pushed addresses": "url.{evil}/.pushInsteadOf {good}/",
    "a proxy": "http.proxy {evil}",
    "a proxy of the remote": "remote.origin.proxy {evil}",
    "a helper": "credential.helper '!cat >>stolen; env >>stolen; true'",
    "a helper for the host": "credential.{good}.helper '!cat >>stolen; env >>stolen; true'",
    "a header": "http.extraHeader 'X-Told: 1'",
    "redirects": "http.followRedirects true",
    "cookies": "http.cookieFile .git/config",
    "an ssh command": "core.sshCommand 'env >>stolen;'",
    "a program at the remote": "remote.origin.receivepack 'env >>stolen; git-receive-pack'",
    "a program at the remote to fetch": "remote.origin.uploadpack 'env >>stolen; git-upload-pack'",
    "hooks": "core.hooksPath hooks",
    "a program for refs": "core.alternateRefsCommand 'env >>stolen'",
    "a question": "core.askPass 'env >>stolen;'",
    "signatures": "push.gpgSign true",
    "a promise": "remote.origin.promisor true",
    "a group": "remotes.origin 'x y'",
}


@pytest.mark.behaviour("git.one-credential")
@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("setting", HOSTILE.values(), ids=HOSTILE.keys())
async def test_settings_of_the_repository_meet_no_credential_and_no_network(
    executor: CommandExecutor, repository: Path, remote: HttpRemote, setting: str, tmp_path: Path
) -> None:
    seeded(repository, remote)
    (repository / "hooks").mkdir()
    for name in ("pre-push", "reference-transaction"):
        (repository / "hooks" / name).write_text("#!/bin/sh\nenv >>stolen\n")
        (repository / "hooks" / name).chmod(0o755)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    sh(repository, "git commit -q --allow-empty -m third")
    outcomes: list[CommandOutcome] = []
    with http_remote(elsewhere, is_open=True) as evil:
        sh(repository, f"git config {setting.format(evil=evil.address, good=remote.address)}")
        for line in ("git fetch origin", "git push origin main"):
            with suppress(CommandExecutionError):
                outcomes.append(await run_approved(executor, line))
        assert evil.visits == []

    # What the repository names may run in the box, where there is no credential.
    stolen = "".join(path.read_text() for path in repository.rglob("stolen"))
    assert not any(secret in stolen for secret in (PASSWORD, QUOTED))
    assert PASSWORD not in str([outcome.stdout + outcome.stderr for outcome in outcomes])
    is_refused = setting.endswith("-pack'")
    assert [outcome.exit_code for outcome in outcomes][1:] == ([] if is_refused else [0])

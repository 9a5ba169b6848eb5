"""Where git would go is told by git, before it goes there."""

import subprocess
from pathlib import Path

import pytest

from handrail.core.box import Profile
from handrail.core.errors import CommandExecutionError
from handrail.core.outcome import CommandOutcome
from handrail.core.stage import Stage
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.git.remotes import RemoteFinder
from handrail.policy.validators.commands import CommandValidator
from tests.executors.git.plants import PLAIN

ORIGIN, FORK, PUSHED = (f"https://{name}.example.com/a.git" for name in ("o", "fork", "pushed"))


@pytest.fixture
def repository(root: Path) -> Path:
    sh(root, "git init -q -b main . && git commit -q --allow-empty -m first")
    sh(root, f"git remote add origin {ORIGIN} && git remote add fork {FORK}")
    return root


def sh(root: Path, lines: str) -> None:
    subprocess.run(["sh", "-ec", lines], cwd=root, env=PLAIN, check=True, capture_output=True)


async def find(executor: CommandExecutor, line: str) -> str:
    async def look(stage: Stage) -> CommandOutcome:
        assert stage.profile is Profile.READ
        return await executor.run([stage], timeout_seconds=20)

    command, *args = line.split()
    stage = CommandValidator(executor.root).stage_of(command, args)
    return (await RemoteFinder(look).find(stage)).shown


@pytest.mark.parametrize(
    ("settings", "line", "address"),
    [
        ("true", "git push", ORIGIN),
        ("true", "git push -u origin main", ORIGIN),
        ("true", "git push fork main", FORK),
        ("true", "timeout 5 git push fork", FORK),
        ("true", "git fetch", ORIGIN),
        ("true", "git pull --rebase fork main", FORK),
        ("true", f"git fetch {PUSHED}", PUSHED),
        ("true", f"git push {PUSHED} main", PUSHED),
        ("true", f"git clone --depth 1 {PUSHED} lib", PUSHED),
        ("git config remote.pushDefault fork", "git push", FORK),
        ("git config remote.pushDefault fork", "git fetch", ORIGIN),
        ("git config branch.main.pushRemote fork", "git push", FORK),
        (
            "git config branch.main.remote fork && git config branch.main.merge refs/heads/main",
            "git pull",
            FORK,
        ),
        (f"git config remote.origin.pushUrl {PUSHED}", "git push", PUSHED),
        (f"git config remote.origin.pushUrl {PUSHED}", "git fetch", ORIGIN),
        (f"git config url.https://evil.example/.insteadOf {ORIGIN[:10]}", "git push", None),
        (f"git config url.https://evil.example/.insteadOf {ORIGIN[:10]}", "git fetch", None),
        (f"git config url.https://evil.example/.pushInsteadOf {ORIGIN[:10]}", "git push", None),
        (
            f"git config url.https://evil.example/.pushInsteadOf {ORIGIN}",
            f"git fetch {ORIGIN}",
            ORIGIN,
        ),
        ("git checkout -q --orphan new && git config branch.new.pushRemote fork", "git push", FORK),
        ("git checkout -q --orphan new && git config remote.pushDefault fork", "git push", FORK),
        ("git checkout -q --orphan new && git config branch.new.remote fork", "git push", FORK),
        ("git checkout -q --orphan new", "git push --tags", ORIGIN),
        ("git config branch.main.pushRemote fork", "git push -o ci.skip", FORK),
        ("true", "git push -o ci.skip fork main", FORK),
        ("true", "git fetch -pt --depth=1 -j4 fork", FORK),
        ("true", "git fetch --no-tags --no-recurse-submodules fork main", FORK),
        ("true", "git pull -r fork main", FORK),
        ("true", "git ls-remote --sort v:refname -- fork main", FORK),
        ("true", "git remote show fork", FORK),
        ("true", "git remote -v update -p fork", FORK),
        ("true", "git remote prune --dry-run fork", FORK),
        ("true", f"git submodule --quiet add -b main {PUSHED} push", PUSHED),
        ("git remote add fetch ../x", "git remote update fork", FORK),
        ("true", f"git clone --recurse-submodules {PUSHED}", f"{PUSHED} and any that parts"),
        ("true", "git fetch --recurse-submodules fork", f"{FORK} and any that parts"),
        ("true", "git submodule update --init", "any remote that this repository"),
        ("true", "git submodule -q update --remote origin", "any remote that this repository"),
    ],
)
async def test_it_is_the_one_that_git_would_reach(
    executor: CommandExecutor, repository: Path, settings: str, line: str, address: str | None
) -> None:
    sh(repository, settings)

    found = await find(executor, line)

    wanted = address or f"https://evil.example/{ORIGIN[10:]}"
    assert found.startswith(wanted) if " " in wanted else found == wanted


@pytest.mark.parametrize(
    ("settings", "line", "why"),
    [
        ("true", "git push origin fork", "more than one is named"),
        ("true", "git push typo main", "has no remote named typo"),
        ("true", "git fetch --depth 1 typo", "has no remote named typo"),
        ("true", "git fetch --all", "several remotes"),
        ("true", "git fetch --multiple origin fork", "several remotes"),
        ("true", "git status", "reaches no remote"),
        ("true", "git push -o origin", "more than one is named"),
        ("true", "git push --push-option origin fork", "more than one is named"),
        ("true", f"git push -o {ORIGIN}", "more than one is named"),
        ("true", "git fetch -o origin", "more than one is named"),
        ("true", "git fetch --shallow-exclude=origin", "more than one is named"),
        ("true", "git pull -X origin", "more than one is named"),
        ("true", "git ls-remote --sort origin", "more than one is named"),
        ("true", "git fetch --al", "makes of --al is not known"),
        ("true", "git fetch --mul origin", "makes of --mul is not known"),
        ("true", "git fetch -qm origin", "several remotes"),
        ("true", "git fetch --unknown origin", "makes of --unknown is not known"),
        ("true", "git fetch -x origin", "makes of -x is not known"),
        ("true", "git fetch origin --depth", "makes of --depth is not known"),
        # To pull, the number of jobs is never a word of its own.
        ("true", "git pull -j 4 origin", "has no remote named 4"),
        ("true", f"git clone --bundle-uri {FORK} {PUSHED}", "makes of --bundle-uri is not known"),
        (
            f"git config url.{FORK}.insteadOf alias",
            "git push alias origin",
            "has no remote named alias",
        ),
        (f"git config url.{FORK}.insteadOf alias", "git fetch alias", "has no remote named alias"),
        ("true", "git remote update", "names none"),
        ("true", "git remote show", "names none"),
        ("true", "git remote update origin fork", "more than one is named"),
        ("true", "git submodule add ../x", "names none"),
        ("true", "find . -name x -exec git fetch origin ;", "could pass it more"),
        ("true", "timeout --sig KILL 5 git fetch origin", "could pass it more"),
        ("true", "git clone lib", "names none"),
        ("git remote remove origin", "git push", "No such remote"),
        ("git remote set-url origin ../elsewhere", "git push", "no address"),
        (
            f"git config --add remote.origin.pushUrl {PUSHED}"
            f" && git config --add remote.origin.pushUrl {FORK}",
            "git push",
            "or several",
        ),
        (
            f"git config remote.{PUSHED}.pushUrl {FORK}",
            f"git push {PUSHED}",
            "name of a remote is an address",
        ),
        ("git checkout -q --detach", "git push --tags", "HEAD is not a symbolic ref"),
        ("git config remote.pushDefault ../elsewhere", "git push", "could be misread"),
        ("git config remote.pushDefault -x", "git push", "could be misread"),
    ],
)
async def test_where_it_is_unclear_it_is_none(
    executor: CommandExecutor, repository: Path, settings: str, line: str, why: str
) -> None:
    sh(repository, settings)

    with pytest.raises(
        CommandExecutionError, match=f"(cannot determine which remote|this repository).*{why}"
    ):
        await find(executor, line)


@pytest.mark.parametrize(
    ("setting", "line"),
    [
        ("insteadOf", "git clone {}"),
        ("insteadOf", "git fetch {}"),
        ("insteadOf", "git pull {} main"),
        ("insteadOf", "git push {} main"),
        ("pushInsteadOf", "git push {} main"),
    ],
)
async def test_an_address_in_words_leads_to_no_other(
    executor: CommandExecutor, repository: Path, setting: str, line: str
) -> None:
    sh(repository, f"git config url.https://o.example.com/evil.git.{setting} {ORIGIN}")

    told = rf"lead {ORIGIN} to https://o\.example\.com/evil\.git"
    with pytest.raises(CommandExecutionError, match=told):
        await find(executor, line.format(ORIGIN))


@pytest.mark.parametrize("address", ["git@x.example:a/b.git", "ssh://git@x.example/a.git"])
@pytest.mark.parametrize("line", ["git push", "git fetch", "git clone {}", "git push {} main"])
async def test_a_remote_by_ssh_is_told_why_it_cannot_be_reached(
    executor: CommandExecutor, repository: Path, address: str, line: str
) -> None:
    sh(repository, f"git remote set-url origin {address}")

    with pytest.raises(CommandExecutionError, match="only https remotes can be reached"):
        await find(executor, line.format(address))

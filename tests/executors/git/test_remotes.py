"""Which remotes a git command can mean."""

from pathlib import Path

import pytest

from handrail.core.errors import CommandExecutionError
from handrail.executors.git.remotes import addresses_in, find_targets
from handrail.policy.validators.commands import CommandValidator
from tests.executors.git.shell import sh

ORIGIN, FORK, PUSHED = (f"https://{name}.example.com/a.git" for name in ("o", "fork", "pushed"))
A_PART = "https://o.example.com/a.git"


@pytest.fixture
def repository(root: Path) -> Path:
    sh(root, "git init -q -b main . && git commit -q --allow-empty -m first")
    sh(root, f"git remote add origin {ORIGIN} && git remote add fork {FORK}")
    return root


async def find(root: Path, line: str) -> list[str]:
    command, *args = line.split()
    stage = CommandValidator(str(root)).stage_of(command, args)
    return [address.shown for address in addresses_in(await find_targets(str(root), stage))]


@pytest.mark.parametrize(
    ("settings", "line", "addresses"),
    [
        ("true", "git push", [ORIGIN]),
        ("true", "git push -u origin main", [ORIGIN]),
        ("true", "git push fork main", [FORK]),
        ("true", "timeout 5 git push fork", [FORK]),
        ("true", "git fetch", [ORIGIN]),
        ("true", "git pull --rebase fork main", [FORK]),
        ("true", f"git fetch {PUSHED}", [PUSHED]),
        ("true", f"git clone --depth 1 {PUSHED} lib", [PUSHED]),
        ("git config remote.pushDefault fork", "git push", [FORK]),
        ("git config remote.pushDefault fork", "git fetch", [ORIGIN]),
        ("git config branch.main.pushRemote fork", "git push", [FORK]),
        ("git config branch.main.remote fork", "git pull", [FORK]),
        (f"git config remote.origin.pushUrl {PUSHED}", "git push", [PUSHED]),
        (f"git config remote.origin.pushUrl {PUSHED}", "git fetch", [ORIGIN]),
        (
            "git checkout -q --orphan new && git config branch.new.pushRemote fork",
            "git push",
            [FORK],
        ),
        ("git checkout -q --detach", "git push --tags", [ORIGIN]),
        ("git remote remove origin", "git fetch", [FORK]),
        # One that is named and not meant costs a look at it.
        ("true", "git push origin fork", [ORIGIN, FORK]),
        ("true", "git fetch --all", [ORIGIN, FORK]),
        ("true", "git fetch --multiple origin fork", [ORIGIN, FORK]),
        ("true", "git remote -v update -p", [ORIGIN, FORK]),
        ("true", "git remote update fork", [FORK]),
        ("true", "git remote prune --dry-run fork", [FORK]),
        ("true", "git push --all", [ORIGIN]),
        ("true", f"git submodule add -b main {PUSHED} push", [PUSHED]),
        ("git config -f .gitmodules submodule.a.url ../a.git", "git submodule update", [A_PART]),
        (f"git config submodule.a.url {PUSHED}", "git submodule update --init", [PUSHED]),
        # What the repository says of addresses is not obeyed outside, so it leads nowhere.
        (f"git config url.https://evil.example/.insteadOf {ORIGIN[:10]}", "git fetch", [ORIGIN]),
        (f"git config url.https://evil.example/.pushInsteadOf {ORIGIN}", "git push", [ORIGIN]),
        ("git remote set-url origin git@x.example:a/b.git", "git pull", ["git@x.example:a/b.git"]),
        ("true", "git fetch ssh://git@x.example/a.git", ["ssh://git@x.example/a.git"]),
    ],
)
async def test_the_remotes_are_those_that_git_can_mean(
    repository: Path, settings: str, line: str, addresses: list[str]
) -> None:
    sh(repository, settings)

    assert await find(repository, line) == addresses


async def test_the_settings_of_the_person_say_where_an_address_leads(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "gitconfig"
    settings.write_text(
        '[url "git@o.example.com:"]\n\tpushInsteadOf = https://o.example.com/\n'
        '[url "https://kept.example.com/"]\n\tinsteadOf = kept:\n'
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))

    assert await find(repository, "git fetch") == [ORIGIN]
    assert await find(repository, "git push") == [ORIGIN, "git@o.example.com:a.git"]
    sh(repository, "git remote set-url origin kept:a.git")
    assert await find(repository, "git fetch") == ["https://kept.example.com/a.git"]


@pytest.mark.parametrize(
    ("settings", "line", "why"),
    [
        ("git remote set-url origin ../elsewhere", "git push", "neither https nor ssh"),
        ("git remote set-url origin ext::sh", "git fetch", "neither https nor ssh"),
        ("git remote set-url origin http://x.example/a", "git fetch", "use https"),
        ("git remote set-url origin ssh://-oProxyCommand=x/a", "git fetch", "in a plain form"),
        (
            "git config remote.origin.url \"$(printf 'ssh://u@evil/x\\nhandrail\\thttps://o.example/a')\"",
            "git fetch",
            "can mislead",
        ),
        ("true", "make fetch", "start git by itself"),
    ],
)
async def test_an_address_that_cannot_be_reached_is_refused_with_the_reason(
    repository: Path, settings: str, line: str, why: str
) -> None:
    sh(repository, settings)

    with pytest.raises(CommandExecutionError, match=why):
        await find(repository, line)


@pytest.mark.parametrize(
    "line", ["git push", "git push -u origin main", "git fetch", "git pull", "git clone . lib"]
)
async def test_what_needs_a_remote_is_refused_where_there_is_none(
    repository: Path, line: str
) -> None:
    sh(repository, "git remote remove origin && git remote remove fork")

    with pytest.raises(CommandExecutionError, match="finds no remote; name one that `git remote`"):
        await find(repository, line)


@pytest.mark.parametrize("line", ["git remote update", "git submodule update --init"])
async def test_what_does_nothing_without_remotes_reaches_none(repository: Path, line: str) -> None:
    sh(repository, "git remote remove origin && git remote remove fork")

    assert await find(repository, line) == []

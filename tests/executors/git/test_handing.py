"""A credential that waits for git to ask is given to git, and to nobody else in its box."""

import subprocess
from collections.abc import Generator
from pathlib import Path
from urllib.parse import quote

import pytest

from handrail.core.box import Isolation, Profile
from handrail.core.outcome import CommandOutcome
from handrail.core.stage import Stage
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.commands.provisions import Provisions
from handrail.executors.commands.starting import BoxStarter
from handrail.executors.git import guard
from handrail.executors.git.credentials import Credential, Remote
from handrail.executors.git.handing import handed_in
from handrail.executors.processes.output import Output
from handrail.executors.processes.pipes import Piping
from handrail.executors.sandbox.box import Box, Programs
from handrail.executors.sandbox.guarded import GuardedNames
from handrail.policy.rulebook.book import Rulebook, operator_rules
from handrail.policy.validators.commands import CommandValidator
from tests.executors.git.http_remote import PASSWORD, USERNAME, HttpRemote, http_remote
from tests.executors.git.plants import PLAIN

PLACE = Remote.of("https://code.example.com/a.git")
SECRET = "PASSWORD-4713"


async def printed(box: Box, lines: str) -> bytes:
    """What a shell in a box prints that has been given what git is given."""
    stage = Stage(("/bin/sh", "-c", lines), Profile.NET)
    with (
        handed_in(Credential("ada", SECRET), PLACE, "push") as given,
        Output(10_000) as out,
        Output(10_000) as err,
        Piping([stage], out, err) as piping,
    ):
        variables = (("FD", str(given.fds[0])), ("HELPER", given.settings[0][1][1:]))
        provisions = Provisions(variables, (), given)
        async with BoxStarter(box).start(stage, piping.streams[0], 20, provisions) as tree:
            await tree.process.wait()
        out.close_writer()
        await out.ended.wait()
        return bytes(out.kept) + bytes(err.kept)


@pytest.fixture
def box(programs: Programs, isolation: Isolation, guarded: GuardedNames) -> Box:
    return Box(programs, isolation, guarded)


@pytest.mark.parametrize(
    "lines",
    [
        "cat /dev/fd/$FD",
        "cat <&$FD",
        'eval "$HELPER get"',
        "sh -c 'cat /dev/fd/$FD'",
        # As a child of nobody, it has the same parent as what was started.
        "(sh -c 'cat /dev/fd/$FD' &); sleep 0.5",
        "cat /proc/1/fd/$FD",
        "git config alias.x '!cat /dev/fd/$FD'; git -c alias.x='!cat /dev/fd/$FD' x",
        # git itself asks, for somebody who has started it.
        "printf 'url=https://code.example.com\\n\\n'"
        ' | git -c credential.helper="!$HELPER" credential fill',
        "/usr/lib/git-core/git-remote-https x https://code.example.com/ </dev/null",
    ],
)
async def test_nobody_else_in_the_box_is_given_it(box: Box, lines: str) -> None:
    assert SECRET.encode() not in await printed(box, f"{lines}; echo; cat /dev/fd/$FD; echo end")


@pytest.fixture
def remote(tmp_path: Path) -> Generator[HttpRemote]:
    (tmp_path / "served").mkdir()
    with http_remote(tmp_path / "served", is_open=True) as made:
        made.make("a.git")
        yield made


THIEF = r"""#!/bin/bash
cat > /tmp/in
for f in /proc/self/fd/*; do
  n=${f##*/}; [ "$n" -gt 2 ] && timeout 1 cat /dev/fd/$n >> stolen 2> /dev/null
done
for f in /proc/[0-9]*/fd/*; do
  case $(readlink $f) in pipe:*) timeout 0.3 cat $f >> stolen 2> /dev/null;; esac
done
touch ran; cat /tmp/in
"""


async def pull(executor: CommandExecutor) -> CommandOutcome:
    stages = [CommandValidator(executor.root).stage_of("git", ["pull"])]
    sight = await executor.look(stages)
    return await executor.run(stages, timeout_seconds=50, expected=sight.facts)


def keep(secret: str, remote: HttpRemote, folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Have the person's helper know the remote."""
    place = remote.address.removeprefix("http://")
    home = folder / "home"
    home.mkdir()
    (home / "kept").write_text(f"http://{USERNAME}:{quote(secret, safe='')}@{place}\n")
    (home / ".gitconfig").write_text(f"[credential]\n\thelper = store --file={home}/kept\n")
    patch.setenv("HOME", str(home))
    patch.delenv("GIT_CONFIG_GLOBAL", raising=False)


def let_reach(executor: CommandExecutor, remote: HttpRemote) -> None:
    text = f'[[network]]\nname = "git"\nhosts = ["{remote.address.removeprefix("http://")}"]'
    executor.adopt(Rulebook(operator_rules(text, "policy.toml")).rules_for(""))


async def test_what_git_has_not_asked_for_no_filter_finds(
    executor: CommandExecutor,
    root: Path,
    remote: HttpRemote,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of an open remote nobody asks for a credential, and a filter runs after all."""
    keep(SECRET, remote, tmp_path, monkeypatch)
    monkeypatch.setattr(guard, "_FREE", [])
    (root / "thief").write_text(THIEF)
    (root / "thief").chmod(0o755)
    lines = f"""
    git init -qb main . && echo '*.txt filter=x' > .gitattributes && echo one > a.txt
    git add a.txt .gitattributes && git commit -qm first
    git remote add origin {remote.url("a.git")} && git push -qu origin main
    git clone -q {remote.url("a.git")} ../c && cd ../c && echo two > a.txt && git commit -qam two
    git push -q && cd ../ws && git config filter.x.smudge ./thief
    """
    subprocess.run(["sh", "-ec", lines], cwd=root, env=PLAIN, check=True, capture_output=True)
    let_reach(executor, remote)

    outcome = await pull(executor)

    assert outcome.exit_code == 0, outcome.stderr
    assert (root / "ran").exists(), "the filter was not run, so nothing is shown"
    assert SECRET.encode() not in (root / "stolen").read_bytes()


async def test_a_push_below_a_pull_is_given_nothing(
    executor: CommandExecutor, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All may read there, so that it is still to be had when a rebase runs its plan."""
    (tmp_path / "served").mkdir()
    with http_remote(tmp_path / "served", is_read_by_all=True) as remote:
        served = remote.make("a.git")
        keep(PASSWORD, remote, tmp_path, monkeypatch)
        let_reach(executor, remote)
        planned = f"%s%nexec exec git push {remote.url('a.git')} :release"
        lines = f"""
        git init -qb main . && git commit -q --allow-empty -m first
        git push -q {served} main main:release && echo up > up && git add . && git commit -qm up
        git push -q {served} main && git reset -q --hard HEAD~1
        echo own > own && git add . && git commit -qm own
        git remote add origin {remote.url("a.git")} && git config branch.main.remote origin
        git config branch.main.merge refs/heads/main && git config pull.rebase true
        git config rebase.instructionFormat '{planned}'
        """
        subprocess.run(["sh", "-ec", lines], cwd=root, env=PLAIN, check=True, capture_output=True)
        others = [pair for pair in vars(guard)["_SETTINGS"] if "instruction" not in pair[0]]
        monkeypatch.setattr(guard, "_SETTINGS", others)

        outcome = await pull(executor)

    assert b"Executing: exec git push" in outcome.stderr, "nothing was pushed, so nothing is shown"
    assert {words for _, words in remote.visits} == {None}
    assert (served / "refs" / "heads" / "release").exists()

"""git runs nothing that a repository would have it run, and works all the same."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from handrail.core.box import Profile
from handrail.core.errors import CommandExecutionError
from handrail.core.outcome import CommandOutcome
from handrail.core.stage import Stage
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.git.guard import own_identity
from handrail.policy.validators.commands import CommandValidator

WRITE = Profile.WRITE
AUTHOR = {
    f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
}
CLEAN = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "GIT_CONFIG_GLOBAL": os.devnull, **AUTHOR}


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=root, env=CLEAN, check=True, capture_output=True)


@pytest.fixture
def repository(root: Path) -> Path:
    git(root, "init", "-q", "-b", "main", ".")
    (root / "a.txt").write_text("one\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    (root / "a.txt").write_text("two\n")
    return root


async def run(executor: CommandExecutor, *words: str, profile: Profile = WRITE) -> CommandOutcome:
    return await executor.run([Stage(("git", *words), profile)], timeout_seconds=30)


async def test_git_works_where_nothing_was_planted(
    executor: CommandExecutor, repository: Path
) -> None:
    status = await run(executor, "status", "--short", profile=Profile.READ)
    await run(executor, "add", "a.txt")
    commit = await run(executor, "commit", "-qm", "second")
    log = await run(executor, "log", "--format=%s %an", profile=Profile.READ)

    assert status.stdout == b" M a.txt\n"
    assert commit.exit_code == 0, commit.stderr
    assert log.stdout == b"second Ada\nfirst a@b.c\n"


async def run_line(executor: CommandExecutor, line: str) -> CommandOutcome:
    """As a tool would run it."""
    command, *args = line.split()
    stage = CommandValidator(executor.root).stage_of(command, args)
    return await executor.run([stage], timeout_seconds=30)


@pytest.mark.parametrize(
    "line",
    [
        *(
            "diff",
            "diff --stat HEAD",
            "diff --cached",
            "log -p",
            "show",
            "blame HEAD -- a.txt",
            "reflog",
        ),
        *("status -v", "stash show", "stash show -p", "stash list", "branch -a", "tag -l"),
        *("ls-files", "describe --always", "shortlog -sn HEAD", "remote -v", "worktree list"),
        *("rev-list HEAD", "for-each-ref", "show-ref", "merge-base HEAD HEAD", "cat-file -p HEAD"),
        *("grep -c o", "branch --contains HEAD", "symbolic-ref --short HEAD", "log --graph"),
        *("describe --always --dirty", "name-rev HEAD", "count-objects", "check-attr -a a.txt"),
    ],
)
async def test_what_only_looks_says_in_its_box_what_plain_git_says(
    executor: CommandExecutor, repository: Path, line: str
) -> None:
    git(repository, "stash", "-q")
    git(repository, "stash", "apply", "-q")
    outcome = await run_line(executor, f"git {line}")

    plain = ["git", *line.split()]
    truth = subprocess.run(plain, cwd=repository, env=CLEAN, check=True, capture_output=True)
    assert (outcome.stdout, outcome.stderr) == (truth.stdout, b"")


@pytest.mark.parametrize(
    "line", ["git add a.txt", "timeout 5 git add a.txt", "env git add a.txt", "nice git add a.txt"]
)
async def test_git_may_change_its_own_when_others_only_start_it(
    executor: CommandExecutor, repository: Path, line: str
) -> None:
    outcome = await run_line(executor, line)

    assert (outcome.exit_code, outcome.stderr) == (0, b"")
    assert (await run_line(executor, "git diff --cached --name-only")).stdout == b"a.txt\n"


@pytest.mark.parametrize(
    "line",
    [
        "xargs git add a.txt",
        "find . -name a.txt -exec git add {} ;",
        "find .git -name config -exec git log --output={} ;",
    ],
)
async def test_nothing_else_may_change_what_is_gits(
    executor: CommandExecutor, repository: Path, line: str
) -> None:
    before = (repository / ".git" / "config").read_bytes()

    outcome = await run_line(executor, line)

    assert b"Read-only file system" in outcome.stderr
    assert (repository / ".git" / "config").read_bytes() == before


async def test_who_runs_beside_git_does_not_see_what_is_gits(
    executor: CommandExecutor, repository: Path
) -> None:
    line = "find .git -name config -exec git --version ; -exec cp {} seen ;"

    outcome = await run_line(executor, line)

    assert b"'.git/config'" in outcome.stderr
    assert not (repository / "seen").exists()


@pytest.mark.parametrize(
    "line", ["xargs git log --format=%s -1", "find a.txt -exec git log --format=%s -- {} ;"]
)
async def test_git_with_words_of_others_can_still_look(
    executor: CommandExecutor, repository: Path, line: str
) -> None:
    outcome = await run_line(executor, line)

    assert (outcome.stdout, outcome.stderr) == (b"first\n", b"")


@pytest.mark.parametrize(
    "line",
    [
        "xargs git remote -v",
        "find .git -maxdepth 1 -name config -exec git blame --contents {} a.txt ;",
    ],
)
async def test_what_git_prints_for_words_of_others_holds_no_password(
    executor: CommandExecutor, repository: Path, line: str
) -> None:
    with (repository / ".git" / "config").open("a") as config:
        config.write('[remote "x"]\n\turl = https://ada:hush@example.com/\n')

    outcome = await run_line(executor, line)

    assert b"example.com" in outcome.stdout, outcome
    assert b"hush" not in outcome.stdout


async def test_settings_that_cannot_be_told_are_not_trusted(
    executor: CommandExecutor, repository: Path
) -> None:
    (repository / ".git" / "config").write_text("[broken")

    with pytest.raises(CommandExecutionError, match="cannot be read: fatal: bad config line"):
        await run(executor, "status", profile=Profile.READ)


@pytest.mark.parametrize(
    "when",
    ["onbranch:other", "gitdir:**/worktrees/**", "gitdir/i:x", "hasconfig:remote.*.url:x", ""],
)
async def test_settings_that_could_change_on_the_way_are_not_trusted(
    executor: CommandExecutor, repository: Path, when: str
) -> None:
    git(repository, "config", f"includeIf.{when}.path", "../more")

    told = re.escape(f"includeif.{when}.path")
    with pytest.raises(CommandExecutionError, match=rf"{told}.*remove that setting"):
        await run(executor, "checkout", "other")


@pytest.mark.parametrize("path", ["../more", "{root}/more", "~/more", "link", "more", "/etc/more"])
async def test_settings_from_another_file_are_not_trusted(
    executor: CommandExecutor, repository: Path, path: str
) -> None:
    (repository / "more").write_text("")
    (repository / ".git" / "more").write_text("")
    (repository / ".git" / "link").symlink_to("../more")
    git(repository, "config", "include.path", path.format(root=repository))

    with pytest.raises(CommandExecutionError, match=r"another file .*(more|link)\).*include\.path"):
        await run(executor, "checkout", "other")
    await run(executor, "status", profile=Profile.READ)


async def test_a_hook_that_no_setting_of_ours_displaces_keeps_git_from_running(
    executor: CommandExecutor, repository: Path
) -> None:
    git(repository, "config", "gc.recentObjectsHook", "touch x")

    with pytest.raises(CommandExecutionError, match=r"gc\.recentobjectshook.*remove it"):
        await run(executor, "gc")


@pytest.mark.parametrize("kind", ["remotes", "branches"])
@pytest.mark.parametrize("words", [("push", "old"), ("fetch",), ("pull", "origin")])
async def test_remotes_in_files_keep_git_from_reaching_any(
    executor: CommandExecutor, repository: Path, kind: str, words: tuple[str, ...]
) -> None:
    (repository / ".git" / kind).mkdir(exist_ok=True)
    (repository / ".git" / kind / "old").write_text("URL: https://o.example.com/a\nPush: +a:a\n")

    with pytest.raises(CommandExecutionError, match=rf"\.git/{kind}/old"):
        await run(executor, *words)
    await run(executor, "status", profile=Profile.READ)


@pytest.mark.parametrize("pushed", ["+refs/heads/*:refs/heads/*", ":refs/heads/main", ":"])
async def test_settings_force_no_push(
    executor: CommandExecutor, repository: Path, pushed: str
) -> None:
    for name in ("origin", ""):
        git(repository, "config", f"remote.{name}.push", pushed)

        with pytest.raises(CommandExecutionError, match=rf"remote\.{name}\.push .* rewrite or"):
            await run(executor, "push")
        git(repository, "config", "--unset", f"remote.{name}.push")


async def test_broken_settings_of_a_repository_within_are_nobodys_concern_but_its_own(
    executor: CommandExecutor, repository: Path
) -> None:
    inner = repository / "vendor" / "lib"
    inner.mkdir(parents=True)
    git(inner, "init", "-q", ".")
    (inner / ".git" / "config").write_text("[broken")

    outcome = await run(executor, "add", "a.txt")
    assert outcome.exit_code == 0, outcome.stderr

    stage = Stage(("git", "add", "a.txt"), WRITE, folder="vendor/lib")
    with pytest.raises(CommandExecutionError, match=r"in file .*\.git/config"):
        await executor.run([stage], timeout_seconds=30)


def test_one_commits_under_the_name_of_ones_own_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "gitconfig"
    settings.write_text("[user]\n\tname = Ada Lovelace\n\temail = ada@example.com\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    assert own_identity() == [("user.name", "Ada Lovelace"), ("user.email", "ada@example.com")]

    settings.write_text("[user]\n\tname = Ada\n")
    assert own_identity() == [("user.name", "Ada")]

    monkeypatch.setenv("PATH", "/nowhere")
    assert own_identity() == []


@pytest.mark.parametrize(
    "line",
    ["git checkout -q other", "git checkout -b new other", "git checkout --detach other"],
)
async def test_branches_are_checked_out_as_ever(
    executor: CommandExecutor, repository: Path, line: str
) -> None:
    await run_line(executor, "git branch other")

    outcome = await run_line(executor, line)

    assert outcome.exit_code == 0, outcome.stderr


async def test_patches_are_written_where_and_as_the_words_say(
    executor: CommandExecutor, repository: Path
) -> None:
    (repository / ".github" / "workflows").mkdir(parents=True)
    git(repository, "config", "format.outputDirectory", ".github/workflows")
    git(repository, "config", "format.suffix", ".yml")

    await run_line(executor, "git format-patch -1 --root")
    await run_line(executor, "git format-patch -1 --root -o out --suffix=.txt")

    assert [*(repository / ".github" / "workflows").iterdir()] == []
    assert (repository / "0001-first.patch").exists()
    assert (repository / "out" / "0001-first.txt").exists()

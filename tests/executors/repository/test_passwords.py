"""A password in a repository's settings is printed by no git command, whatever it is asked."""

import subprocess
from pathlib import Path

import pytest

from handrail.core.box import Profile
from handrail.core.outcome import CommandOutcome
from handrail.core.stage import Stage
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.repository.passwords import mask_settings
from handrail.policy.validators.commands import CommandValidator
from handrail.policy.validators.scripts import ScriptValidator

URL = "https://ada:correct-horse@example.com/a.git"
LINES = (
    "git config --get remote.origin.url",
    "git config remote.origin.url",
    "git config --get-all remote.origin.url",
    "git config --get-regexp url",
    "git config --list",
    "git --no-pager config -l -z --show-origin",
    "git config --list --name-only",
    "git config --get http.extraheader",
    "git config --get sendemail.smtppass",
    "git remote -v",
    "git remote get-url --all origin",
    "git remote get-url origin",
    "git for-each-ref --format=%(push:remotename) refs/heads",
    "env git config --get remote.origin.url",
    "timeout 9 git config --list",
    "git stash list",
    "git branch --set-upstream-to=nowhere",
)


@pytest.fixture
def repository(root: Path) -> Path:
    script = f"""
        git init -q -b main .
        git -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m first
        git config remote.origin.url {URL}
        git config branch.main.remote {URL}
        git config http.extraheader "Authorization: Bearer correct-horse"
        git config sendemail.smtppass correct-horse
        git config url.https://eve:correct-horse-2@mirror.example.com/.insteadOf up:
        git config remote.up.url up:b.git
    """
    subprocess.run(["sh", "-ec", script], cwd=root, check=True, capture_output=True)
    return root


async def run(executor: CommandExecutor, line: str) -> CommandOutcome:
    stages = ScriptValidator(executor.root).stages_of(line)
    return await executor.run(stages, timeout_seconds=30)


@pytest.mark.parametrize("line", LINES)
async def test_in_a_box(executor: CommandExecutor, repository: Path, line: str) -> None:
    outcome = await run(executor, line)
    assert b"correct-horse" not in outcome.stdout + outcome.stderr


@pytest.mark.parametrize("line", LINES)
async def test_where_there_is_no_box(repository: Path, line: str) -> None:
    outcome = await run(CommandExecutor(repository, grace_seconds=0.5), line)
    assert b"correct-horse" not in outcome.stdout + outcome.stderr


@pytest.mark.parametrize("is_boxed", [True, False])
async def test_on_the_way_to_a_remote(
    executor: CommandExecutor, repository: Path, is_boxed: bool
) -> None:
    # With this one no remote is reached.
    words = ["git", "config", "--unset", "http.extraheader"]
    subprocess.run(words, cwd=repository, check=True)
    used = executor if is_boxed else CommandExecutor(repository, grace_seconds=0.5)

    outcome = await run(used, "git fetch origin")

    assert b"example.com" in outcome.stderr
    assert b"correct-horse" not in outcome.stdout + outcome.stderr


@pytest.mark.parametrize("is_boxed", [True, False])
async def test_the_rest_of_the_address_is_told(
    executor: CommandExecutor, repository: Path, is_boxed: bool
) -> None:
    used = executor if is_boxed else CommandExecutor(repository, grace_seconds=0.5)
    outcome = await run(used, "git config --get remote.origin.url")
    assert outcome.stdout == b"https://example.com/a.git\n"


async def test_no_pipe_and_no_file_gets_it_either(
    executor: CommandExecutor, repository: Path
) -> None:
    outcome = await run(executor, "git config --get remote.origin.url | rev")
    assert outcome.exit_code == 0, outcome.stderr
    assert b"esroh-tcerroc" not in outcome.stdout
    await run(executor, "git config --list > told.txt")
    assert "correct-horse" not in (repository / "told.txt").read_text()


async def test_what_git_starts_cannot_carry_it_away(
    executor: CommandExecutor, repository: Path
) -> None:
    """Whatever a merge or a commit might be led to run, or to take for a file of its own."""
    stage = Stage(("git", "commit", "-q", "--allow-empty", "-F", ".git/config"), Profile.WRITE)
    outcome = await executor.run([stage], timeout_seconds=30)
    assert outcome.exit_code == 0, outcome.stderr

    words = ["git", "log", "-1", "--format=%B"]
    told = subprocess.run(words, cwd=repository, check=True, capture_output=True).stdout
    assert b"example.com/a.git" in told
    assert b"correct-horse" not in told


@pytest.mark.parametrize(
    "line",
    [
        "git diff ../empty .git",
        "git diff .git ../empty",
        "git diff -- ../empty .",
        "git diff -p -U1 ../empty .git",
        "git diff ./../empty .git",
        "env A=/git git diff ../empty .git",
        "find . -name .git -prune -exec git diff ../empty .git ;",
        "git diff --no-index ../empty .git",
    ],
)
async def test_a_diff_that_is_about_no_repository_shows_nothing_of_its_settings(
    executor: CommandExecutor, root: Path, line: str
) -> None:
    script = f"""
        mkdir empty sub && cd sub && git init -q -b main . && echo x > x && git add x
        git -c user.name=a -c user.email=a@b.c commit -q -m first
        git config remote.origin.url {URL} && echo "# correct-horse" >> .git/config
    """
    subprocess.run(["sh", "-ec", script], cwd=root, check=True, capture_output=True)
    command, *args = line.split()
    stage = CommandValidator(executor.root, folder="sub").stage_of(command, args)

    outcome = await executor.run([stage], timeout_seconds=30)

    assert b"/HEAD" in outcome.stdout, outcome.stderr
    assert b"correct-horse" not in outcome.stdout


async def test_a_diff_within_a_repository_is_one_of_its_own(
    executor: CommandExecutor, repository: Path
) -> None:
    script = "mkdir -p a/b && echo x > a/x && git add a && echo y > a/x"
    subprocess.run(["sh", "-ec", script], cwd=repository, check=True, capture_output=True)
    stage = CommandValidator(executor.root, folder="a/b").stage_of(
        "git", ["diff", "--", "../x", "."]
    )

    outcome = await executor.run([stage], timeout_seconds=30)

    assert b"+y" in outcome.stdout, outcome.stderr


async def test_git_still_changes_its_settings_where_it_may(
    executor: CommandExecutor, repository: Path
) -> None:
    outcome = await run(executor, "git checkout -q -b other")
    assert outcome.exit_code == 0, outcome.stderr
    assert (repository / ".git" / "HEAD").read_text() == "ref: refs/heads/other\n"
    outcome = await run(executor, "git commit -q --allow-empty -m config")
    assert outcome.exit_code == 0, outcome.stderr
    assert URL in (repository / ".git" / "config").read_text()


def test_words_that_happen_to_be_values_stay_as_they_are() -> None:
    settings = [("filter.x.passthrough", "true"), ("remote.o.url", "https://example.com/a")]
    assert mask_settings(b"true https://example.com/a", settings) == b"true https://example.com/a"


def test_with_more_passwords_than_can_be_looked_for_nothing_is_shown() -> None:
    settings = [(f"remote.r{number}.url", f"https://u:p{number}@h/") for number in range(600)]
    assert mask_settings(b"https://u:p1@h/", settings).startswith(b"[not shown")

"""git reads no file elsewhere because a setting names it."""

from pathlib import Path

import pytest

from handrail.core.errors import CommandExecutionError
from handrail.core.outcome import CommandOutcome
from handrail.executors.commands.executor import CommandExecutor
from handrail.policy.validators.commands import CommandValidator
from tests.executors.git.shell import sh

# A line that is in this file on every machine.
SECRET = "root:x:0:0"


@pytest.fixture
def repository(root: Path) -> Path:
    sh(root, "git init -q -b main . && echo a > a && git add a && git commit -qm first")
    sh(root, "ln -s /etc/passwd link && git rev-parse HEAD > ignored && mkdir sub && echo b > b")
    return root


async def run(executor: CommandExecutor, line: str, folder: str = ".") -> CommandOutcome:
    command, *args = line.split()
    stage = CommandValidator(executor.root, folder=folder).stage_of(command, args)
    return await executor.run([stage], timeout_seconds=30)


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "../../../../../../etc/passwd", "link", "~/x", "%(prefix)/../etc/passwd"],
)
@pytest.mark.parametrize(
    ("setting", "line"),
    [
        ("blame.ignoreRevsFile", "git blame a"),
        ("blame.ignoreRevsFile", "git annotate a"),
        ("blame.ignoreRevsFile", "find a -exec git blame {} ;"),
        ("fetch.fsck.skipList", "git fetch origin"),
    ],
)
async def test_what_would_be_told_of_it_is_refused(
    executor: CommandExecutor, repository: Path, setting: str, line: str, path: str
) -> None:
    sh(repository, f"git config {setting} '{path}' && git config --add {setting} ignored")

    with pytest.raises(
        CommandExecutionError, match=f"{setting.lower()} of .*outside the workspace"
    ):
        await run(executor, line)
    assert (await run(executor, "git log -1")).exit_code == 0


async def test_revisions_to_ignore_may_stand_in_the_workspace(
    executor: CommandExecutor, repository: Path
) -> None:
    sh(repository, "git config blame.ignoreRevsFile ignored")

    assert (await run(executor, "git blame a")).exit_code == 0
    assert (await run(executor, "git blame ../a", "sub")).exit_code == 0


async def test_a_list_elsewhere_of_what_is_passed_over_is_not_read(
    executor: CommandExecutor, repository: Path
) -> None:
    sh(repository, "git config core.excludesFile /etc/passwd")
    first = Path("/etc/passwd").read_text().split("\n", 1)[0]

    outcome = await run(executor, f"git check-ignore -v {first}")

    assert (outcome.exit_code, outcome.stdout, outcome.stderr) == (1, b"", b"")


async def test_a_signature_elsewhere_is_not_put_below_a_patch(
    executor: CommandExecutor, repository: Path
) -> None:
    sh(repository, "git config format.signatureFile /etc/passwd")

    outcome = await run(executor, "git format-patch -1 --root --stdout")

    assert b"first" in outcome.stdout
    assert SECRET.encode() not in outcome.stdout


@pytest.mark.parametrize("words", ["-F /etc/passwd", "--file=ignored", "-s ours", "--no-ff -Fx"])
@pytest.mark.parametrize("line", ["git merge main", "git pull origin main"])
async def test_settings_add_no_words_of_weight_to_a_merge(
    executor: CommandExecutor, repository: Path, words: str, line: str
) -> None:
    sh(repository, f"git config branch.main.mergeOptions '{words}'")

    with pytest.raises(CommandExecutionError, match=r"branch\.main\.mergeoptions"):
        await run(executor, line)


async def test_a_merge_may_be_told_by_them_to_be_a_commit(
    executor: CommandExecutor, repository: Path
) -> None:
    sh(repository, "git branch b && git checkout -q b && git commit -q --allow-empty -m b")
    sh(repository, "git checkout -q main && git config branch.main.mergeOptions --no-ff")

    assert (await run(executor, "git merge --no-edit b")).exit_code == 0
    log = await run(executor, "git log -1 --format=%p")
    assert len(log.stdout.split()) == 2

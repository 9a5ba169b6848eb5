"""A program that works with an account gets its credential, and no other program does."""

import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest

from handrail.core.box import Isolation
from handrail.core.errors import CommandExecutionError, StaleCommandError
from handrail.core.outcome import CommandOutcome
from handrail.core.stage import Stage
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.guarded.names import GuardedNames
from handrail.executors.sandbox.box import Box, Programs
from handrail.policy.rulebook.book import Rulebook, operator_rules
from handrail.policy.validators.scripts import ScriptValidator
from tests.executors.conftest import TOOLCHAIN
from tests.executors.network.accounts import TOKEN, Hub, serving_hub, sign_in, sign_out

SEARCH = ("/usr/local/bin", "/usr/bin", "/bin")


@pytest.fixture
def hub() -> Generator[Hub]:
    with serving_hub() as made:
        yield made


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "home"
    sign_in(made)
    monkeypatch.setenv("HOME", str(made))
    monkeypatch.delenv("GH_TOKEN", raising=False)
    return made


@pytest.fixture
def tools(tmp_path: Path, hub: Hub) -> Path:
    return hub.install(tmp_path / "tools").parent


@pytest.fixture
def executor(
    root: Path,
    programs: Programs,
    isolation: Isolation,
    guarded: GuardedNames,
    tools: Path,
    hub: Hub,
    home: Path,
) -> CommandExecutor:
    mounts = [TOOLCHAIN, str(tools)]
    search_path = (str(tools), *SEARCH)
    box = Box(programs, isolation, guarded, toolchains=mounts, search_path=search_path)
    rules = Rulebook(operator_rules(hub.rules, "policy.toml")).rules_for("")
    return CommandExecutor(root, box=box, search_path=search_path, toolchains=mounts, rules=rules)


def stages_of(root: Path, line: str) -> tuple[Stage, ...]:
    return ScriptValidator(str(root)).stages_of(line)


async def run(executor: CommandExecutor, line: str) -> CommandOutcome:
    """Run a line that a person has approved."""
    stages = stages_of(Path(executor.root), line)
    sight = await executor.look(stages)
    return await executor.run(stages, timeout_seconds=60, expected=sight.facts)


async def test_it_acts_as_the_person_and_no_output_shows_the_credential(
    executor: CommandExecutor, hub: Hub, root: Path
) -> None:
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    origin = "https://github.com/o/r.git"
    subprocess.run(["git", "remote", "add", "origin", origin], cwd=root, check=True)

    outcome = await run(executor, "gh pr view 5 | cat")

    said = outcome.stdout.decode()
    assert hub.asked == [("/pr/view/5", f"token {TOKEN}")]
    assert "pull request 5 for [masked]" in said, outcome.stderr.decode()
    assert origin in said
    assert TOKEN not in said + outcome.stderr.decode()


@pytest.mark.parametrize(
    "line",
    [
        "gh pr list; env | rev",
        "gh pr list; sh -c 'cat /proc/*/environ | rev'",
        "gh pr list | sh -c 'env | rev; cat /proc/*/environ | rev'",
        "gh pr list && python3 -c 'import os; print(repr(os.environ)[::-1])'",
    ],
)
async def test_no_other_program_of_the_line_sees_it(
    executor: CommandExecutor, hub: Hub, line: str
) -> None:
    """Each prints what it sees backwards, where no mask would cover it."""
    outcome = await run(executor, line)

    assert hub.asked == [("/pr/list", f"token {TOKEN}")]
    assert "HTAP" in outcome.stdout.decode()
    assert TOKEN[::-1] not in outcome.stdout.decode()


@pytest.mark.parametrize(
    "line", ["env gh pr list", "timeout 20 gh pr list", "gh auth token", "xargs gh pr list"]
)
async def test_neither_what_starts_it_nor_another_subcommand_gets_it(
    executor: CommandExecutor, hub: Hub, line: str
) -> None:
    outcome = await run(executor, line)

    assert hub.asked == []
    assert b"gh auth login" in outcome.stderr


async def test_a_program_of_the_workspace_never_gets_it(
    executor: CommandExecutor, hub: Hub, root: Path, tools: Path
) -> None:
    own = root / ".venv" / "bin" / "gh"
    own.parent.mkdir(parents=True)
    own.write_text("#!/bin/sh\necho mine: $GH_TOKEN\n")
    own.chmod(0o755)

    by_name = await run(executor, "gh pr list")
    by_path = await run(executor, ".venv/bin/gh pr list")
    (tools / "gh").unlink()

    assert b"pull request" in by_name.stdout
    assert by_path.stdout == b"mine:\n"
    assert len(hub.asked) == 1
    with pytest.raises(CommandExecutionError, match="`gh` is not installed on this machine"):
        await run(executor, "gh pr list")


async def test_a_line_that_reaches_other_hosts_too_is_not_signed_in(
    executor: CommandExecutor, hub: Hub, root: Path
) -> None:
    [stage] = stages_of(root, "gh pr list")
    stages = [stage._replace(hosts=("evil.example.com",))]

    sight = await executor.look(stages)
    await executor.run(stages, timeout_seconds=60, expected=sight.facts)

    assert sight.accounts == {"gh": False}
    assert hub.asked == []


async def test_without_an_approval_of_its_hosts_it_is_not_signed_in(
    executor: CommandExecutor, hub: Hub, root: Path
) -> None:
    await executor.run(stages_of(root, "gh pr list"), timeout_seconds=60)

    assert hub.asked == []


async def test_an_approval_says_whether_it_is_signed_in(
    executor: CommandExecutor, home: Path, root: Path
) -> None:
    stages = stages_of(root, "gh pr list")
    before = await executor.look(stages)
    sign_out(home)
    after = await executor.look(stages)

    assert (before.accounts, after.accounts) == ({"gh": True}, {"gh": False})
    assert TOKEN not in repr((before, before.facts))
    with pytest.raises(StaleCommandError, match="the credential of gh"):
        await executor.run(stages, timeout_seconds=60, expected=before.facts)


async def test_it_may_stand_in_a_variable_of_the_client(
    executor: CommandExecutor, hub: Hub, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_out(home)
    monkeypatch.setenv("GH_TOKEN", TOKEN)

    await run(executor, "gh pr list")

    assert hub.asked == [("/pr/list", f"token {TOKEN}")]


async def test_no_hook_of_the_repository_runs_with_it(
    executor: CommandExecutor, root: Path, tools: Path
) -> None:
    program = f'[ "$1 $2" = "auth token" ] && echo {TOKEN} || git config core.hooksPath'
    (tools / "gh").write_text(f"#!/bin/sh\n{program}\n")

    outcome = await run(executor, "gh pr list")

    assert outcome.stdout == b"/dev/null\n"


async def test_where_no_box_holds_nothing_is_signed_in(
    root: Path, tools: Path, hub: Hub, home: Path
) -> None:
    rules = Rulebook(operator_rules(hub.rules, "policy.toml")).rules_for("")
    executor = CommandExecutor(root, search_path=(str(tools), *SEARCH), rules=rules)

    await run(executor, "gh pr list")

    assert hub.asked == []

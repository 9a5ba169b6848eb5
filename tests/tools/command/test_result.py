"""What was kept from a command is said as far as it is true, and where it helps."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from handrail.core.box import Profile
from handrail.core.hands import Hands
from handrail.core.outcome import CommandOutcome, Ending
from handrail.core.stage import Stage
from handrail.core.tool import JsonObject
from handrail.testing import FakeCommands, FakeHands
from handrail.tools.command.result import result_of, run_stages

RECORDED = "; git takes tracked ones for unchanged, and still shows their recorded content"


class Blinded(FakeCommands):
    """Programs from which `.env` is kept."""

    exit_code = 0

    async def run(
        self,
        stages: Sequence[Stage],
        *,
        timeout_seconds: float,
        expected: JsonObject | None = None,
    ) -> CommandOutcome:
        outcome = await super().run(stages, timeout_seconds=timeout_seconds)
        return replace(outcome, exit_code=self.exit_code, kept_from_it=(".env",))


async def told(name: str, said: bytes, exit_code: int = 0) -> str:
    commands = Blinded({name: said})
    commands.exit_code = exit_code
    fake = FakeHands()
    hands = Hands(fake.files, commands, fake.searches, fake.blobs)
    stage = Stage((name,), Profile.READ, programs=(name,))
    result = await run_stages(hands, (stage,), title=name, timeout_seconds=1)
    return result.output.splitlines()[-1]


async def test_nobody_is_promised_that_git_hides_what_it_has_recorded() -> None:
    last = await told("git", b" M .env\n")
    assert last == f"[kept from it: .env; no command reads these files{RECORDED}]"


@pytest.mark.parametrize("said", [b"?? .env\n", b"On branch main\n\nUntracked files:\n\t.env\n"])
async def test_how_to_have_git_pass_over_it_is_said_where_git_lists_it(said: bytes) -> None:
    last = await told("git", said)
    assert last.endswith(f"{RECORDED}; for git to pass over .env, put it into .gitignore]")


async def test_of_git_nothing_is_said_where_none_has_run() -> None:
    assert await told("grep", b"?? .env\n", exit_code=2) == (
        "[kept from it: .env; no command reads these files]"
    )


def test_what_was_kept_is_the_last_line_also_behind_notes() -> None:
    outcome = CommandOutcome(b"", b"trouble\n", Ending.EXITED, 1, 0.1, kept_from_it=(".env",))
    stage = Stage(("grep",), Profile.READ, programs=("grep",))
    notes = ["it changed nothing", "needs network: example.com"]

    result = result_of(outcome, (stage,), title="grep", timeout_seconds=1, notes=notes)

    assert result.output.splitlines() == [
        "trouble",
        "[exit code 1]",
        "[it changed nothing]",
        "[needs network: example.com]",
        "[kept from it: .env; no command reads these files]",
    ]

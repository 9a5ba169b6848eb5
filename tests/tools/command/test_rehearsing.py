"""A command that cannot be rehearsed on a machine is asked about, and the card says why."""

import pytest

from handrail.core.hands import Hands
from handrail.core.rehearsal import CallRef, NoRehearsals
from handrail.core.survey import Survey
from handrail.policy.rulebook.book import Rulebook, operator_rules
from handrail.policy.security import Scene
from handrail.testing import FakeCommands, FakeFiles
from handrail.tools.builtin.execute_command import ExecuteCommand, ExecuteCommandParams
from handrail.tools.builtin.run_bash import RunBash, RunBashParams

WHY = "the kernel has no overlays"
ASKS = Rulebook(operator_rules('[policy]\ncommands = "ask"', "policy.toml")).rules_for("")


def hands() -> Hands:
    commands = FakeCommands({"python3": b""})
    return Hands(FakeFiles({}), commands, rehearsals=NoRehearsals(WHY)).for_call(CallRef("s", "t"))


async def survey(tool: str, scene: Scene) -> Survey:
    if tool == "run_bash":
        return await RunBash().survey(RunBashParams(command="python3 x.py"), scene, hands())
    params = ExecuteCommandParams(command="python3", args=["x.py"])
    return await ExecuteCommand().survey(params, scene, hands())


@pytest.mark.parametrize("tool", ["run_bash", "execute_command"])
@pytest.mark.behaviour("rehearsal.impossible")
async def test_the_card_says_why_a_command_was_not_tried_first(tool: str) -> None:
    told = await survey(tool, Scene("/home/ada/project"))

    assert not told.rehearsed
    assert [one.reason for one in told.findings if one.rule == "command.not-rehearsed"] == [WHY]


@pytest.mark.parametrize("tool", ["run_bash", "execute_command"])
async def test_it_says_nothing_of_that_where_the_policy_asks_anyway(tool: str) -> None:
    told = await survey(tool, Scene("/home/ada/project", rules=ASKS))

    assert "command.not-rehearsed" not in [one.rule for one in told.findings]

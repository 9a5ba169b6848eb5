"""What a machine checks is the call as it is now, also after a person has changed it."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest

from handrail.client.checks import Checks
from handrail.client.messages import SurveyRequest
from handrail.client.review import Reviewer
from handrail.core.few import Few
from handrail.core.hands import FileContent, Hands
from handrail.core.tool import JsonObject, ToolResult
from handrail.policy.security import Scene
from handrail.testing import FakeFiles
from handrail.tools.builtin.write_file import WriteFile
from handrail.tools.registry import ToolRegistry
from tests.client.conftest import until


class SlowFiles(FakeFiles):
    """Counts looks; each takes until `may_look` is set."""

    def __init__(self) -> None:
        super().__init__({"notes.md": b"old\n"})
        self.may_look = asyncio.Event()
        self.looks = 0

    async def find(self, path: str, *, max_bytes: int) -> FileContent | None:
        self.looks += 1
        await self.may_look.wait()
        return await super().find(path, max_bytes=max_bytes)


@dataclass
class FakeLine:
    """A server that takes down the facts that it is sent."""

    facts: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    async def send_facts(self, approval_id: str, facts: dict[str, Any]) -> None:
        self.facts.append(facts)

    def send_tool_result(self, report: dict[str, Any]) -> None:
        raise AssertionError("nothing is executed here")

    async def claim_tool_execution(self, tool_id: str, epoch: int, key: str) -> bool:
        raise AssertionError("nothing is executed here")

    async def ask_again(self, tool_id: str, epoch: int, facts: dict[str, Any]) -> bool:
        raise AssertionError("nothing is executed here")

    async def put_away(self, result: ToolResult) -> ToolResult:
        return result


@dataclass
class Machine:
    checks: Checks
    line: FakeLine
    files: SlowFiles


@pytest.fixture
def machine() -> Machine:
    files, line = SlowFiles(), FakeLine()
    scene = Scene("/workspace")
    reviewer = Reviewer(ToolRegistry([WriteFile()]), scene, Hands(files=files))
    return Machine(Checks(reviewer, line, Few[str, JsonObject]()), line, files)


def a_request(content: str, epoch: int | None) -> SurveyRequest:
    params = {"path": "notes.md", "content": content}
    return SurveyRequest("apr_1", "exe_1", "write_file", params, epoch=epoch)


async def test_the_facts_go_back_under_the_epoch_of_the_request(machine: Machine) -> None:
    machine.files.may_look.set()

    await machine.checks.look(a_request("new\n", 3))

    (facts,) = machine.line.facts
    assert facts["epoch"] == 3


async def test_an_older_server_is_sent_no_epoch(machine: Machine) -> None:
    machine.files.may_look.set()

    await machine.checks.look(a_request("new\n", None))

    (facts,) = machine.line.facts
    assert "epoch" not in facts


async def test_a_changed_call_takes_the_place_of_the_one_that_is_being_checked(
    machine: Machine,
) -> None:
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        group.create_task(machine.checks.look(a_request("first\n", 0)))
        await until(lambda: machine.files.looks == 1)
        group.create_task(machine.checks.look(a_request("second\n", 1)))
        await until(lambda: machine.files.looks == 2)
        machine.files.may_look.set()

    (facts,) = machine.line.facts
    assert facts["epoch"] == 1
    assert "+second" in facts["evidence"]


async def test_the_same_request_sent_again_is_checked_once(machine: Machine) -> None:
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        group.create_task(machine.checks.look(a_request("new\n", 0)))
        await until(lambda: machine.files.looks == 1)
        await machine.checks.look(a_request("new\n", 0))
        machine.files.may_look.set()

    assert (machine.files.looks, len(machine.line.facts)) == (1, 1)


async def test_a_check_that_is_ended_sends_nothing(machine: Machine) -> None:
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        group.create_task(machine.checks.look(a_request("new\n", 0)))
        await until(lambda: machine.files.looks == 1)
        await machine.checks.end("apr_1")

    assert machine.line.facts == []

"""This machine forms its own opinion of a call, whatever it was told."""

import asyncio
import platform
from collections.abc import Sequence
from typing import Any, ClassVar

import pytest

from handrail.client.review import Reviewer
from handrail.core.audit import canonical
from handrail.core.digest import digest_call
from handrail.core.errors import (
    ApprovalDeniedError,
    BadInput,
    BrokenTool,
    FileOperationError,
    ToolError,
)
from handrail.core.hands import FileContent, Hands
from handrail.core.outcome import CommandOutcome, Ending
from handrail.core.project import Autonomy
from handrail.core.risk import Finding, RiskLevel
from handrail.core.stage import Stage
from handrail.core.survey import Survey
from handrail.core.tool import JsonObject, ToolResult
from handrail.core.verdict import Plan
from handrail.policy.rulebook.rules import Rules
from handrail.policy.rulebook.tools import ToolRule
from handrail.policy.security import Scene
from handrail.testing import FakeCommands, FakeFiles
from handrail.tools.base import Tool, ToolParams
from handrail.tools.catalogue import builtin_registry
from handrail.tools.registry import ToolRegistry
from tests.client.conftest import SALT, facts_of

WRITE = {"path": "notes.md", "content": "new\n"}


class NoParams(ToolParams):
    pass


class Suspicious(Tool[NoParams]):
    """Finds only on the machine that it must not be done."""

    name: ClassVar[str] = "suspicious"
    description: ClassVar[str] = "Looks twice."
    params = NoParams

    def preview(self, params: NoParams) -> str:
        return "Look twice"

    async def survey(self, params: NoParams, scene: Scene, hands: Hands) -> Survey:
        return Survey(findings=(Finding("trap", "it is a trap", RiskLevel.FORBIDDEN),))

    async def execute(
        self, params: NoParams, scene: Scene, hands: Hands, facts: JsonObject | None = None
    ) -> ToolResult:
        raise AssertionError("never")


class BlindFiles(FakeFiles):
    """Files that never tell what they hold."""

    async def find(self, path: str, *, max_bytes: int) -> FileContent | None:
        await asyncio.Event().wait()
        return None


def a_reviewer(
    files: FakeFiles | None = None, autonomy: Autonomy = Autonomy.FULL, **scene: Any
) -> Reviewer:
    held = files or FakeFiles({"notes.md": b"old\n", "README.md": b"hello"})
    registry = ToolRegistry([*builtin_registry(), Suspicious()])
    hands = Hands(held, FakeCommands({}))
    return Reviewer(registry, Scene("/workspace", autonomy, **scene), hands)


async def test_what_is_harmless_is_not_looked_at() -> None:
    reviewed = await a_reviewer(BlindFiles({})).review("read_file", {"path": "README.md"})

    assert reviewed.verdict.risk is RiskLevel.LOW
    assert reviewed.survey is None
    assert reviewed.facts is None


async def test_what_changes_something_is_looked_at() -> None:
    reviewed = await a_reviewer().review("write_file", WRITE)

    assert reviewed.verdict.risk is RiskLevel.MEDIUM
    assert reviewed.facts == facts_of(b"old\n")


async def test_what_the_machine_shows_can_raise_the_risk() -> None:
    files = FakeFiles({"notes.md": b"\x00\xff binary"})

    reviewed = await a_reviewer(files).review("write_file", WRITE)

    assert reviewed.verdict.risk is RiskLevel.HIGH
    assert any("binary" in reason for reason in reviewed.verdict.reasons)


@pytest.mark.parametrize("path", [".env", "../x.md", "/etc/hosts", "a.exe", ".git/config"])
async def test_what_the_rules_refuse_is_refused_before_anything_is_looked_at(path: str) -> None:
    with pytest.raises(ApprovalDeniedError) as caught:
        await a_reviewer(BlindFiles({})).review("write_file", {"path": path, "content": "x"})

    assert caught.value.message


async def test_what_only_the_look_shows_to_be_forbidden_is_refused() -> None:
    with pytest.raises(ApprovalDeniedError, match="it is a trap"):
        await a_reviewer().review("suspicious", {})


async def test_a_machine_that_only_reads_refuses_every_change() -> None:
    reviewer = a_reviewer(autonomy=Autonomy.READ_ONLY)

    assert (await reviewer.review("read_file", {"path": "README.md"})).tool.name == "read_file"
    with pytest.raises(ApprovalDeniedError):
        await reviewer.review("write_file", WRITE)


@pytest.mark.parametrize(
    ("tool_name", "raw"),
    [
        pytest.param("launch", {}, id="unknown-tool"),
        pytest.param("write_file", {}, id="missing-fields"),
        pytest.param("write_file", WRITE | {"force": True}, id="extra-field"),
        pytest.param("write_file", WRITE | {"path": 3}, id="wrong-type"),
    ],
)
async def test_what_cannot_be_read_is_bad_input(tool_name: str, raw: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        await a_reviewer().review(tool_name, raw)


async def test_what_cannot_be_done_is_said_by_the_look() -> None:
    class Folder(FakeFiles):
        async def find(self, path: str, *, max_bytes: int) -> FileContent | None:
            raise FileOperationError(f"{path} is a folder")

    with pytest.raises(ToolError, match=r"notes\.md is a folder"):
        await a_reviewer(Folder({})).review("write_file", WRITE)


async def test_a_look_does_not_take_for_ever() -> None:
    with pytest.raises(TimeoutError):
        await a_reviewer(BlindFiles({})).review("write_file", WRITE, seconds=0.01)


async def test_the_digest_is_the_one_that_the_server_makes() -> None:
    reviewed = await a_reviewer().review("write_file", WRITE)
    words = (SALT, "write_file", canonical(WRITE), Plan(paths=("notes.md",)))

    assert reviewed.digest(SALT, with_facts=True) == digest_call(*words, facts_of(b"old\n"))
    assert reviewed.digest(SALT, with_facts=False) == digest_call(*words, None)


async def test_the_digest_changes_with_everything_it_covers() -> None:
    reviewed = await a_reviewer().review("write_file", WRITE)
    elsewhere = await a_reviewer(FakeFiles({})).review("write_file", WRITE)
    other = await a_reviewer().review("write_file", WRITE | {"mode": "append"})

    digests = {
        reviewed.digest(SALT, with_facts=True),
        reviewed.digest(SALT, with_facts=False),
        reviewed.digest("other", with_facts=True),
        elsewhere.digest(SALT, with_facts=True),
        other.digest(SALT, with_facts=True),
    }

    assert len(digests) == 5


async def test_what_was_looked_at_is_what_must_still_be_there() -> None:
    files = FakeFiles({"notes.md": b"old\n"})
    reviewer = a_reviewer(files)
    reviewed = await reviewer.review("write_file", WRITE)
    files.files["notes.md"] = b"somebody else's\n"

    with pytest.raises(ToolError) as caught:
        await reviewer.execute(reviewed)

    assert caught.value.error_type == "stale"
    assert files.files == {"notes.md": b"somebody else's\n"}


async def test_what_was_reviewed_is_executed() -> None:
    files = FakeFiles({"notes.md": b"old\n"})
    reviewer = a_reviewer(files)

    result = await reviewer.execute(await reviewer.review("write_file", WRITE))

    assert result.success
    assert files.files == {"notes.md": b"new\n"}


@pytest.mark.parametrize("surveyed", [True, False])
async def test_hosts_that_nobody_was_shown_are_not_reached(surveyed: bool) -> None:
    class Watched(FakeCommands):
        expected: JsonObject | None = None

        async def run(
            self,
            stages: Sequence[Stage],
            *,
            timeout_seconds: float,
            expected: JsonObject | None = None,
        ) -> CommandOutcome:
            self.expected = expected
            return CommandOutcome(b"", b"", Ending.EXITED, 0, 0.0)

    commands = Watched({"npm": b""})
    scene = Scene("/workspace", Autonomy.FULL)
    reviewer = Reviewer(builtin_registry(), scene, Hands(FakeFiles({}), commands))
    words = {"command": "npm", "args": ["install"]}

    await reviewer.execute(await reviewer.review("execute_command", words), surveyed=surveyed)

    # Without the facts of a look, a command that may use a network is given no hosts.
    assert (commands.expected is not None) is surveyed


# Tools from elsewhere


class Foreign(Suspicious):
    """Does in `execute` and sees in `survey` whatever it is given."""

    def __init__(self, does: Any = None, sees: Any = None):
        super().__init__()
        self._does = does
        self._sees = Survey() if sees is None else sees

    async def survey(self, params: NoParams, scene: Scene, hands: Hands) -> Survey:
        if isinstance(self._sees, BaseException):
            raise self._sees
        return self._sees

    async def execute(
        self, params: NoParams, scene: Scene, hands: Hands, facts: JsonObject | None = None
    ) -> ToolResult:
        if isinstance(self._does, BaseException):
            raise self._does
        return self._does


def with_tool(tool: Foreign) -> Reviewer:
    hands = Hands(FakeFiles({}), FakeCommands({}))
    return Reviewer(ToolRegistry([tool]), Scene("/workspace", Autonomy.FULL), hands)


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("hunter2"), TimeoutError(), SystemExit(1)], ids=repr
)
async def test_whatever_a_tool_raises_the_machine_goes_on(error: BaseException) -> None:
    reviewer = with_tool(Foreign(does=error))
    reviewed = await reviewer.review("suspicious", {})

    with pytest.raises(BrokenTool) as caught:
        await reviewer.execute(reviewed)

    assert caught.value.message == f"suspicious failed on the client: {type(error).__name__}"


@pytest.mark.parametrize("given", [None, ToolResult(True, "", {"at": object()})], ids=type)
async def test_what_nobody_could_send_is_not_sent(given: object) -> None:
    reviewer = with_tool(Foreign(does=given))
    reviewed = await reviewer.review("suspicious", {})

    with pytest.raises(BrokenTool, match=r"^suspicious returned "):
        await reviewer.execute(reviewed)


@pytest.mark.parametrize("sees", [SystemExit(1), TimeoutError(), {}, Survey({"at": object()})])
async def test_a_look_that_breaks_is_the_fault_of_the_tool(sees: object) -> None:
    with pytest.raises(BrokenTool, match=r"^suspicious "):
        await with_tool(Foreign(sees=sees)).review("suspicious", {})


async def test_a_tool_that_is_missing_here_is_told_with_the_name_of_the_machine() -> None:
    reviewer = with_tool(Foreign())

    with pytest.raises(BadInput) as caught:
        await reviewer.review("todo_list", {})

    assert caught.value.message == (
        f"there is no tool 'todo_list' on {platform.node()}, where it should run; "
        "install the package or copy the tool file there, then restart the client"
    )


async def test_the_same_harmless_words_are_judged_once_by_the_same_rules() -> None:
    reviewer = a_reviewer()
    first = await reviewer.review("read_file", {"path": "README.md"})
    again = await reviewer.review("read_file", {"path": "README.md"})
    other = await reviewer.review("read_file", {"path": "notes.md"})

    assert again.verdict is first.verdict is not other.verdict
    # What a tool does to its parameters is no matter of the next call.
    assert again.params is not first.params


async def test_words_with_a_secret_in_them_are_not_kept() -> None:
    reviewer = a_reviewer()
    words = {"path": "token=open-sesame"}

    first = await reviewer.review("read_file", words)

    assert (await reviewer.review("read_file", words)).verdict is not first.verdict
    assert len(reviewer._known) == 0


async def test_other_rules_hold_from_the_next_call_on() -> None:
    reviewer = a_reviewer()
    await reviewer.review("read_file", {"path": "README.md"})
    closed = ToolRule("read_file", RiskLevel.FORBIDDEN, "not today")

    reviewer.adopt(Rules(tools=(closed,)))

    with pytest.raises(ApprovalDeniedError, match="not today"):
        await reviewer.review("read_file", {"path": "README.md"})


async def test_what_is_looked_at_is_looked_at_each_time() -> None:
    files = FakeFiles({"notes.md": b"old\n"})
    reviewer = a_reviewer(files)
    first = await reviewer.review("write_file", WRITE)
    files.files["notes.md"] = b"newer\n"

    assert (await reviewer.review("write_file", WRITE)).facts != first.facts

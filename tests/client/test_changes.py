"""What changes something is looked at, asked about, claimed, and done once or not at all."""

import asyncio
import shutil
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.testing import capture_logs

from handrail.app.build_server import build_services
from handrail.bus.local import LocalBus
from handrail.client import running as running_module
from handrail.client.api import HandrailApi
from handrail.client.asking import Asking
from handrail.client.gates import MOST_AT_ONCE
from handrail.client.handler import ToolHandler
from handrail.client.journal import Entry, Journal, Stage
from handrail.client.messages import Cancel, ResultAck, Signal, SurveyRequest
from handrail.client.reports import ReportResult
from handrail.client.review import Reviewer
from handrail.core.access import Role
from handrail.core.audit import canonical
from handrail.core.box import Profile
from handrail.core.card import Choice
from handrail.core.digest import digest_call
from handrail.core.event import EventKind
from handrail.core.hands import Commands, FileContent, FileState, Hands
from handrail.core.project import Autonomy
from handrail.core.survey import Survey
from handrail.core.tool import JsonObject, ToolResult
from handrail.core.verdict import Plan
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.policy.security import Scene
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock, FakeCommands, FakeFiles, ScriptedPerson
from handrail.tools.base import Tool, ToolParams
from handrail.tools.builtin.execute_command import ExecuteCommand
from handrail.tools.builtin.read_file import ReadFile
from handrail.tools.builtin.write_file import WriteFile
from handrail.tools.registry import ToolRegistry
from tests.client.conftest import (
    SALT,
    PatientPerson,
    Way,
    a_change,
    a_client,
    a_journal,
    a_signal,
    facts_of,
    lose_answer,
    meddled,
    turn_away,
    until,
)
from tests.client.disks import SlowDisk, next_life, refuse_to_keep
from tests.client.programs import Program, real_commands
from tests.conftest import Household
from tests.ports import free_port
from tests.server.conftest import add_machine, serving

YES = Choice(approved=True)

# Nobody else may report on what was claimed, so no epoch has to say whose word counts.
OURS = None


class NoParams(ToolParams):
    pass


class BrokenSurvey(Tool[NoParams]):
    name: ClassVar[str] = "broken"
    description: ClassVar[str] = "Breaks when it looks."
    params = NoParams

    def preview(self, params: NoParams) -> str:
        return "Break"

    async def survey(self, params: NoParams, scene: Scene, hands: Hands) -> Survey:
        raise ZeroDivisionError("a secret of the inside")

    async def execute(
        self, params: NoParams, scene: Scene, hands: Hands, facts: JsonObject | None = None
    ) -> ToolResult:
        return ToolResult(True, "done")


class WatchedFiles(FakeFiles):
    """Counts writes, and how many at once; takes until `let_go` is set to write or to look."""

    def __init__(self, files: dict[str, bytes], *, slow: bool = False, blind: bool = False):
        super().__init__(files)
        self.let_go, self.open_eyes = asyncio.Event(), asyncio.Event()
        if not slow:
            self.let_go.set()
        if not blind:
            self.open_eyes.set()
        self.written: list[str] = []
        self.at_once = 0
        self.most_at_once = 0

    async def find(self, path: str, *, max_bytes: int) -> FileContent | None:
        await self.open_eyes.wait()
        return await super().find(path, max_bytes=max_bytes)

    async def write(self, path: str, data: bytes, *, expected: FileState | None) -> None:
        self.written.append(path)
        self.at_once += 1
        self.most_at_once = max(self.at_once, self.most_at_once)
        try:
            await self.let_go.wait()
            await super().write(path, data, expected=expected)
        finally:
            self.at_once -= 1


@dataclass
class FakeLine:
    """A server that takes down what it is told, and says to each claim what it was made to say."""

    reports: list[ReportResult] = field(default_factory=list[ReportResult])
    claims: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    keys: list[str] = field(default_factory=list[str])
    facts: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    right: Callable[[str, int], bool] = lambda tool_id, epoch: True
    answering: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.answering.set()

    def send_tool_result(self, report: ReportResult) -> None:
        self.reports.append(report)

    async def claim_tool_execution(self, tool_id: str, epoch: int, key: str) -> bool:
        self.keys.append(key)
        self.claims.append((tool_id, epoch))
        await self.answering.wait()
        return self.right(tool_id, epoch)

    async def send_facts(self, approval_id: str, facts: dict[str, Any]) -> None:
        self.facts[approval_id] = facts

    async def ask_again(self, tool_id: str, epoch: int, facts: dict[str, Any]) -> bool:
        raise AssertionError("no command is rehearsed here")

    async def put_away(self, result: ToolResult) -> ToolResult:
        return result


@dataclass
class Machine:
    handler: ToolHandler
    line: FakeLine
    files: WatchedFiles

    async def signal(self, *signals: Signal) -> None:
        async with asyncio.timeout(10):
            await asyncio.gather(*map(self.handler.handle_tool_execution_signal, signals))

    async def survey(self, tool_name: str = "write_file", **params: Any) -> dict[str, Any] | None:
        """What it says it has seen; None where it says nothing."""
        sent = params or {"path": "notes.md", "content": "new\n"}
        request = SurveyRequest("apr_1", "exe_1", tool_name, sent)
        async with asyncio.timeout(10):
            await self.handler.handle_tool_survey_request(request)
        return self.line.facts.get("apr_1")

    @property
    def told(self) -> list[tuple[str, str, int | None]]:
        return [(one["tool_id"], one["status"], one.get("epoch")) for one in self.line.reports]

    @property
    def failure(self) -> tuple[str, str]:
        """How the one report says that it failed."""
        (report,) = self.line.reports
        assert report["status"] == "failed"
        return report["error_type"], report["error"]


def a_machine(
    files: WatchedFiles | None = None,
    *,
    isolated: bool = False,
    journal: Journal | None = None,
    commands: Commands | None = None,
) -> Machine:
    files = files or WatchedFiles({"notes.md": b"old\n"})
    line = FakeLine()
    registry = ToolRegistry([ReadFile(), WriteFile(), ExecuteCommand(), BrokenSurvey()])
    scene = Scene("/workspace", Autonomy.FULL, isolated)
    hands = Hands(files, commands or FakeCommands({"ls": b"notes.md\n"}))
    reviewer = Reviewer(registry, scene, hands)
    asking = Asking(HandrailApi("http://nowhere", "prj", "token"), None)
    handler = ToolHandler(reviewer, FakeClock(), line, asking, journal or a_journal())
    return Machine(handler, line, files)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is refused a claim waits only a moment for another offer."""
    monkeypatch.setattr(running_module, "_SECOND_OFFER_SECONDS", 0.02)


# Looking


async def test_a_look_tells_what_is_there_and_what_would_change() -> None:
    machine = a_machine()

    seen = await machine.survey()

    assert seen == {
        "facts": facts_of(b"old\n"),
        "findings": [],
        "evidence": "--- a/notes.md\n+++ b/notes.md\n@@ -1,1 +1,1 @@\n-old\n+new\n",
        "unmasked": False,
        "summary": "Change 1 line in notes.md (+1 \N{MINUS SIGN}1)",
        "changes_nothing": False,
        "rehearsed": False,
    }
    assert machine.files.files == {"notes.md": b"old\n"}
    assert machine.line.claims == machine.line.reports == []


async def test_a_look_tells_what_only_the_machine_knows() -> None:
    machine = a_machine(WatchedFiles({"notes.md": b"\x00\xff binary"}))

    seen = await machine.survey()

    assert seen is not None
    assert [(one["rule"], one["risk"]) for one in seen["findings"]] == [
        ("write.over-binary", "HIGH")
    ]


@pytest.mark.parametrize(
    ("params", "error_type"),
    [
        pytest.param({"path": ".env", "content": "x"}, "denied", id="this-machine-refuses"),
        pytest.param({"path": "../x.md", "content": "x"}, "denied", id="outside"),
        pytest.param({"path": "notes.md"}, "validation", id="cannot-be-read"),
        pytest.param({"path": "notes.md", "content": "x", "y": 1}, "validation", id="extra"),
    ],
)
async def test_what_would_be_refused_here_is_said_before_anybody_is_asked(
    params: dict[str, Any], error_type: str
) -> None:
    machine = a_machine()

    seen = await machine.survey(**params)

    assert seen is not None
    assert set(seen) == {"refused"}
    assert seen["refused"]["error_type"] == error_type
    assert seen["refused"]["error"]


async def test_a_tool_that_this_machine_does_not_have_is_refused() -> None:
    seen = await a_machine().survey("launch")

    assert seen is not None
    assert seen["refused"]["error_type"] == "validation"
    assert "launch" in seen["refused"]["error"]


async def test_a_look_that_breaks_refuses_the_call_and_keeps_its_inside_to_itself() -> None:
    machine = a_machine()

    with capture_logs() as lines:
        await machine.handler.handle_tool_survey_request(
            SurveyRequest("apr_1", "exe_1", "broken", {})
        )

    error = "broken failed while this machine checked the call"
    assert machine.line.facts == {"apr_1": {"refused": {"error": error, "error_type": "internal"}}}
    assert [line["event"] for line in lines] == ["survey.broke"]


@pytest.mark.parametrize("fields", [{"replayed": True}, {"tool_params": None}])
async def test_a_request_to_look_told_again_is_passed_over(fields: dict[str, Any]) -> None:
    machine = a_machine()
    values: dict[str, Any] = {"tool_params": {"path": "notes.md", "content": "x"}} | fields

    await machine.handler.handle_tool_survey_request(
        SurveyRequest("apr_1", "exe_1", "write_file", **values)
    )

    assert machine.line.facts == {}


# Claiming


async def test_a_change_is_claimed_and_then_done() -> None:
    machine = a_machine()

    await machine.signal(a_change(epoch=4))

    assert machine.line.claims == [("exe_1", 4)]
    assert machine.told == [("exe_1", "completed", OURS)]
    assert machine.files.files == {"notes.md": b"new\n"}


async def test_nothing_is_touched_before_the_claim_is_granted() -> None:
    machine = a_machine()
    machine.line.answering.clear()
    async with asyncio.TaskGroup() as group:
        group.create_task(machine.signal(a_change()))
        await until(lambda: machine.line.claims != [])
        assert machine.files.written == []
        machine.line.answering.set()

    assert machine.files.written == ["notes.md"]


@pytest.mark.usefixtures("impatient")
async def test_a_claim_that_is_refused_executes_nothing_and_reports_nothing() -> None:
    machine = a_machine()
    machine.line.right = lambda tool_id, epoch: False

    await machine.signal(a_change())

    assert machine.files.files == {"notes.md": b"old\n"}
    assert machine.files.written == []
    assert machine.line.reports == []
    assert list(machine.handler.history) == []
    assert machine.handler.active_executions == frozenset()


async def test_a_read_needs_no_claim() -> None:
    machine = a_machine()

    await machine.signal(a_signal(path="notes.md"))

    assert machine.line.claims == []
    assert machine.told == [("exe_1", "completed", 1)]


async def test_a_call_offered_anew_while_the_claim_is_on_its_way_is_claimed_anew() -> None:
    """The server was started again meanwhile: the first claim's epoch is void, the call is not."""
    machine = a_machine()
    machine.line.answering.clear()
    machine.line.right = lambda tool_id, epoch: epoch == 2
    async with asyncio.TaskGroup() as group:
        group.create_task(machine.signal(a_change(epoch=1)))
        await until(lambda: machine.line.claims != [])
        await machine.signal(a_change(epoch=2))
        machine.line.answering.set()

    assert machine.files.written == ["notes.md"]
    assert machine.told == [("exe_1", "completed", OURS)]


async def test_a_call_offered_anew_while_it_is_done_is_done_once() -> None:
    machine = a_machine(WatchedFiles({"notes.md": b"old\n"}, slow=True))
    async with asyncio.TaskGroup() as group:
        group.create_task(machine.signal(a_change(epoch=1)))
        await until(lambda: machine.files.at_once == 1)
        # The server knows that it was begun, and so does this machine.
        await machine.signal(a_change(epoch=2, status="executing"))
        machine.files.let_go.set()

    assert machine.files.written == ["notes.md"]
    assert machine.told == [("exe_1", "completed", OURS)]


async def test_a_change_offered_anew_before_the_ack_is_reported_again_and_not_done_again() -> None:
    machine = a_machine()
    await machine.signal(a_change(epoch=1))

    await machine.signal(a_change(epoch=2, status="executing"))

    assert machine.files.written == ["notes.md"]
    assert machine.told == [("exe_1", "completed", OURS), ("exe_1", "completed", OURS)]


async def test_what_was_begun_in_an_earlier_life_has_an_unknown_outcome() -> None:
    machine = a_machine()

    await machine.signal(a_change(status="executing"))

    assert machine.failure[0] == "outcome_unknown"
    assert machine.files.written == []
    assert machine.line.claims == []


async def test_a_read_begun_in_an_earlier_life_is_simply_read() -> None:
    machine = a_machine()

    await machine.signal(a_signal(path="notes.md", status="executing"))

    assert machine.told == [("exe_1", "completed", 1)]


# What is not what was approved


@pytest.mark.parametrize(
    ("found", "now"),
    [
        pytest.param(b"old\n", b"other\n", id="changed"),
        pytest.param(b"old\n", None, id="gone"),
        pytest.param(None, b"old\n", id="appeared"),
    ],
)
async def test_a_file_that_has_changed_since_it_was_looked_at_is_left_alone(
    found: bytes | None, now: bytes | None
) -> None:
    held = {} if now is None else {"notes.md": now}
    machine = a_machine(WatchedFiles(held))

    await machine.signal(a_change(found=found))

    assert machine.failure == (
        "stale",
        "this machine has changed since the call was checked; nothing was done",
    )
    assert machine.files.files == held
    assert machine.line.claims == []


async def test_a_file_that_changes_while_the_claim_is_on_its_way_is_left_alone() -> None:
    machine = a_machine()
    machine.line.answering.clear()
    async with asyncio.TaskGroup() as group:
        group.create_task(machine.signal(a_change()))
        await until(lambda: machine.line.claims != [])
        machine.files.files["notes.md"] = b"somebody else's\n"
        machine.line.answering.set()

    assert machine.failure[0] == "stale"
    assert machine.files.files == {"notes.md": b"somebody else's\n"}


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"digest": "0" * 64}, id="other-digest"),
        pytest.param({"salt": "other"}, id="other-salt"),
        pytest.param({"tool_params": {"path": "notes.md", "content": "evil\n"}}, id="other-text"),
        pytest.param({"tool_params": {"path": "other.md", "content": "new\n"}}, id="other-file"),
    ],
)
@pytest.mark.parametrize("surveyed", [True, False])
async def test_words_that_are_not_those_that_were_approved_are_not_done(
    fields: dict[str, Any], surveyed: bool
) -> None:
    machine = a_machine()

    await machine.signal(a_change(surveyed=surveyed, **fields))

    assert machine.failure[0] == "stale"
    assert machine.files.written == []
    assert machine.line.claims == []


async def test_a_digest_without_facts_does_not_pass_for_one_with_facts() -> None:
    machine = a_machine()
    unseen = a_change(surveyed=False)

    await machine.signal(a_change(digest=unseen.digest))

    assert machine.failure[0] == "stale"


async def test_what_nobody_has_looked_at_is_done_as_long_as_it_is_no_riskier() -> None:
    machine = a_machine()

    await machine.signal(a_change(surveyed=False))

    assert machine.told == [("exe_1", "completed", OURS)]
    assert machine.files.files == {"notes.md": b"new\n"}


async def test_what_nobody_has_looked_at_and_is_riskier_here_is_not_done() -> None:
    held = {"notes.md": b"\x00\xff binary"}
    machine = a_machine(WatchedFiles(held))

    await machine.signal(a_change(surveyed=False))

    error_type, error = machine.failure
    assert error_type == "stale"
    assert "riskier than what was approved" in error
    assert "binary" in error
    assert machine.files.files == held
    assert machine.line.claims == []


@pytest.mark.parametrize("path", [".env", "../outside.md", "/etc/hosts", "a.exe"])
async def test_what_this_machines_own_rules_refuse_is_not_done(path: str) -> None:
    machine = a_machine()

    # A server that has gone astray approves anything.
    await machine.signal(a_change(path=path, found=None))

    assert machine.failure[0] == "denied"
    assert machine.files.written == []
    assert machine.line.claims == []


async def test_what_this_machine_finds_harmless_is_done_as_it_was_approved() -> None:
    """Boxed here, where the server believed it was not: the look found nothing to tell."""
    machine = a_machine(isolated=True)
    params = {"command": "ls"}
    seen = await machine.survey("execute_command", **params)
    assert seen is not None
    plan = Plan(argv=(("ls",),), profiles=(Profile.READ,))

    await machine.signal(
        a_signal(
            tool_name="execute_command",
            tool_params=params,
            digest=digest_call(SALT, "execute_command", canonical(params), plan, seen["facts"]),
            status="approved",
            risk_level="HIGH",
            surveyed=True,
        )
    )

    assert machine.told == [("exe_1", "completed", OURS)]


# Many at once, and the end


async def test_at_most_three_changes_are_made_at_once() -> None:
    held = {f"notes-{n}.md": b"old\n" for n in range(10)}
    machine = a_machine(WatchedFiles(held, slow=True))
    signals: Sequence[Signal] = [a_change(f"exe_{n}", f"notes-{n}.md") for n in range(10)]
    async with asyncio.TaskGroup() as group:
        group.create_task(machine.signal(*signals))
        await until(lambda: machine.files.at_once == MOST_AT_ONCE)
        for _ in range(20):  # Every chance for a fourth.
            await asyncio.sleep(0)
        # What waits for its turn is not claimed yet: another machine might do it sooner.
        assert len(machine.line.claims) == MOST_AT_ONCE
        assert len(machine.handler.active_executions) == 10
        machine.files.let_go.set()

    assert machine.files.most_at_once == 3
    assert sorted(machine.told) == sorted((one.tool_id, "completed", OURS) for one in signals)


async def test_changes_of_one_session_do_not_keep_those_of_another_waiting() -> None:
    held = {f"notes-{n}.md": b"old\n" for n in range(5)}
    machine = a_machine(WatchedFiles(held, slow=True))
    changes = [a_change(f"exe_{n}", f"notes-{n}.md") for n in range(5)]
    signals = [*changes[:4], msgspec.structs.replace(changes[4], session_id="ses_other")]
    async with asyncio.TaskGroup() as group:
        group.create_task(machine.signal(*signals))
        await until(lambda: machine.files.at_once == MOST_AT_ONCE + 1)
        assert "exe_4" in dict(machine.line.claims)
        machine.files.let_go.set()

    assert len(machine.told) == 5


@pytest.mark.usefixtures("impatient")
async def test_a_refused_claim_makes_room_for_the_next() -> None:
    machine = a_machine()
    machine.line.right = lambda tool_id, epoch: tool_id == "exe_last"

    for number in range(2 * MOST_AT_ONCE):
        await machine.signal(a_change(f"exe_{number}"))
    await machine.signal(a_change("exe_last"))

    assert machine.told == [("exe_last", "completed", OURS)]


async def test_dispose_ends_what_runs_and_what_waits() -> None:
    held = {f"notes-{n}.md": b"old\n" for n in range(5)}
    machine = a_machine(WatchedFiles(held, slow=True))
    tasks = [
        asyncio.create_task(machine.signal(a_change(f"exe_{n}", f"notes-{n}.md"))) for n in range(5)
    ]
    await until(lambda: machine.files.at_once == MOST_AT_ONCE)

    machine.handler.dispose()
    ended = await asyncio.gather(*tasks, return_exceptions=True)

    assert {type(one) for one in ended} == {asyncio.CancelledError}
    assert machine.files.files == held
    assert machine.files.at_once == 0
    # Of what waited nothing needs to be told; what was begun can still be told as unknown.
    assert sorted(report["tool_id"] for report in machine.line.reports) == [
        "exe_0",
        "exe_1",
        "exe_2",
    ]
    assert {report["error_type"] for report in machine.line.reports} == {"outcome_unknown"}
    assert machine.handler.active_executions == frozenset()


# From life to life


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the machine's lives keep their journal."""
    return tmp_path / "journal"


async def test_each_step_is_written_down_before_it_is_taken(folder: Path) -> None:
    files = WatchedFiles({"notes.md": b"old\n"}, slow=True)
    machine = a_machine(files, journal=Journal(folder))
    machine.line.answering.clear()
    async with asyncio.TaskGroup() as group:
        group.create_task(machine.signal(a_change()))
        await until(lambda: machine.line.claims != [])
        assert next_life(folder) == [Entry("exe_1", Stage.CLAIMING)]
        machine.line.answering.set()
        await until(lambda: files.at_once == 1)
        assert next_life(folder) == [Entry("exe_1", Stage.BEGUN)]
        files.let_go.set()

    (report,) = machine.line.reports
    assert next_life(folder) == [Entry("exe_1", Stage.FINISHED, report)]


async def test_what_was_finished_and_not_told_is_told_by_the_next_life(folder: Path) -> None:
    first = a_machine(journal=Journal(folder))
    await first.signal(a_change())

    second = a_machine(first.files, journal=Journal(folder))
    second.handler.resume()

    assert second.line.reports == first.line.reports
    assert second.told == [("exe_1", "completed", OURS)]


async def test_what_was_begun_and_not_finished_is_told_as_unknown_by_the_next_life(
    folder: Path,
) -> None:
    await Journal(folder).begin("exe_1")
    machine = a_machine(journal=Journal(folder))

    machine.handler.resume()

    assert machine.failure == (
        "outcome_unknown",
        "the client was stopped while it ran the call; how far it got is unknown",
    )
    assert machine.told == [("exe_1", "failed", OURS)]


async def test_what_was_claimed_and_not_begun_is_told_by_nobody(folder: Path) -> None:
    Journal(folder).note_claim("exe_1")
    machine = a_machine(journal=Journal(folder))

    machine.handler.resume()

    assert machine.line.reports == []


async def test_what_was_claimed_and_not_begun_is_done_by_the_next_life(folder: Path) -> None:
    Journal(folder).note_claim("exe_1")
    machine = a_machine(journal=Journal(folder))
    machine.handler.resume()

    # The server took the claim for a beginning.
    await machine.signal(a_change(epoch=2, status="executing"))

    assert machine.line.claims == [("exe_1", 2)]
    assert machine.files.files == {"notes.md": b"new\n"}
    assert machine.told == [("exe_1", "completed", OURS)]


async def test_what_was_begun_is_not_begun_again_by_the_next_life(folder: Path) -> None:
    await Journal(folder).begin("exe_1")
    machine = a_machine(journal=Journal(folder))

    await machine.signal(a_change(epoch=2, status="executing"))

    assert machine.failure[0] == "outcome_unknown"
    assert machine.files.written == []
    assert machine.line.claims == []


async def test_what_an_earlier_life_has_finished_is_answered_and_not_done_again(
    folder: Path,
) -> None:
    first = a_machine(journal=Journal(folder))
    await first.signal(a_change())
    second = a_machine(journal=Journal(folder))
    second.handler.resume()

    await second.signal(a_change(epoch=2, status="executing"))

    assert second.line.reports == first.line.reports * 2
    assert second.files.written == []


async def test_what_is_ended_by_a_stop_of_the_machine_is_unknown_to_the_next_life(
    folder: Path,
) -> None:
    first = a_machine(WatchedFiles({"notes.md": b"old\n"}, slow=True), journal=Journal(folder))
    working = asyncio.create_task(first.signal(a_change()))
    await until(lambda: first.files.at_once == 1)
    first.handler.dispose()
    await asyncio.gather(working, return_exceptions=True)

    second = a_machine(journal=Journal(folder))
    second.handler.resume()

    assert second.line.reports == first.line.reports
    assert second.failure[0] == "outcome_unknown"


@pytest.mark.usefixtures("impatient")
async def test_a_claim_that_is_refused_leaves_nothing_behind(folder: Path) -> None:
    machine = a_machine(journal=Journal(folder))
    machine.line.right = lambda tool_id, epoch: False

    await machine.signal(a_change())

    assert list(folder.iterdir()) == []


async def test_nothing_is_claimed_if_that_cannot_be_written_down(folder: Path) -> None:
    machine = a_machine(journal=Journal(folder))
    shutil.rmtree(folder)

    await machine.signal(a_change(epoch=4))

    assert machine.failure == (
        "execution",
        "this machine's journal cannot be written: No such file or directory",
    )
    assert machine.told == [("exe_1", "failed", 4)]
    assert machine.line.claims == []
    assert machine.files.written == []


async def test_nothing_is_begun_if_that_cannot_be_written_down(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = a_machine(journal=Journal(folder))
    refuse_to_keep(monkeypatch)

    await machine.signal(a_change())

    assert machine.failure == (
        "execution",
        "this machine's journal cannot be written: Input/output error",
    )
    assert machine.told == [("exe_1", "failed", OURS)]
    assert machine.files.written == []
    # If that is not heard either, the next life may do it: surely nothing was begun.
    assert next_life(folder) == [Entry("exe_1", Stage.CLAIMING)]


async def test_an_outcome_that_cannot_be_written_down_is_told_all_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = WatchedFiles({"notes.md": b"old\n"}, slow=True)
    machine = a_machine(files, journal=Journal(folder))
    with capture_logs() as lines:
        async with asyncio.TaskGroup() as group:
            group.create_task(machine.signal(a_change()))
            await until(lambda: files.at_once == 1)
            refuse_to_keep(monkeypatch)
            files.let_go.set()

    assert machine.told == [("exe_1", "completed", OURS)]
    assert [(line["event"], line["execution"]) for line in lines] == [("journal.failed", "exe_1")]
    assert next_life(folder) == [Entry("exe_1", Stage.BEGUN)]


@pytest.mark.parametrize("by", ["ack", "receipt"])
async def test_what_the_server_has_heard_is_forgotten(folder: Path, by: str) -> None:
    machine = a_machine(journal=Journal(folder))
    await machine.signal(a_change("exe_1"), a_change("exe_2", "more.md", found=None))

    if by == "ack":
        machine.handler.handle_tool_result_ack(ResultAck("exe_1", "processed"))
    else:
        machine.handler.forget("exe_1")

    assert [entry.tool_id for entry in next_life(folder)] == ["exe_2"]
    assert list(machine.handler._unacknowledged) == ["exe_2"]


async def test_nothing_grows_with_the_number_of_calls(folder: Path) -> None:
    machine = a_machine(WatchedFiles({}), journal=Journal(folder))
    for number in range(50):
        await machine.signal(a_change(f"exe_{number}", f"notes-{number}.md", found=None))
        machine.handler.forget(f"exe_{number}")

    assert len(machine.line.reports) == 50
    assert machine.handler.active_executions == frozenset()
    assert machine.handler._unacknowledged == {}
    assert machine.handler._journal.entries == []
    assert list(folder.iterdir()) == []


# Cancelling


CANCELLED = (
    "cancelled",
    "it was stopped here when it was cancelled; how far it got is unknown",
)


async def test_a_cancel_ends_a_change_that_runs_and_is_reported(folder: Path) -> None:
    files = WatchedFiles({"notes.md": b"old\n"}, slow=True)
    machine = a_machine(files, journal=Journal(folder))
    async with asyncio.TaskGroup() as group:
        group.create_task(machine.signal(a_change()))
        await until(lambda: files.at_once == 1)
        machine.handler.handle_tool_cancel(Cancel("exe_1"))

    assert machine.failure == CANCELLED
    assert machine.told == [("exe_1", "failed", OURS)]
    assert (files.at_once, files.files) == (0, {"notes.md": b"old\n"})
    assert machine.handler.active_executions == frozenset()
    assert [one.status for one in machine.handler.history] == ["failed"]
    # It is told also by the next life, until the server has it.
    assert next_life(folder) == [Entry("exe_1", Stage.FINISHED, machine.line.reports[0])]


async def test_a_cancel_told_twice_is_reported_once(folder: Path) -> None:
    files = WatchedFiles({"notes.md": b"old\n"}, slow=True)
    machine = a_machine(files, journal=Journal(folder))
    async with asyncio.TaskGroup() as group:
        group.create_task(machine.signal(a_change()))
        await until(lambda: files.at_once == 1)
        for _ in range(2):
            machine.handler.handle_tool_cancel(Cancel("exe_1"))

    assert machine.told == [("exe_1", "failed", OURS)]
    assert next_life(folder) == [Entry("exe_1", Stage.FINISHED, machine.line.reports[0])]


async def test_a_cancel_while_the_claim_is_on_its_way_leaves_nothing_to_tell(
    folder: Path,
) -> None:
    machine = a_machine(journal=Journal(folder))
    machine.line.answering.clear()
    async with asyncio.TaskGroup() as group:
        group.create_task(machine.signal(a_change()))
        await until(lambda: machine.line.claims != [])
        machine.handler.handle_tool_cancel(Cancel("exe_1"))

    assert machine.line.reports == []
    assert machine.files.written == []
    assert list(folder.iterdir()) == []
    assert machine.handler.active_executions == frozenset()


async def test_a_cancel_while_the_machine_is_looked_at_leaves_nothing_to_tell(
    folder: Path,
) -> None:
    machine = a_machine(WatchedFiles({"notes.md": b"old\n"}, blind=True), journal=Journal(folder))
    async with asyncio.TaskGroup() as group:
        group.create_task(machine.signal(a_change()))
        await until(lambda: "exe_1" in machine.handler.active_executions)
        machine.handler.handle_tool_cancel(Cancel("exe_1"))

    assert machine.line.reports == []
    assert machine.line.claims == []
    assert list(folder.iterdir()) == []


async def test_a_cancel_between_claim_and_beginning_touches_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = a_machine(journal=Journal(folder))
    disk = SlowDisk(monkeypatch)
    async with asyncio.TaskGroup() as group:
        group.create_task(machine.signal(a_change()))
        await until(disk.busy.is_set)
        machine.handler.handle_tool_cancel(Cancel("exe_1"))
        disk.let_go()

    assert machine.files.written == []
    assert machine.line.reports == []
    assert list(folder.iterdir()) == []


async def test_a_cancel_ends_what_waits_for_its_turn_and_only_that() -> None:
    numbers = range(MOST_AT_ONCE + 1)
    machine = a_machine(WatchedFiles({f"notes-{n}.md": b"old\n" for n in numbers}, slow=True))
    async with asyncio.TaskGroup() as group:
        for number in numbers:
            group.create_task(machine.signal(a_change(f"exe_{number}", f"notes-{number}.md")))
        await until(lambda: machine.files.at_once == MOST_AT_ONCE)
        machine.handler.handle_tool_cancel(Cancel(f"exe_{MOST_AT_ONCE}"))
        await until(lambda: len(machine.handler.active_executions) == MOST_AT_ONCE)
        machine.files.let_go.set()

    done = [f"exe_{number}" for number in range(MOST_AT_ONCE)]
    assert sorted(machine.told) == [(tool_id, "completed", OURS) for tool_id in done]
    assert sorted(tool_id for tool_id, _ in machine.line.claims) == done


async def test_what_is_cancelled_makes_room_for_the_next() -> None:
    numbers = range(2 * MOST_AT_ONCE)
    machine = a_machine(WatchedFiles({f"notes-{n}.md": b"old\n" for n in numbers}, slow=True))
    async with asyncio.TaskGroup() as group:
        for number in numbers:
            group.create_task(machine.signal(a_change(f"exe_{number}", f"notes-{number}.md")))
        await until(lambda: machine.files.at_once == MOST_AT_ONCE)
        for number in range(MOST_AT_ONCE):
            machine.handler.handle_tool_cancel(Cancel(f"exe_{number}"))
        await until(lambda: len(machine.files.written) == len(numbers))
        machine.files.let_go.set()

    assert sorted(machine.told) == [
        (f"exe_{n}", "failed" if n < MOST_AT_ONCE else "completed", OURS) for n in numbers
    ]


async def test_a_cancel_of_what_nobody_knows_disturbs_nobody() -> None:
    machine = a_machine(WatchedFiles({"notes.md": b"old\n"}, slow=True))
    async with asyncio.TaskGroup() as group:
        group.create_task(machine.signal(a_change()))
        await until(lambda: machine.files.at_once == 1)
        machine.handler.handle_tool_cancel(Cancel("exe_unheard_of"))
        machine.files.let_go.set()

    assert machine.told == [("exe_1", "completed", OURS)]


async def test_a_cancel_while_the_outcome_is_written_down_does_not_change_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = WatchedFiles({"notes.md": b"old\n"}, slow=True)
    machine = a_machine(files, journal=Journal(folder))
    async with asyncio.TaskGroup() as group:
        group.create_task(machine.signal(a_change()))
        await until(lambda: files.at_once == 1)
        disk = SlowDisk(monkeypatch)
        files.let_go.set()
        await until(disk.busy.is_set)
        machine.handler.handle_tool_cancel(Cancel("exe_1"))
        disk.let_go()

    assert machine.told == [("exe_1", "completed", OURS)]
    assert next_life(folder) == [Entry("exe_1", Stage.FINISHED, machine.line.reports[0])]


async def test_a_cancel_after_the_report_does_not_change_it(folder: Path) -> None:
    machine = a_machine(journal=Journal(folder))
    await machine.signal(a_change())

    machine.handler.handle_tool_cancel(Cancel("exe_1"))
    await machine.signal(a_change(epoch=2, status="executing"))

    assert machine.told == [("exe_1", "completed", OURS)] * 2
    assert len(next_life(folder)) == 1


async def test_a_cancelled_command_ends_with_all_that_it_has_started(tmp_path: Path) -> None:
    program = Program(tmp_path)
    machine = a_machine(commands=real_commands(tmp_path))
    plan = Plan(argv=(program.argv,), profiles=(Profile.WRITE,))
    digest = digest_call(SALT, "execute_command", canonical(program.params), plan)
    signal = a_signal(
        tool_name="execute_command",
        tool_params=program.params,
        digest=digest,
        status="approved",
        risk_level="HIGH",
    )
    async with asyncio.TaskGroup() as group:
        group.create_task(machine.signal(signal))
        await until(lambda: program.runs == 1)
        assert program.is_alive()
        machine.handler.handle_tool_cancel(Cancel("exe_1"))

    assert not program.is_alive()
    assert machine.failure == CANCELLED


# Against the real server


async def ask_to_write(
    server: str,
    home: Household,
    call_id: str = "c1",
    *,
    wait: float = 10.0,
    content: str = "new\n",
) -> dict[str, Any]:
    async with (
        asyncio.timeout(wait + 10),
        HandrailApi(server, home.project.id, home.secrets[Role.AGENT]) as agent,
    ):
        return await agent.execute(
            "write_file",
            {"path": "notes.md", "content": content},
            session_id="s",
            call_id=call_id,
            reasoning="to remember",
            wait=wait,
        )


async def approve(server: str, home: Household, approval_id: str, **body: Any) -> None:
    async with HandrailApi(server, home.project.id, home.secrets[Role.USER]) as person:
        await person.approve(approval_id, **body)


@pytest.fixture
def notes(household: Household) -> Path:
    found = Path(household.workspace.root) / "notes.md"
    found.write_text("old\n")
    return found


async def test_a_write_is_looked_at_asked_about_with_a_diff_and_done(
    services: Services, household: Household, notes: Path
) -> None:
    person = ScriptedPerson(YES)
    with FileSystemExecutor(household.workspace.root) as files:
        async with serving(services) as server, a_client(server, household, files, person):
            answer = await ask_to_write(server, household)

    (card,) = person.cards
    assert card.evidence == "--- a/notes.md\n+++ b/notes.md\n@@ -1,1 +1,1 @@\n-old\n+new\n"
    assert (card.notes, card.reasoning) == ((), "to remember")
    assert answer["status"] == "completed"
    assert answer["result"]["path"] == "notes.md"
    assert (answer["approved_by"], answer["scope"]) == ("ada", "once")
    assert answer["approval_id"] == card.approval_id
    assert notes.read_text() == "new\n"
    assert person.told == []


async def test_a_refusal_with_its_reason_reaches_the_agent(
    services: Services, household: Household, notes: Path
) -> None:
    person = ScriptedPerson(Choice(approved=False, reason="write to docs/ instead"))
    with FileSystemExecutor(household.workspace.root) as files:
        async with serving(services) as server, a_client(server, household, files, person):
            answer = await ask_to_write(server, household)

    assert answer["status"] == "rejected"
    assert answer["error"] == "ada refused this call: write to docs/ instead"
    assert notes.read_text() == "old\n"


async def test_a_file_that_changes_while_the_person_thinks_is_left_alone(
    services: Services, household: Household, notes: Path
) -> None:
    person = PatientPerson()
    with FileSystemExecutor(household.workspace.root) as files:
        async with (
            serving(services) as server,
            a_client(server, household, files, person),
            asyncio.TaskGroup() as group,
        ):
            asking = group.create_task(ask_to_write(server, household))
            card = await person.sees_a_card()
            notes.write_text("somebody else's\n")
            person.choose(card, YES)

    answer = asking.result()
    assert (answer["status"], answer["error_type"]) == ("failed", "stale")
    assert notes.read_text() == "somebody else's\n"


async def test_permissions_that_change_while_the_person_thinks_are_noticed(
    services: Services, household: Household, notes: Path
) -> None:
    person = PatientPerson()
    with FileSystemExecutor(household.workspace.root) as files:
        async with (
            serving(services) as server,
            a_client(server, household, files, person),
            asyncio.TaskGroup() as group,
        ):
            asking = group.create_task(ask_to_write(server, household))
            card = await person.sees_a_card()
            notes.chmod(0o755)
            person.choose(card, YES)

    assert asking.result()["error_type"] == "stale"
    assert notes.read_text() == "old\n"


async def test_what_this_machine_would_refuse_is_asked_of_nobody(
    services: Services, household: Household, notes: Path
) -> None:
    notes.unlink()
    notes.mkdir()
    person = ScriptedPerson(YES)
    with FileSystemExecutor(household.workspace.root) as files:
        async with serving(services) as server, a_client(server, household, files, person):
            answer = await ask_to_write(server, household)

    assert answer["status"] == "failed"
    assert "notes.md" in answer["error"]
    assert person.cards == []


async def test_what_is_approved_while_nobody_is_there_is_done_when_somebody_comes(
    services: Services, household: Household
) -> None:
    files = WatchedFiles({"notes.md": b"old\n"})
    async with serving(services) as server:
        asked = await ask_to_write(server, household, wait=0)
        await approve(server, household, asked["approval_id"])
        async with a_client(server, household, files):
            answer = await ask_to_write(server, household)

    assert (asked["status"], answer["status"]) == ("awaiting_approval", "completed")
    assert files.files == {"notes.md": b"new\n"}


async def test_what_is_approved_unseen_and_is_riskier_on_the_machine_is_not_done(
    services: Services, household: Household
) -> None:
    files = WatchedFiles({"notes.md": b"\x00\xff binary"})
    async with serving(services) as server:
        asked = await ask_to_write(server, household, wait=0)
        await approve(server, household, asked["approval_id"])
        async with a_client(server, household, files):
            answer = await ask_to_write(server, household)

    assert (answer["status"], answer["error_type"]) == ("failed", "stale")
    assert files.files == {"notes.md": b"\x00\xff binary"}


async def test_a_look_that_does_not_arrive_is_asked_for_again(
    services: Services, household: Household, clock: FakeClock
) -> None:
    files, person = WatchedFiles({"notes.md": b"old\n"}), PatientPerson()
    app = meddled(services, "/facts", turn_away(503))
    async with (
        serving(services, app=app) as server,
        a_client(server, household, files, person),
        asyncio.TaskGroup() as group,
    ):
        asking = group.create_task(ask_to_write(server, household))
        async with HandrailApi(server, household.project.id, household.secrets[Role.USER]) as api:
            await until_asked(api)
            clock.advance(3)
            async with asyncio.timeout(20):
                while not (cards := await api.pending_approvals()) or cards[0].notes:
                    await asyncio.sleep(0.05)
            await api.decide(cards[0], YES, channel="console")

    assert cards[0].evidence != ""
    assert asking.result()["status"] == "completed"


async def until_asked(api: HandrailApi) -> None:
    async def known() -> bool:
        return (await api.get("/tools/executions"))["total_count"] > 0

    await until(known)


async def test_what_was_begun_before_a_restart_of_the_client_is_not_done_again(
    services: Services, household: Household
) -> None:
    files = WatchedFiles({"notes.md": b"old\n"}, slow=True)
    async with serving(services) as server:
        async with a_client(server, household, files, ScriptedPerson(YES)):
            await ask_to_write(server, household, wait=0)
            await until(lambda: files.at_once == 1)
        # The client is gone in the middle of it; another one starts in its place.
        files.let_go.set()
        async with a_client(server, household, files, ScriptedPerson(YES)):
            answer = await ask_to_write(server, household)

    assert (answer["status"], answer["error_type"]) == ("failed", "outcome_unknown")
    assert files.written == ["notes.md"]
    assert files.files == {"notes.md": b"old\n"}


async def test_of_two_machines_one_does_it(
    services: Services, store: SqliteStore, household: Household
) -> None:
    machine = await add_machine(store, household)
    here, there = WatchedFiles({"notes.md": b"old\n"}), WatchedFiles({"notes.md": b"old\n"})
    person = ScriptedPerson(*[YES] * 5)
    async with (
        serving(services) as server,
        a_client(server, household, here, person),
        a_client(server, household, there, machine=machine),
    ):
        answers = [
            await ask_to_write(server, household, f"c{n}", content=f"{n}\n") for n in range(5)
        ]

    assert [answer["status"] for answer in answers] == ["completed"] * 5
    assert len(here.written) + len(there.written) == 5


@pytest.mark.usefixtures("impatient")
async def test_a_claim_that_the_server_refuses_is_not_asked_again(
    services: Services, household: Household
) -> None:
    files = WatchedFiles({"notes.md": b"old\n"})
    app = meddled(services, "/claim", *[turn_away(409)] * 2)
    async with (
        serving(services, app=app) as server,
        a_client(server, household, files, ScriptedPerson(YES)) as handler,
    ):
        answer = await ask_to_write(server, household, wait=1)

    assert answer["status"] == "approved"
    assert files.written == []
    assert handler.active_executions == frozenset()
    assert list(handler.history) == []


@pytest.mark.parametrize(
    "ways",
    [
        pytest.param([lose_answer], id="answer-lost"),
        pytest.param([lose_answer] * 3, id="answers-lost"),
        pytest.param([turn_away(503)], id="server-not-ready"),
        pytest.param([turn_away(500), lose_answer], id="server-broken"),
    ],
)
async def test_a_claim_without_an_answer_is_asked_again_and_the_call_done_once(
    services: Services, household: Household, ways: list[Way]
) -> None:
    files = WatchedFiles({"notes.md": b"old\n"})
    app = meddled(services, "/claim", *ways)
    async with (
        serving(services, app=app) as server,
        a_client(server, household, files, ScriptedPerson(YES)),
    ):
        answer = await ask_to_write(server, household, wait=5)

    assert answer["status"] == "completed"
    assert files.written == ["notes.md"]


@pytest.mark.parametrize("arrives", [True, False], ids=["claimed", "not-claimed"])
async def test_a_server_that_ends_before_it_answers_a_claim_is_asked_again_when_it_is_back(
    store: SqliteStore, bus: LocalBus, clock: FakeClock, household: Household, arrives: bool
) -> None:
    files = WatchedFiles({"notes.md": b"old\n"})
    port = free_port()
    claimed = asyncio.Event()

    async def hang(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_nothing(message: Message) -> None:
            pass

        if arrives:
            await app(scope, receive, send_nothing)
        claimed.set()
        await asyncio.Event().wait()

    async def wait_for_new_offer(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        await until(is_offered_anew)
        await app(scope, receive, send)

    async def is_offered_anew() -> bool:
        (call,) = await store.list_executions(
            household.project.id, status=None, agent_id=None, limit=1
        )
        return call.epoch == 2

    async with AsyncExitStack() as stack:
        first = build_services(store, bus, clock)
        async with serving(first, port=port, app=meddled(first, "/claim", hang)) as server:
            await stack.enter_async_context(a_client(server, household, files, ScriptedPerson(YES)))
            await ask_to_write(server, household, wait=0)
            async with asyncio.timeout(10):
                await claimed.wait()
        second = build_services(store, bus, clock)
        app = meddled(second, "/claim", wait_for_new_offer)
        async with serving(second, port=port, app=app) as server:
            # A line that was not closed is given up only after a while.
            answer = await ask_to_write(server, household, wait=25)

    assert answer["status"] == "completed"
    assert files.written == ["notes.md"]


async def test_an_offer_that_arrives_after_the_receipt_of_its_end_changes_nothing(
    store: SqliteStore, bus: LocalBus, clock: FakeClock, household: Household
) -> None:
    """After a restart, the offer and the receipt come to the client on two connections."""
    files, journal = WatchedFiles({"notes.md": b"old\n"}, slow=True), a_journal()
    port = free_port()

    async def delay_offers(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_late(message: Message) -> None:
            if b"tool.execution_signal" in message.get("body", b""):
                files.let_go.set()
                await until(lambda: not journal.entries)
            await send(message)

        await app(scope, receive, send_late)

    async def kinds() -> list[EventKind]:
        items = await store.read_stream(household.project.id, after=0, client_id=None, limit=99)
        return [item.event.kind for item in items]

    async def is_turned_away() -> bool:
        return EventKind.RESULT_REJECTED in await kinds()

    async with AsyncExitStack() as stack:
        first = build_services(store, bus, clock)
        async with serving(first, port=port) as server:
            person = ScriptedPerson(YES)
            await stack.enter_async_context(
                a_client(server, household, files, person, journal=journal)
            )
            await ask_to_write(server, household, wait=0)
            await until(lambda: files.at_once == 1)
        second = build_services(store, bus, clock)
        app = meddled(second, "/chat/stream", delay_offers)
        async with serving(second, port=port, app=app) as server:
            await until(is_turned_away)
            answer = await ask_to_write(server, household)

    assert answer["status"] == "completed"
    assert files.written == ["notes.md"]
    assert (await kinds())[-2:] == [EventKind.RESULT_ACK, EventKind.RESULT_REJECTED]

"""What is signalled is checked again, executed once and reported until it is known."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, ClassVar

import pytest
from structlog.testing import capture_logs

from handrail.client.api import HandrailApi
from handrail.client.asking import Asking
from handrail.client.gates import MOST_AT_ONCE
from handrail.client.handler import PastExecution, ReportResult, ToolHandler
from handrail.client.messages import Cancel, ExecutionContext, ResultAck, Signal
from handrail.client.review import Reviewer
from handrail.core.audit import canonical
from handrail.core.card import Card, Choice
from handrail.core.digest import digest_call
from handrail.core.hands import Hands
from handrail.core.project import Autonomy
from handrail.core.risk import Layer, RiskLevel
from handrail.core.tool import Effect, JsonObject, ToolResult
from handrail.core.verdict import Plan
from handrail.policy.rulebook.rules import Rules, default_rules
from handrail.policy.rulebook.settings import Ceiling, Commands
from handrail.policy.rulebook.tools import ToolRule
from handrail.policy.security import Scene
from handrail.testing import FakeClock, FakeCommands, FakeHands
from handrail.tools.base import Tool, ToolParams
from handrail.tools.builtin.read_file import ReadFile, ReadFileParams
from handrail.tools.registry import ToolRegistry
from tests.client.conftest import SlowFiles, a_journal, a_signal, until


class NoParams(ToolParams):
    pass


class BrokenTool(Tool[NoParams]):
    name: ClassVar[str] = "broken"
    description: ClassVar[str] = "Breaks."
    params = NoParams
    safety_level: ClassVar[RiskLevel] = RiskLevel.LOW
    effect: ClassVar[Effect] = Effect.READ

    def preview(self, params: NoParams) -> str:
        return "Break"

    async def execute(
        self, params: NoParams, scene: Scene, hands: Hands, facts: JsonObject | None = None
    ) -> ToolResult:
        raise ZeroDivisionError("a secret of the inside")


class FakeLine:
    """A server that takes down what it is told, and lets a client begin unless it is `closed`."""

    def __init__(self) -> None:
        self.reports: list[ReportResult] = []
        self.claims: list[tuple[str, int]] = []
        self.facts: dict[str, dict[str, Any]] = {}
        self.closed = False

    def send_tool_result(self, report: ReportResult) -> None:
        self.reports.append(report)

    async def claim_tool_execution(self, tool_id: str, epoch: int, key: str) -> bool:
        assert key
        self.claims.append((tool_id, epoch))
        return not self.closed

    async def send_facts(self, approval_id: str, facts: dict[str, Any]) -> None:
        self.facts[approval_id] = facts

    async def ask_again(self, tool_id: str, epoch: int, facts: dict[str, Any]) -> bool:
        raise AssertionError("no command is rehearsed here")

    async def put_away(self, result: ToolResult) -> ToolResult:
        return result


@dataclass
class Machine:
    """A handler and what it has reported so far."""

    handler: ToolHandler
    line: "FakeLine"

    async def signal(self, *signals: Signal) -> None:
        async with asyncio.timeout(10):
            await asyncio.gather(*map(self.handler.handle_tool_execution_signal, signals))

    @property
    def reports(self) -> list[ReportResult]:
        return self.line.reports

    @property
    def told(self) -> list[tuple[str, str, int]]:
        return [(one["tool_id"], one["status"], one["epoch"]) for one in self.reports]


class Screen:
    """Where a person is told things, and asked nothing."""

    name = "screen"

    def __init__(self) -> None:
        self.told: list[str] = []

    async def ask(self, card: Card) -> Choice | None:
        raise AssertionError("nobody is asked here")

    def tell(self, words: str) -> None:
        self.told.append(words)


MakeMachine = Callable[[Hands], Machine]


@pytest.fixture
def make(clock: FakeClock) -> MakeMachine:
    def build(hands: Hands) -> Machine:
        line = FakeLine()
        registry = ToolRegistry([ReadFile(), BrokenTool()])
        reviewer = Reviewer(registry, Scene("/workspace", Autonomy.FULL), hands)
        asking = Asking(HandrailApi("http://nowhere", "prj", "token"), None)
        return Machine(ToolHandler(reviewer, clock, line, asking, a_journal()), line)

    return build


@pytest.fixture
def machine(make: MakeMachine) -> Machine:
    return make(FakeHands({"README.md": b"hello", ".env": b"secret"}))


def without_time(report: ReportResult) -> dict[str, Any]:
    assert 0 <= report["execution_time_ms"] < 10_000
    return {name: value for name, value in report.items() if name != "execution_time_ms"}


async def test_a_signal_is_executed_and_reported_under_its_epoch(machine: Machine) -> None:
    await machine.signal(a_signal(epoch=4))

    assert [without_time(report) for report in machine.reports] == [
        {
            "tool_id": "exe_1",
            "status": "completed",
            "epoch": 4,
            "result": {
                "success": True,
                "content": "hello",
                "encoding": "utf-8",
                "size": 5,
                "truncated": False,
                "output": "hello",
            },
        }
    ]
    assert machine.handler.active_executions == frozenset()


async def test_what_happened_can_be_looked_up(machine: Machine) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)

    await machine.signal(a_signal("exe_1"))
    await machine.signal(a_signal("exe_2", "none.txt"))

    assert list(machine.handler.history) == [
        PastExecution("exe_1", "completed", now, now, None),
        PastExecution("exe_2", "failed", now, now, "none.txt does not exist"),
    ]


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"replayed": True}, id="replayed"),
        pytest.param({"tool_params": None}, id="without-parameters"),
        pytest.param({"replayed": True, "tool_params": None}, id="both"),
    ],
)
async def test_a_signal_told_again_executes_nothing(
    machine: Machine, fields: dict[str, Any]
) -> None:
    await machine.signal(a_signal(**fields))

    assert machine.reports == []
    assert list(machine.handler.history) == []


async def test_a_call_offered_anew_while_it_runs_is_executed_once_and_reported_as_new(
    make: MakeMachine,
) -> None:
    files = SlowFiles({"README.md": b"hello"})
    machine = make(Hands(files, FakeCommands({})))
    async with asyncio.TaskGroup() as group:
        group.create_task(machine.signal(a_signal(epoch=1)))
        await until(lambda: files.at_once == 1)
        assert machine.handler.active_executions == {"exe_1"}

        await machine.signal(a_signal(epoch=2))
        await machine.signal(a_signal(epoch=3))
        files.let_go.set()

    assert files.read_paths == ["README.md"]
    assert machine.told == [("exe_1", "completed", 3)]


async def test_a_call_offered_anew_while_it_queues_is_executed_once(make: MakeMachine) -> None:
    files = SlowFiles({"README.md": b"hello"})
    machine = make(Hands(files, FakeCommands({})))
    async with asyncio.TaskGroup() as group:
        for number in range(MOST_AT_ONCE):
            group.create_task(machine.signal(a_signal(f"exe_{number}")))
        await until(lambda: files.at_once == MOST_AT_ONCE)
        group.create_task(machine.signal(a_signal("exe_queued", epoch=1)))
        await until(lambda: "exe_queued" in machine.handler.active_executions)

        await machine.signal(a_signal("exe_queued", epoch=2))
        files.let_go.set()

    assert len(files.read_paths) == MOST_AT_ONCE + 1
    assert [line for line in machine.told if line[0] == "exe_queued"] == [
        ("exe_queued", "completed", 2)
    ]


async def test_a_call_offered_anew_before_the_ack_is_reported_again_and_not_executed(
    make: MakeMachine,
) -> None:
    files = SlowFiles({"README.md": b"hello"}, slow=False)
    machine = make(Hands(files, FakeCommands({})))
    await machine.signal(a_signal(epoch=1))

    await machine.signal(a_signal(epoch=2))
    await machine.signal(a_signal(epoch=3))

    assert files.read_paths == ["README.md"]
    assert machine.told == [(f"exe_{1}", "completed", epoch) for epoch in (1, 2, 3)]
    first, *again = map(without_time, machine.reports)
    assert again == [first | {"epoch": 2}, first | {"epoch": 3}]
    assert len(machine.handler.history) == 1


async def test_what_is_acknowledged_is_forgotten(machine: Machine) -> None:
    await machine.signal(a_signal("exe_1"), a_signal("exe_2"))

    machine.handler.handle_tool_result_ack(ResultAck("exe_1", "processed"))
    machine.handler.handle_tool_result_ack(ResultAck("exe_unheard_of", "processed"))

    assert list(machine.handler._unacknowledged) == ["exe_2"]


def failure(error: str, error_type: str) -> list[dict[str, Any]]:
    return [
        {
            "tool_id": "exe_1",
            "status": "failed",
            "error": error,
            "error_type": error_type,
            "epoch": 1,
        }
    ]


STALE = failure("the call that arrived is not the one that was judged; nothing was done", "stale")


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"digest": "0" * 64}, id="other-digest"),
        pytest.param({"salt": "other"}, id="other-salt"),
        pytest.param({"tool_params": {"path": "other.md"}}, id="other-path"),
        pytest.param({"tool_params": {"path": "README.md", "limit": 1}}, id="one-more"),
        pytest.param({"tool_params": {"path": "./README.md"}}, id="other-words-same-file"),
    ],
)
async def test_what_is_not_what_was_judged_is_not_done(
    make: MakeMachine, fields: dict[str, Any]
) -> None:
    files = SlowFiles({"README.md": b"hello"}, slow=False)
    machine = make(Hands(files, FakeCommands({})))

    await machine.signal(a_signal(**fields))

    assert [without_time(report) for report in machine.reports] == STALE
    assert files.read_paths == []


@pytest.mark.parametrize("path", [".env", "../outside", "/etc/passwd", ".ssh/id_rsa"])
async def test_what_this_machines_own_rules_refuse_is_not_done(
    make: MakeMachine, path: str
) -> None:
    files = SlowFiles({path: b"secret"}, slow=False)
    machine = make(Hands(files, FakeCommands({})))

    # A server that has gone astray approves anything and digests it well.
    for plan in (Plan(), Plan(paths=(path,))):
        digest = digest_call("salt", "read_file", canonical({"path": path}), plan)
        await machine.signal(a_signal(f"exe_{len(plan.paths)}", path, digest=digest))

    assert [report["error_type"] for report in machine.reports] == ["denied", "denied"]
    assert files.read_paths == []


@pytest.mark.parametrize(
    ("fields", "begins"),
    [
        pytest.param({"tool_name": "launch"}, "there is no tool 'launch'", id="unknown-tool"),
        pytest.param({"tool_params": {}}, "path: ", id="missing-field"),
        pytest.param({"tool_params": {"path": 3}}, "path: ", id="wrong-type"),
        pytest.param({"tool_params": {"path": "a", "x": 1}}, "x: ", id="extra-field"),
    ],
)
async def test_what_does_not_fit_a_tool_fails_as_validation(
    machine: Machine, fields: dict[str, Any], begins: str
) -> None:
    await machine.signal(a_signal(**fields))

    (report,) = machine.reports
    assert (report["status"], report["error_type"]) == ("failed", "validation")
    assert report["error"].startswith(begins)


async def test_a_tool_that_breaks_ends_as_internal_and_keeps_its_inside_to_itself(
    machine: Machine,
) -> None:
    digest = digest_call("salt", "broken", "{}", Plan())
    signal = a_signal(tool_name="broken", tool_params={}, digest=digest)

    with capture_logs() as lines:
        await machine.signal(signal)

    assert [without_time(report) for report in machine.reports] == failure(
        "broken failed on the client: ZeroDivisionError", "internal"
    )
    assert [(line["event"], line["execution"]) for line in lines] == [("execution.broke", "exe_1")]
    # And the machine goes on.
    await machine.signal(a_signal("exe_2"))
    assert machine.told[-1] == ("exe_2", "completed", 1)


async def test_what_the_machine_cannot_do_fails_with_its_reason(machine: Machine) -> None:
    await machine.signal(a_signal(path="none.txt"))

    assert [without_time(report) for report in machine.reports] == failure(
        "none.txt does not exist", "execution"
    )


async def test_at_most_three_are_executed_at_once(make: MakeMachine) -> None:
    files = SlowFiles({"README.md": b"hello"})
    machine = make(Hands(files, FakeCommands({})))
    signals: Sequence[Signal] = [a_signal(f"exe_{number}") for number in range(10)]
    async with asyncio.TaskGroup() as group:
        group.create_task(machine.signal(*signals))
        await until(lambda: files.at_once == 3)
        await until(lambda: len(machine.handler.active_executions) == 10)
        for _ in range(20):  # Every chance for a fourth.
            await asyncio.sleep(0)
        assert files.at_once == 3
        files.let_go.set()

    assert files.most_at_once == 3
    assert sorted(machine.told) == sorted((one.tool_id, "completed", 1) for one in signals)


async def test_a_failure_makes_room_for_the_next(make: MakeMachine) -> None:
    files = SlowFiles({}, slow=False)
    machine = make(Hands(files, FakeCommands({})))

    for number in range(3 * MOST_AT_ONCE):
        await machine.signal(a_signal(f"exe_{number}"))

    assert len(machine.reports) == 3 * MOST_AT_ONCE
    assert machine.handler.active_executions == frozenset()


async def test_a_read_that_is_cancelled_ends_and_leaves_nothing_to_tell(make: MakeMachine) -> None:
    files = SlowFiles({"README.md": b"hello"})
    machine = make(Hands(files, FakeCommands({})))
    async with asyncio.TaskGroup() as group:
        group.create_task(machine.signal(a_signal()))
        await until(lambda: files.at_once == 1)
        machine.handler.handle_tool_cancel(Cancel("exe_1"))

    assert files.at_once == 0
    assert machine.reports == []
    assert list(machine.handler.history) == []
    assert machine.handler.active_executions == frozenset()


async def test_a_read_that_is_cancelled_in_the_queue_is_never_begun(make: MakeMachine) -> None:
    files = SlowFiles({"README.md": b"hello"})
    machine = make(Hands(files, FakeCommands({})))
    async with asyncio.TaskGroup() as group:
        for number in range(MOST_AT_ONCE):
            group.create_task(machine.signal(a_signal(f"exe_{number}")))
        await until(lambda: files.at_once == MOST_AT_ONCE)
        group.create_task(machine.signal(a_signal("exe_queued")))
        await until(lambda: "exe_queued" in machine.handler.active_executions)
        machine.handler.handle_tool_cancel(Cancel("exe_queued"))
        await until(lambda: "exe_queued" not in machine.handler.active_executions)
        files.let_go.set()

    assert len(files.read_paths) == MOST_AT_ONCE
    assert "exe_queued" not in [tool_id for tool_id, _, _ in machine.told]


async def test_reads_that_are_cancelled_make_room_for_the_next(make: MakeMachine) -> None:
    files = SlowFiles({"README.md": b"hello"})
    machine = make(Hands(files, FakeCommands({})))
    async with asyncio.TaskGroup() as group:
        for number in range(2 * MOST_AT_ONCE):
            group.create_task(machine.signal(a_signal(f"exe_{number}")))
        await until(lambda: files.at_once == MOST_AT_ONCE)
        for number in range(MOST_AT_ONCE):
            machine.handler.handle_tool_cancel(Cancel(f"exe_{number}"))
        await until(lambda: len(files.read_paths) == 2 * MOST_AT_ONCE)
        files.let_go.set()

    assert sorted(machine.told) == [
        (f"exe_{number}", "completed", 1) for number in range(MOST_AT_ONCE, 2 * MOST_AT_ONCE)
    ]


async def test_a_cancel_of_what_is_reported_or_unheard_of_changes_nothing(
    machine: Machine,
) -> None:
    await machine.signal(a_signal())

    machine.handler.handle_tool_cancel(Cancel("exe_1"))
    machine.handler.handle_tool_cancel(Cancel("exe_unheard_of"))
    await machine.signal(a_signal(epoch=2))

    assert machine.told == [("exe_1", "completed", 1), ("exe_1", "completed", 2)]


async def test_a_read_is_no_matter_for_the_journal(make: MakeMachine) -> None:
    files = SlowFiles({"README.md": b"hello"})
    machine = make(Hands(files, FakeCommands({})))
    async with asyncio.TaskGroup() as group:
        group.create_task(machine.signal(a_signal()))
        await until(lambda: files.at_once == 1)
        during = machine.handler._journal.entries
        files.let_go.set()

    assert during == machine.handler._journal.entries == []


async def test_what_was_answered_with_a_receipt_is_kept_nowhere(machine: Machine) -> None:
    for number in range(50):
        await machine.signal(a_signal(f"exe_{number}"))
        machine.handler.forget(f"exe_{number}")

    assert len(machine.reports) == 50
    assert machine.handler._unacknowledged == {}
    assert machine.handler.active_executions == frozenset()


@pytest.mark.parametrize(("by", "told"), [("ada", 1), ("policy", 0)])
async def test_who_approved_what_was_then_not_done_is_told(
    clock: FakeClock, by: str, told: int
) -> None:
    person = Screen()
    line, reviewer = FakeLine(), Reviewer(ToolRegistry([ReadFile()]), Scene("/w"), FakeHands({}))
    asking = Asking(HandrailApi("http://nowhere", "prj", "token"), person)
    machine = Machine(ToolHandler(reviewer, clock, line, asking, a_journal()), line)
    context = ExecutionContext(approved_by=by)

    await machine.signal(a_signal(digest="0" * 64, execution_context=context))

    assert [report["error_type"] for report in machine.reports] == ["stale"]
    why = "the call that arrived is not the one that was judged; nothing was done"
    assert person.told == [f"read_file was approved, but not run: {why}."] * told


class RehearsedRead(ReadFile):
    """A MEDIUM read whose plan may be rehearsed."""

    safety_level: ClassVar[RiskLevel] = RiskLevel.MEDIUM

    def plan(self, params: ReadFileParams, scene: Scene) -> Plan:
        return replace(super().plan(params, scene), rehearses=True)


async def test_what_this_machine_would_rehearse_is_not_done_where_nobody_was_asked(
    clock: FakeClock,
) -> None:
    rules = replace(default_rules(), command_way=Commands.REHEARSE)
    scene = Scene("/w", Autonomy.FULL, rules=rules, rehearses=True)
    hands = FakeHands({"README.md": b"hello"})
    line, reviewer = FakeLine(), Reviewer(ToolRegistry([RehearsedRead()]), scene, hands)
    asking = Asking(HandrailApi("http://nowhere", "prj", "token"), None)
    machine = Machine(ToolHandler(reviewer, clock, line, asking, a_journal()), line)
    unasked, asked = ExecutionContext(approved_by="policy"), ExecutionContext(approved_by="ada")

    await machine.signal(a_signal("exe_1", risk_level="MEDIUM", execution_context=unasked))
    await machine.signal(a_signal("exe_2", risk_level="MEDIUM", execution_context=asked))

    refused, done = machine.reports
    assert (refused["error_type"], done["status"]) == ("stale", "completed")
    assert "on this machine it needs approval first" in str(refused["error"])


async def test_what_this_machine_wants_asked_is_not_done_where_nobody_was(clock: FakeClock) -> None:
    """A server that has not heard of a ceiling yet may have let a call pass."""
    ceiling = Ceiling(Autonomy.SUPERVISED, Layer.PROJECT)
    raised = ToolRule("read_file", RiskLevel.MEDIUM, "reads are looked at", Layer.PROJECT)
    rules = default_rules().tightened_by(Rules(ceilings=(ceiling,), tools=(raised,)))
    line = FakeLine()
    reviewer = Reviewer(
        ToolRegistry([ReadFile()]), Scene("/w", Autonomy.FULL), FakeHands({"README.md": b"hello"})
    )
    reviewer.adopt(rules)
    asking = Asking(HandrailApi("http://nowhere", "prj", "token"), None)
    machine = Machine(ToolHandler(reviewer, clock, line, asking, a_journal()), line)
    unasked, asked = ExecutionContext(approved_by="policy"), ExecutionContext(approved_by="ada")

    await machine.signal(a_signal("exe_1", risk_level="MEDIUM", execution_context=unasked))
    await machine.signal(a_signal("exe_2", risk_level="MEDIUM", execution_context=asked))

    refused, done = machine.reports
    assert (refused["error_type"], done["status"]) == ("stale", "completed")
    assert refused["error"] == (
        "on this machine it needs approval first; nothing was done: read_file: reads are looked at "
        "(project rule tool.read_file); autonomy is at most supervised here "
        "(project rule policy.autonomy)"
    )

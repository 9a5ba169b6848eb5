"""An approved command that would do something else by now goes back to the person, once."""

from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import pytest

from handrail.client import running as running_module
from handrail.client.api import HandrailApi
from handrail.client.asking import Asking
from handrail.client.handler import ToolHandler
from handrail.client.messages import ExecutionContext, Signal, SurveyRequest
from handrail.client.review import Reviewer
from handrail.core.effects import Effect, Effects, Node
from handrail.core.files import EntryKind
from handrail.core.hands import Hands
from handrail.core.outcome import CommandOutcome, Ending
from handrail.core.project import Autonomy
from handrail.core.rehearsal import CallRef, NoRehearsals, Rehearsed
from handrail.policy.rulebook.rules import default_rules
from handrail.policy.rulebook.settings import Commands
from handrail.policy.security import Scene
from handrail.testing import FakeClock, FakeCommands, FakeFiles
from handrail.tools.builtin.run_bash import RunBash
from handrail.tools.registry import ToolRegistry
from tests.client.conftest import a_journal
from tests.client.test_handler import FakeLine

LINE = {"command": "./build"}
CALL = CallRef("session-1", "exe_1")


def rehearsed(content: str, printed: bytes = b"") -> Rehearsed:
    """A command that gives a file this content."""
    after = Node(EntryKind.FILE, mode=0o644, size=len(content), sha256=content)
    outcome = CommandOutcome(printed, b"", Ending.EXITED, 0, 0.1)
    return Rehearsed(outcome, Effects((Effect("made.txt", None, after),)))


@dataclass
class FakeRehearsals(NoRehearsals):
    """Gives what the next rehearsal would show; the workspace has `changed` where that is said."""

    shows: Rehearsed
    kept: Rehearsed | None = None
    changed: str = ""
    applied: list[Rehearsed] = field(default_factory=list[Rehearsed])

    async def rehearse(self, call: CallRef, *_: Any, **__: Any) -> Rehearsed:
        self.kept = self.kept or self.shows
        return self.kept

    async def find(self, call: CallRef) -> Rehearsed | None:
        return self.kept

    async def show(self, call: CallRef, draw: Any) -> Any:
        return draw(lambda change: (None, None))

    async def apply(self, call: CallRef, *, can_undo: bool = True) -> None:
        assert self.kept is not None
        self.applied.append(self.kept)

    async def drop_stale(self, call: CallRef) -> str:
        if self.changed:
            self.kept = None
        return self.changed


class Line(FakeLine):
    """A server that takes back what it is handed, unless it `refuses`."""

    def __init__(self) -> None:
        super().__init__()
        self.handed_back: list[dict[str, Any]] = []
        self.refuses = False

    async def ask_again(self, tool_id: str, epoch: int, facts: dict[str, Any]) -> bool:
        assert (tool_id, epoch) == (CALL.tool_id, 1)
        self.handed_back.append(facts)
        return not self.refuses


class Machine:
    """A client that has rehearsed a command, and a person who approves what it told last."""

    def __init__(self, clock: FakeClock, first: Rehearsed, way: Commands = Commands.REHEARSE):
        self.rehearsals = FakeRehearsals(first)
        rules = replace(default_rules(), command_way=way)
        scene = Scene("/w", Autonomy.FULL, isolated=True, rules=rules, rehearses=True)
        hands = Hands(FakeFiles({}), FakeCommands({"./build": b""}), rehearsals=self.rehearsals)
        self.reviewer = Reviewer(ToolRegistry([RunBash()]), scene, hands)
        self.line = Line()
        asking = Asking(HandrailApi("http://nowhere", "prj", "token"), None)
        self.handler = ToolHandler(self.reviewer, clock, self.line, asking, a_journal())

    async def survey(self) -> None:
        request = SurveyRequest("apr_1", CALL.tool_id, "run_bash", LINE, False, False, "session-1")
        await self.handler.handle_tool_survey_request(request)

    async def approve(self) -> None:
        """Say yes to the rehearsal that is kept now, which changes before the yes arrives."""
        reviewed = await self.reviewer.review("run_bash", LINE, call=CALL)
        self.approved = Signal(
            CALL.tool_id,
            "run_bash",
            LINE,
            reviewed.digest("salt", with_facts=True),
            "salt",
            1,
            "approved",
            "CRITICAL",
            surveyed=True,
            session_id=CALL.session_id,
            execution_context=ExecutionContext("ada"),
        )

    async def execute(self) -> None:
        await self.handler.handle_tool_execution_signal(self.approved)

    @property
    def ends(self) -> list[str]:
        return [report.get("error_type", report["status"]) for report in self.line.reports]


@pytest.fixture
async def machine(clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setattr(running_module, "_SECOND_OFFER_SECONDS", 0.02)
    made = Machine(clock, rehearsed("first", b"took 1 s"))
    await made.survey()
    await made.approve()
    return made


async def test_the_same_effect_is_applied_though_the_command_now_prints_something_else(
    machine: Machine,
) -> None:
    again = machine.rehearsals.shows = rehearsed("first", b"took 2 s")
    machine.rehearsals.kept = None

    await machine.execute()

    assert machine.ends == ["completed"]
    assert machine.rehearsals.applied == [again]
    assert machine.line.handed_back == []


async def test_another_effect_is_handed_back_and_nothing_is_done_or_reported(
    machine: Machine,
) -> None:
    machine.rehearsals.shows = rehearsed("second")
    machine.rehearsals.changed = "made.txt was created meanwhile"

    await machine.execute()

    (told,) = machine.line.handed_back
    assert told["rehearsed"] is True
    assert told["facts"] == rehearsed("second").facts
    assert (
        "made.txt was created meanwhile, so nothing was applied" in told["findings"][-1]["reason"]
    )
    assert (machine.rehearsals.applied, machine.line.reports, machine.line.claims) == ([], [], [])


async def test_what_was_approved_the_second_time_is_applied(machine: Machine) -> None:
    second = machine.rehearsals.shows = rehearsed("second")
    machine.rehearsals.changed = "made.txt was created meanwhile"
    await machine.execute()
    machine.rehearsals.changed = ""
    await machine.approve()

    await machine.execute()

    assert machine.ends == ["completed"]
    assert machine.rehearsals.applied == [second]


async def test_what_changes_after_the_second_approval_ends_the_call(machine: Machine) -> None:
    machine.rehearsals.changed = "made.txt was created meanwhile"
    for content in ("second", "third"):
        machine.rehearsals.shows = rehearsed(content)
        await machine.execute()

    assert machine.ends == ["stale"]
    assert len(machine.line.handed_back) == 1
    assert machine.rehearsals.applied == []


async def test_a_command_that_is_asked_about_beforehand_is_stale_and_not_handed_back(
    clock: FakeClock,
) -> None:
    machine = Machine(clock, rehearsed("first"), Commands.ASK)
    await machine.survey()
    await machine.approve()
    machine.approved = msgspec.structs.replace(machine.approved, digest="of another script")

    await machine.execute()

    assert machine.ends == ["stale"]
    assert machine.line.handed_back == []


async def test_a_server_that_takes_nothing_back_is_told_that_the_call_is_stale(
    machine: Machine,
) -> None:
    machine.line.refuses = True
    machine.rehearsals.shows = rehearsed("second")
    machine.rehearsals.kept = None

    await machine.execute()

    assert machine.ends == ["stale"]
    assert machine.rehearsals.applied == []

"""A tool from outside travels like ours; what it breaks, it breaks for its own call alone."""

from dataclasses import replace
from typing import Any, ClassVar

import pytest
from structlog.testing import capture_logs

from handrail.app.build_server import build_services
from handrail.bus.local import LocalBus
from handrail.core.errors import ConflictingCall, ErrorType
from handrail.core.execution import Status
from handrail.core.grant import CallClass
from handrail.core.hands import Hands
from handrail.core.risk import Finding, RiskLevel
from handrail.core.survey import Survey
from handrail.core.tool import JsonObject, ToolCall, ToolDefinition, ToolResult
from handrail.core.verdict import Plan
from handrail.policy.security import Scene
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from handrail.tools.base import Tool, ToolParams
from handrail.tools.catalogue import builtin_registry
from tests.conftest import Household
from tests.plane.conftest import a_read, a_write, connected, lines_of, now_of, question_of

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}, "token": {}}}


class Step(ToolParams):
    breaks: str


class Fragile(Tool[Step]):
    """Breaks where it is told to."""

    name: ClassVar[str] = "fragile"
    description: ClassVar[str] = "Breaks."
    params = Step
    broken: ClassVar[set[str]] = set()

    def read_params(self, params: JsonObject) -> Step:
        step = super().read_params(params)
        self._pass(step, "read")
        return step

    def pre_validate(self, params: Step, scene: Scene) -> list[Finding]:
        self._pass(params, "pre_validate")
        return None if params.breaks == "findings" else []  # pyright: ignore[reportReturnType]

    def plan(self, params: Step, scene: Scene) -> Plan:
        self._pass(params, "plan")
        return None if params.breaks == "no plan" else Plan()  # pyright: ignore[reportReturnType]

    def preview(self, params: Step) -> str:
        self._pass(params, "preview")
        return 3 if params.breaks == "no text" else "Break"  # pyright: ignore[reportReturnType]

    def call_class(self, params: Step, scene: Scene) -> CallClass | None:
        self._pass(params, "call_class")
        return None

    async def execute(
        self, params: Step, scene: Scene, hands: Hands, facts: JsonObject | None = None
    ) -> ToolResult:
        raise AssertionError("the plane executes nothing")

    def _pass(self, params: Step, step: str) -> None:
        if params.breaks in (step, "exit") or step in self.broken:
            raise SystemExit(3) if params.breaks == "exit" else ZeroDivisionError("hunter2")


async def say(params: dict[str, Any], hands: Hands) -> str:
    raise AssertionError("the plane executes nothing")


@pytest.fixture
def services(store: SqliteStore, bus: LocalBus, clock: FakeClock) -> Services:
    registry = builtin_registry()
    registry.register(Fragile())
    registry.register_tool(ToolDefinition("say", "Says.", SCHEMA, RiskLevel.MEDIUM), say)
    return build_services(store, bus, clock, registry=registry)


def a_call(home: Household, tool_name: str, call_id: str = "call-1", **params: Any) -> ToolCall:
    words = {"tool_name": tool_name, "tool_params": params}
    return replace(a_read(home, call_id), **words)


# A tool that was registered in code


async def test_a_person_is_asked_about_it_in_words_without_secrets(
    services: Services, store: SqliteStore, household: Household
) -> None:
    call = a_call(household, "say", text="hello", token="hunter2")
    asked = await services.executor.propose(call, household.agent)

    question = await question_of(store, asked)

    assert asked.status is Status.AWAITING_APPROVAL
    assert question.description == 'Use say with text "hello", token "[masked]"'
    assert question.tool_params == {"text": "hello", "token": "[masked]"}
    assert question.reasons == ("say makes changes",)
    assert question.call_class is None


async def test_what_does_not_fit_its_schema_is_recorded_as_failed(
    services: Services, store: SqliteStore, household: Household
) -> None:
    failed = await services.executor.propose(a_call(household, "say", text=3), household.agent)

    assert (failed.status, failed.error_type) == (Status.FAILED, ErrorType.VALIDATION)
    assert failed.error == 'text: this value is not of type "string"'
    assert await now_of(store, failed.id) == failed


# A tool that breaks


@pytest.mark.parametrize(
    "step",
    [
        "read",
        "pre_validate",
        "findings",
        "plan",
        "no plan",
        "preview",
        "no text",
        "call_class",
        "exit",
    ],
)
async def test_a_tool_that_breaks_while_it_is_judged_fails_its_own_call(
    services: Services, store: SqliteStore, household: Household, step: str
) -> None:
    with capture_logs() as logged:
        failed = await services.executor.propose(
            a_call(household, "fragile", breaks=step), household.agent
        )

    assert (failed.status, failed.error_type) == (Status.FAILED, ErrorType.INTERNAL)
    assert failed.error is not None
    assert failed.error.startswith("fragile failed while it was judged: ")
    assert "hunter2" not in failed.error
    assert failed.risk_level is RiskLevel.FORBIDDEN
    assert await now_of(store, failed.id) == failed
    assert ("tool.broke", "fragile") in [(line["event"], line.get("tool")) for line in logged]


async def test_a_tool_that_breaks_when_it_is_judged_anew_fails_its_own_call(
    services: Services,
    store: SqliteStore,
    household: Household,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with connected(services, household.client):
        pending = await services.executor.propose(
            a_call(household, "fragile", breaks="never"), household.agent
        )
    assert pending.status is Status.PENDING
    monkeypatch.setattr(Fragile, "broken", {"preview"})

    assert pending.approval_id is not None
    await services.surveyor.accept(
        pending.approval_id, Survey(), household.client, household.project.id
    )

    failed = await now_of(store, pending.id)
    assert (failed.status, failed.error_type) == (Status.FAILED, ErrorType.INTERNAL)
    assert failed.error == "fragile failed while it was judged: ZeroDivisionError"


# Names from elsewhere


async def test_an_old_name_appears_nowhere_behind_the_door(
    services: Services, store: SqliteStore, household: Household
) -> None:
    call = a_call(household, "tool_read_file", path="a.txt", user_id="ada")
    read = await services.executor.propose(call, household.agent)

    assert (read.tool_name, read.tool_params) == ("read_file", {"path": "a.txt"})
    lines = str(await lines_of(store, household))
    assert '"tool":"read_file"' in lines
    assert "tool_read_file" not in lines
    assert "tool_read_file" not in [tool.name for tool in services.executor.tools]


async def test_the_same_call_under_its_old_and_its_new_name_is_one(
    services: Services, household: Household
) -> None:
    old = a_call(household, "file_write", path="a.txt", content="x")
    new = a_write(household, path="a.txt", content="x")
    other = a_write(household, path="a.txt", content="y")

    first = await services.executor.propose(old, household.agent)
    again = await services.executor.propose(new, household.agent)

    assert (again.id, again.digest) == (first.id, first.digest)
    with pytest.raises(ConflictingCall):
        await services.executor.propose(other, household.agent)


async def test_what_an_old_name_does_not_take_is_recorded_as_failed(
    services: Services, household: Household
) -> None:
    call = a_call(household, "file_read", path="a.txt", mode="fast")
    failed = await services.executor.propose(call, household.agent)

    assert (failed.tool_name, failed.error_type) == ("read_file", ErrorType.VALIDATION)
    assert failed.error == "mode: extra inputs are not permitted"

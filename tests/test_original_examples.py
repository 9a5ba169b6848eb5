"""Examples from the designs that Handrail began with, typed as they stand there.

Each runs against real parts: files, ripgrep, the plane and its database.
"""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

import handrail
from handrail import (
    AgentTools,
    ApprovalManager,
    CommandValidator,
    FileSystemExecutor,
    Hands,
    PathValidator,
    RiskAssessor,
    RiskLevel,
    Scene,
    SizeLimiter,
    ToolDefinition,
    ToolExecutor,
    ToolName,
    ToolRegistry,
    ToolSafety,
    builtin_registry,
    needs_injection_check,
    validate_tool_params,
)
from handrail.app.build_server import build_services
from handrail.bus.local import LocalBus
from handrail.core.approval import Approval
from handrail.core.errors import BadInput, SetupError
from handrail.core.tool import Site
from handrail.executors.files.ripgrep import Ripgrep
from handrail.executors.files.search import SearchExecutor
from handrail.plane.decider import Decider
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import TOOL_NAMES, Household
from tests.plane.desk import at_work


def do_something(param1: str, param2: int) -> str:
    if param1 == "bad":
        raise ValueError("bad is not allowed here")
    return f"{param1} {param2}"


class OwnTools:
    """A registry that registers its own method as an executor of one argument."""

    def __init__(
        self,
        registry: ToolRegistry,
        safety_level: RiskLevel = ToolSafety.SAFE,
        site: Site = Site.CLIENT,
    ) -> None:
        self.ran = 0
        registry.register_tool(
            ToolDefinition(
                name="my_new_tool",
                description="Description of what this tool does",
                input_schema={
                    "type": "object",
                    "properties": {
                        "param1": {"type": "string", "description": "First parameter"},
                        "param2": {
                            "type": "integer",
                            "description": "Second parameter",
                            "default": 42,
                        },
                    },
                    "required": ["param1"],
                },
                safety_level=safety_level,
                site=site,
            ),
            self._execute_my_new_tool,
        )

    async def _execute_my_new_tool(self, args: dict[str, Any]) -> dict[str, Any]:
        self.ran += 1
        try:
            result = do_something(args["param1"], args.get("param2", 42))
            return {"status": "success", "result": result}
        except Exception as error:
            return {"status": "error", "error": str(error)}


# A registry without a server


async def test_a_safe_tool_of_ones_own_runs() -> None:
    registry = ToolRegistry()
    OwnTools(registry)

    result = await registry.execute_tool("my_new_tool", {"param1": "test"})

    assert result["status"] == "success"
    assert result["result"] == "test 42"


@pytest.mark.parametrize(
    ("name", "args", "error"),
    [
        ("my_new_tool", {"param1": "bad"}, "bad is not allowed here"),
        ("my_new_tool", {}, "param1: field required"),
        ("my_new_tol", {}, "no tool is named 'my_new_tol'; there are: my_new_tool"),
    ],
)
async def test_a_call_that_cannot_be_done_says_why(
    name: str, args: dict[str, Any], error: str
) -> None:
    registry = ToolRegistry()
    OwnTools(registry)
    assert await registry.execute_tool(name, args) == {
        "status": "error",
        "success": False,
        "error": error,
        **({"output": error} if args else {}),
    }


@pytest.mark.parametrize("level", [ToolSafety.REQUIRES_APPROVAL, ToolSafety.DANGEROUS])
async def test_a_tool_that_needs_approval_does_not_run_without_a_server(level: RiskLevel) -> None:
    registry = ToolRegistry()
    own = OwnTools(registry, level)

    result = await registry.execute_tool("my_new_tool", {"param1": "test"})

    assert (result["status"], result["risk_level"]) == ("approval_required", level.name)
    assert "only a person can approve it" in result["error"]
    assert own.ran == 0


def test_a_safety_level_that_is_only_a_word_is_refused_at_once() -> None:
    with pytest.raises(SetupError, match=r"^the safety_level of 'my_new_tool' is 'SAFE'; it must"):
        OwnTools(ToolRegistry(), "SAFE")  # pyright: ignore[reportArgumentType]


# Exploring a code base


@pytest.fixture
async def project(tmp_path: Path) -> AsyncGenerator[tuple[Path, dict[str, Any]]]:
    """A folder with a little code, and hands that hold it."""
    root = tmp_path / "server-agent"
    (root / "app").mkdir(parents=True)
    (root / "app" / "config.py").write_text("class AppConfig:\n    debug = False\n")
    with FileSystemExecutor(str(root)) as files, Ripgrep(files.root) as ripgrep:
        hands = Hands(files=files, searches=SearchExecutor(files, ripgrep))
        yield root, {"scene": Scene(files.root), "hands": hands}


async def test_an_agent_reads_and_searches_unasked(
    project: tuple[Path, dict[str, Any]],
) -> None:
    root, machine = project
    registry = builtin_registry()

    read = await registry.execute_tool("read_file", {"path": f"{root}/app/config.py"}, **machine)
    found = await registry.execute_tool(
        "search_code", {"pattern": "class.*Config", "path": ".", "file_pattern": "*.py"}, **machine
    )

    assert (read["status"], read["content"]) == (
        "success",
        "class AppConfig:\n    debug = False\n",
    )
    assert (found["status"], found["matches"][0]["path"]) == ("success", "app/config.py")


@pytest.mark.parametrize(
    ("name", "args", "status"),
    [
        ("write_file", {"path": "notes.txt", "content": "My notes"}, "approval_required"),
        ("write_file", {"path": "/tmp/agent_notes.txt", "content": "x"}, "error"),
        ("run_bash", {"command": "rm -rf /"}, "error"),
        ("read_file", {"path": "/etc/passwd"}, "error"),
    ],
)
async def test_a_registry_never_runs_what_a_person_would_have_to_approve(
    project: tuple[Path, dict[str, Any]], name: str, args: dict[str, Any], status: str
) -> None:
    root, machine = project
    result = await builtin_registry().execute_tool(name, args, **machine)
    assert (result["status"], result["success"]) == (status, False)
    assert sorted(path.name for path in root.iterdir()) == ["app"]


# An agent on the server


class Agent:
    def __init__(self, tool_executor: AgentTools) -> None:
        self.tool_executor = tool_executor

    async def solve_task(self, word: str, session_id: str) -> str:
        response = await self.tool_executor.execute_tool(
            tool_name="my_new_tool",
            tool_params={"param1": word, "param2": 30},
            session_id=session_id,
        )
        assert response.tool_id == response.id
        if response.status == "completed":
            assert response.result is not None
            return response.result["result"]
        return f"{response.status}: {response.error}"


class Plane:
    def __init__(self, services: Services, household: Household, own: OwnTools) -> None:
        self.services = services
        self.household = household
        self.own = own

    async def answer(self, *, approve: bool) -> Approval:
        """Answer the next question as the owner of the project."""
        approvals, project_id = self.services.approvals, self.household.project.id
        while not (waiting := await approvals.get_pending_approvals(project_id)):
            await asyncio.sleep(0)
        decider = Decider(self.household.user, project_id, "test")
        if approve:
            await approvals.approve_tool(waiting[0].id, decider)
        else:
            await approvals.reject_tool(waiting[0].id, decider, reason="not today")
        return await approvals.wait_for_approval(waiting[0].id)


@pytest.fixture
async def plane(
    store: SqliteStore, bus: LocalBus, clock: FakeClock, household: Household
) -> AsyncGenerator[Plane]:
    registry = builtin_registry()
    own = OwnTools(registry, ToolSafety.REQUIRES_APPROVAL, Site.SERVER)
    services = build_services(store, bus, clock, registry=registry)
    async with asyncio.timeout(30), at_work(services):
        yield Plane(services, household, own)


@pytest.mark.behaviour("tools.original-examples")
@pytest.mark.parametrize(
    ("word", "approve", "told", "ran"),
    [
        ("npm", True, "npm 30", 1),
        ("bad", True, "failed: bad is not allowed here", 1),
        ("npm", False, "rejected: ada refused this call: not today", 0),
    ],
)
async def test_an_agent_waits_for_a_person_and_goes_on_with_the_answer(
    plane: Plane, word: str, approve: bool, told: str, ran: int
) -> None:
    agent = Agent(AgentTools(plane.services.executor, plane.household.agent))
    async with asyncio.TaskGroup() as group:
        solving = group.create_task(agent.solve_task(word, "0b9d8f2c"))
        answered = await plane.answer(approve=approve)

    assert (solving.result(), plane.own.ran) == (told, ran)
    ended = await plane.services.executor.wait_for_tool_result(answered.execution_id)
    assert ended.status.is_final


async def test_only_an_agent_of_a_project_can_be_given_tools(plane: Plane) -> None:
    with pytest.raises(BadInput, match="belongs to no project"):
        AgentTools(plane.services.executor, plane.household.user)


# Validation and risk


def test_a_command_outside_the_allowlist_is_refused_in_words() -> None:
    (finding,) = validate_tool_params("execute_command", {"command": "rm", "args": ["-rf", "/"]})
    assert "not allowed" in finding.reason
    assert validate_tool_params("execute_command", {"command": "npm", "args": ["install"]}) == []
    with pytest.raises(BadInput, match=r"^path: field required"):
        validate_tool_params("read_file", {})


@pytest.mark.parametrize(
    ("tool", "params", "risk"),
    [
        ("read_file", {"path": "workspace/README.md"}, "LOW"),
        ("list_directory", {"path": "."}, "LOW"),
        ("write_file", {"path": "a.py", "content": ""}, "MEDIUM"),
        ("write_file", {"path": "a.exe", "content": ""}, "FORBIDDEN"),
        ("execute_command", {"command": "grep", "args": ["x", "a.py"]}, "LOW"),
        ("execute_command", {"command": "git", "args": ["commit", "-m", "x"]}, "MEDIUM"),
        ("execute_command", {"command": "make"}, "MEDIUM"),
        ("tool_write_file", {"path": "a.sh", "content": "", "user_id": "u"}, "HIGH"),
    ],
)
def test_a_call_has_the_risk_of_what_it_does(tool: str, params: dict[str, Any], risk: str) -> None:
    assert RiskAssessor().assess_tool_risk(tool, params) is RiskLevel[risk]


def test_the_validators_find_nothing_wrong_with_what_is_allowed() -> None:
    assert PathValidator("/workspace").validate_path("src/a.py") == []
    assert CommandValidator("/workspace").validate_command("grep", ["x", "a.py"]) == []
    assert SizeLimiter().check_file(100_000_000) == []
    assert SizeLimiter().check_file(100_000_001) != []


def test_the_names_of_the_tools_are_those_of_the_registry() -> None:
    assert list(ToolName) == TOOL_NAMES == [tool.name for tool in builtin_registry().offered]


def test_results_from_outside_are_checked_for_injected_orders() -> None:
    assert all(map(needs_injection_check, ["read_file", "run_bash", "git", "http_request"]))
    assert not any(map(needs_injection_check, ["skill", "self_info", "config", "memory_store"]))


def test_the_steps_of_an_approval_have_their_names() -> None:
    for name in (
        "request_tool_approval",
        "request_tool_execution_approval",
        "auto_approve_tool_if_low_risk",
        "wait_for_tool_approval",
        "get_pending_approvals",
        "approve_tool",
        "reject_tool",
    ):
        assert callable(getattr(ApprovalManager, name))
    assert callable(ToolExecutor.execute_tool)
    for name in ("StreamingClient", "ToolHandler", "CommandExecutor", "ApprovalDeniedError"):
        assert getattr(handrail, name).__name__ == name

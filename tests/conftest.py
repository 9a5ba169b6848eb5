"""What most tests stand on: a clock that stands still, a real store, a plane over it."""

import asyncio
import secrets
import shutil
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import pytest

from handrail.app.affairs import Affairs
from handrail.app.build_server import build_services
from handrail.bus.local import LocalBus
from handrail.core.access import Principal, Role, Token, hash_secret, new_secret
from handrail.core.audit import AuditRecord
from handrail.core.box import Isolation
from handrail.core.change import Add, Change
from handrail.core.ids import ClientId, ProjectId, TokenId, UserId, WorkspaceId, mint
from handrail.core.project import Autonomy, Client, Project, User, Workspace
from handrail.executors.sandbox.box import Programs
from handrail.executors.sandbox.probe import find_programs, prove
from handrail.server.services import Services
from handrail.store.migrate import migrate_sqlite
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.selection import pytest_collection_modifyitems as pytest_collection_modifyitems

# The tools that come with Handrail, in the order in which a model is told of them.
TOOL_NAMES = [
    "read_file",
    "write_file",
    "edit_file",
    "move_file",
    "delete_file",
    "list_directory",
    "search_code",
    "execute_command",
    "run_bash",
    "git",
    "apply_draft",
    "discard_draft",
    "show_draft",
    "memory_store",
    "memory_recall",
    "memory_forget",
    "skill",
    "http_request",
    "config",
    "self_info",
]


@pytest.fixture(scope="session")
def programs() -> Programs:
    found = find_programs()
    if found is None:
        pytest.skip("bubblewrap is not installed")
    return found


@pytest.fixture(scope="session")
def isolation(programs: Programs) -> Isolation:
    proven = prove(programs)
    if not proven.holds:
        pytest.skip(f"no box can be made on this machine: {proven.why_not}")
    return proven


@pytest.fixture(scope="session")
def needs_box(isolation: Isolation) -> None:
    """For what is only so on a machine where a box is proven."""


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def bus() -> LocalBus:
    return LocalBus()


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with all its tables and nothing in them; copied, it opens in no time."""
    file = tmp_path_factory.mktemp("empty") / "handrail.db"
    migrate_sqlite(file)
    return file


@pytest.fixture
async def store(tmp_path: Path, bus: LocalBus, empty_database: Path) -> AsyncGenerator[SqliteStore]:
    shutil.copy(empty_database, tmp_path / "handrail.db")
    made = SqliteStore(tmp_path / "handrail.db", bus)
    await made.open()
    yield made
    async with asyncio.timeout(10):
        await made.close()


@dataclass(frozen=True)
class Household:
    """One user with one project, one workspace, one client, one agent and one approver."""

    project: Project
    workspace: Workspace
    user: Principal
    client: Principal
    agent: Principal
    secrets: dict[Role, str]

    @property
    def client_id(self) -> ClientId:
        return ClientId(self.client.subject)


async def settle_in(store: SqliteStore, clock: FakeClock, name: str, root: str) -> Household:
    """Make a household known to the store."""
    at = clock.now()
    user_id = UserId(mint("usr", at))
    project = Project(
        ProjectId(mint("prj", at)), user_id, name, Autonomy.SUPERVISED, secrets.token_hex(8), at
    )
    workspace = Workspace(WorkspaceId(mint("wsp", at)), project.id, "here", root, at)
    client = Client(ClientId(mint("cli", at)), project.id, workspace.id, "here", at)
    user = Principal(Role.USER, user_id, user_id)
    others = {
        Role.CLIENT: Principal(Role.CLIENT, client.id, user_id, project.id, workspace.id),
        Role.AGENT: Principal(Role.AGENT, mint("agt", at), user_id, project.id, workspace.id),
        Role.APPROVER: Principal(Role.APPROVER, mint("apv", at), user_id, project.id),
    }
    words = {role: new_secret(role) for role in Role}
    tokens = [
        Add(
            Token(
                TokenId(mint("tok", at)),
                hash_secret(words[who.role]),
                who.role,
                who.subject,
                user_id,
                who.project_id,
                who.workspace_id,
                "test",
                at,
            )
        )
        for who in (user, *others.values())
    ]
    steps = (Add(User(user_id, name, at)), Add(project), Add(workspace), Add(client), *tokens)
    line = AuditRecord("project.created", user_id, project.id)
    await store.submit(Change(project.id, at, steps, audit=(line,)))
    return Household(project, workspace, user, others[Role.CLIENT], others[Role.AGENT], words)


@pytest.fixture
async def household(store: SqliteStore, clock: FakeClock, tmp_path: Path) -> Household:
    root = tmp_path / "workspace"
    root.mkdir()
    return await settle_in(store, clock, "ada", str(root))


@pytest.fixture
def services(store: SqliteStore, bus: LocalBus, clock: FakeClock) -> Services:
    return build_services(store, bus, clock, affairs=Affairs(store, clock, owner="ada"))

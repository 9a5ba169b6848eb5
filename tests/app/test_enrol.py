"""A folder is made known once, and found again."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest

from handrail.app.enrol import enrol
from handrail.app.home import Credentials, Home
from handrail.app.storage import open_store
from handrail.bus.local import LocalBus
from handrail.core.access import Principal, Role, hash_secret
from handrail.core.errors import SetupError
from handrail.core.ids import ProjectId
from handrail.core.ports import Store
from handrail.core.project import Autonomy
from handrail.testing import FakeClock

SERVER = "http://127.0.0.1:8000"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
async def store(home: Home) -> AsyncGenerator[Store]:
    async with open_store(home, LocalBus()) as opened:
        yield opened


async def principals(store: Store, known: Credentials) -> dict[Role, Principal]:
    found: dict[Role, Principal] = {}
    for secret in (known.user_token, known.client_token, known.agent_token):
        token = await store.find_token(hash_secret(secret))
        assert token is not None
        found[token.role] = token.principal
    return found


async def test_a_new_folder_gets_a_project_a_client_and_an_agent(
    store: Store, clock: FakeClock, home: Home, workspace: Path
) -> None:
    known = await enrol(store, clock, home, workspace, SERVER)

    project = await store.find_project(ProjectId(known.project_id))
    assert project is not None
    assert (project.name, project.autonomy) == ("my project", Autonomy.SUPERVISED)
    (place,) = await store.list_workspaces(project.id)
    (client,) = await store.list_clients(project.id)
    assert (place.root, client.workspace_id) == (str(workspace), place.id)
    who = await principals(store, known)
    assert who[Role.USER] == Principal(Role.USER, project.user_id, project.user_id)
    assert who[Role.CLIENT] == Principal(
        Role.CLIENT, client.id, project.user_id, project.id, place.id
    )
    assert who[Role.AGENT] == Principal(
        Role.AGENT, who[Role.AGENT].subject, project.user_id, project.id, place.id
    )
    (line,) = await store.read_audit(project.id, after=0, limit=9)
    assert (line.action, line.actor, line.subject) == (
        "project.created",
        project.user_id,
        project.id,
    )
    assert (known.server, known.workspace) == (SERVER, str(workspace))
    assert home.find_credentials(workspace) == known


async def test_a_folder_that_is_known_is_found_again(
    store: Store, clock: FakeClock, home: Home, workspace: Path
) -> None:
    first = await enrol(store, clock, home, workspace, SERVER)

    again = await enrol(store, clock, home, workspace / ".." / workspace.name, SERVER)

    assert again == first
    (user,) = {(await principals(store, first))[Role.USER].user_id}
    assert len(await store.list_projects(user)) == 1
    assert len(await store.read_audit(ProjectId(first.project_id), after=0, limit=9)) == 1


async def test_the_address_of_the_server_is_kept_up_to_date(
    store: Store, clock: FakeClock, home: Home, workspace: Path
) -> None:
    first = await enrol(store, clock, home, workspace, SERVER)

    moved = await enrol(store, clock, home, workspace, "http://127.0.0.1:9")

    assert moved.server == "http://127.0.0.1:9"
    assert moved.client_token == first.client_token
    assert home.find_credentials(workspace) == moved


async def test_two_folders_are_two_projects_of_one_person(
    store: Store, clock: FakeClock, home: Home, workspace: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()

    first = await enrol(store, clock, home, workspace, SERVER)
    second = await enrol(store, clock, home, other, SERVER)

    user = (await principals(store, first))[Role.USER].user_id
    assert (await principals(store, second))[Role.USER].user_id == user
    assert {project.id for project in await store.list_projects(user)} == {
        first.project_id,
        second.project_id,
    }
    assert home.find_credentials(workspace) == first


async def test_new_credentials_are_made_after_a_fresh_start_and_the_old_ones_are_kept(
    clock: FakeClock, home: Home, workspace: Path
) -> None:
    async with open_store(home, LocalBus()) as store:
        first = await enrol(store, clock, home, workspace, SERVER)
    joined = replace(first, workspace="/elsewhere", user_token="", agent_token="")
    home.save_credentials(joined)
    before = {file.name: file.read_bytes() for file in home.path.rglob("*") if file.is_file()}
    home.database.unlink()

    with pytest.raises(SetupError, match=r"is missing, but line 1 .* `handrail init --fresh`"):
        async with open_store(home, LocalBus()):
            pass
    aside = home.set_aside(clock.now())
    assert aside is not None
    kept = {file.name: file.read_bytes() for file in home.path.rglob("*") if file.is_file()}
    assert kept.items() >= {k: v for k, v in before.items() if k != "handrail.db"}.items()
    assert home.list_credentials() == [joined]
    assert aside.stat().st_mode & 0o777 == 0o700

    async with open_store(home, LocalBus()) as store:
        second = await enrol(store, clock, home, workspace, SERVER)
        who = await principals(store, second)

    assert second.project_id != first.project_id
    assert second.client_token != first.client_token
    assert set(who) == {Role.USER, Role.CLIENT, Role.AGENT}
    assert home.find_credentials(workspace) == second


async def test_secrets_are_not_kept_in_the_database(
    clock: FakeClock, home: Home, workspace: Path
) -> None:
    async with open_store(home, LocalBus()) as store:
        known = await enrol(store, clock, home, workspace, SERVER)

    kept = home.database.read_bytes()
    for secret in (known.user_token, known.client_token, known.agent_token):
        assert secret.encode() not in kept
        assert hash_secret(secret).encode() in kept


@pytest.mark.parametrize("kind", ["missing", "file"])
async def test_only_a_folder_can_be_worked_in(
    store: Store, clock: FakeClock, home: Home, tmp_path: Path, kind: str
) -> None:
    place = tmp_path / "place"
    if kind == "file":
        place.write_text("not a folder")

    with pytest.raises(SetupError, match=f"{place} is not a folder"):
        await enrol(store, clock, home, place, SERVER)

    assert list((home.path / "credentials").iterdir()) == []


async def test_a_folder_that_holds_handrails_own_is_refused(
    store: Store, clock: FakeClock, home: Home, tmp_path: Path
) -> None:
    inside = home.path / "credentials"
    link = tmp_path.with_name(f"{tmp_path.name}-link")
    link.symlink_to(tmp_path)

    for place in (home.path.parent, link, Path("/")):
        with pytest.raises(SetupError, match="contains Handrail's own folder"):
            await enrol(store, clock, home, place, SERVER)
    for place in (home.path, inside):
        with pytest.raises(SetupError, match="a folder of Handrail's own, with its database"):
            await enrol(store, clock, home, place, SERVER)

    assert list(inside.iterdir()) == []

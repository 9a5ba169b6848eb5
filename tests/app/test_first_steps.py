"""A folder is made known once, and a first call leaves nothing half."""

import asyncio
import json
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from handrail.app.audit import verify
from handrail.app.first_steps import HELLO, FirstCall, remove_hello, settle
from handrail.app.home import Home
from handrail.app.run_both import up, while_up
from handrail.app.settings import Settings
from handrail.app.storage import open_store
from handrail.bus.local import LocalBus
from handrail.core.approval import ApprovalStatus
from handrail.core.card import Card, Choice
from handrail.core.errors import SetupError
from handrail.core.ids import ProjectId
from handrail.testing import ScriptedPerson
from tests.app.conftest import running


async def test_a_folder_that_is_known_stays_as_it_is(settings: Settings, workspace: Path) -> None:
    first = await settle(settings, workspace)
    again = await settle(settings, workspace)

    assert (first.is_new, again.is_new) == (True, False)
    assert again.credentials == first.credentials
    assert first.credentials.server == "http://127.0.0.1:8000"
    assert (await verify(Home(settings.home), first.credentials.project_id)).broken is None


async def test_a_second_folder_is_told_of_the_server_that_runs(
    settings: Settings, workspace: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    async with running(up, settings, workspace) as known:
        assert Home(settings.home).is_served()
        settled = await settle(settings, other)
        again = await settle(settings, workspace)
    assert settled.credentials.server == known.server
    assert again.credentials == known
    assert not Home(settings.home).is_served()


async def test_what_cannot_be_a_workspace_is_refused(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="is not a folder"):
        await settle(settings, tmp_path / "nowhere")


async def test_a_first_call_that_is_approved_is_done(settings: Settings, workspace: Path) -> None:
    person = ScriptedPerson(Choice(approved=True))
    cards: list[Card] = []

    answer = await FirstCall(settings, workspace, person).make(cards.append)

    assert answer is not None
    assert answer["status"] == "completed"
    assert (workspace / HELLO).read_text() == "Hello from Handrail.\n"
    assert cards == person.cards
    remove_hello(workspace)
    assert {path.name for path in workspace.iterdir()} == {"README.md", ".handrail"}


async def test_a_first_call_that_is_refused_writes_nothing(
    settings: Settings, workspace: Path
) -> None:
    person = ScriptedPerson(Choice(approved=False, reason="not now"))
    answer = await FirstCall(settings, workspace, person).make(lambda card: None)
    assert answer is not None
    assert answer["status"] == "rejected"
    assert not (workspace / HELLO).exists()


def test_what_somebody_added_to_the_folder_stays(workspace: Path) -> None:
    (workspace / HELLO).parent.mkdir()
    (workspace / HELLO).touch()
    (workspace / HELLO).with_name("mine").touch()
    remove_hello(workspace)
    assert [path.name for path in (workspace / HELLO).parent.iterdir()] == ["mine"]
    remove_hello(workspace)


async def test_a_first_call_that_is_broken_off_leaves_no_question(
    settings: Settings, workspace: Path
) -> None:
    class Hesitating(ScriptedPerson):
        async def ask(self, card: Card) -> Choice | None:
            signal.raise_signal(signal.SIGINT)
            await asyncio.sleep(60)
            return None

    async with asyncio.timeout(20):
        answer = await FirstCall(settings, workspace, Hesitating()).make(lambda card: None)

    assert answer is None
    home = Home(settings.home)
    project_id = ProjectId(home.get_credentials(workspace).project_id)
    async with open_store(home, LocalBus()) as store:
        (question,) = await store.list_approvals(project_id, status=None, limit=9)
        (line,) = await store.list_executions(project_id, status=None, agent_id=None, limit=9)
    assert question.status is ApprovalStatus.WITHDRAWN
    assert line.status.is_final
    assert not (workspace / HELLO).exists()
    assert not home.is_served()


async def test_a_visit_that_fails_ends_the_server_in_good_order(
    settings: Settings, workspace: Path
) -> None:
    async def visit(known: object) -> None:
        raise SetupError("the visitor stumbled")

    async with asyncio.timeout(20):
        with pytest.raises(SetupError, match="the visitor stumbled"):
            await while_up(settings, workspace, visit)
    assert not Home(settings.home).is_served()
    sealed = next(Home(settings.home).checkpoints.iterdir()).read_text().splitlines()
    with closing(sqlite3.connect(Home(settings.home).database)) as database:
        (last,) = database.execute("SELECT max(seq) FROM audit").fetchone()
    assert json.loads(sealed[-1])["seq"] == last

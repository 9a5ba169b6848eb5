"""What every store promises about blobs: who holds one, and who may have it."""

from datetime import timedelta
from typing import Any

import pytest

from handrail.core.blob import Blob, BlobHold, Purpose
from handrail.core.change import Advance, Change, KeepBlob, LetBlobGo, UseBlob
from handrail.core.errors import ChangeRefused
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import ProjectId
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.contracts.conftest import a_call, moving, opening

BLOB = Blob("0123456789abcdef" * 4, 2_000_000)


@pytest.fixture
async def home(store: SqliteStore, clock: FakeClock) -> Household:
    return await settle_in(store, clock, "ada", "/home/ada")


def a_hold(home: Household, **fields: Any) -> BlobHold:
    """What the household's agent has uploaded."""
    values: dict[str, Any] = {
        "project_id": home.project.id,
        "sha256": BLOB.sha256,
        "size": BLOB.size,
        "holder": home.agent.subject,
        "purpose": Purpose.UPLOAD,
        "created_at": home.project.created_at,
    }
    return BlobHold(**(values | fields))


async def submit(store: SqliteStore, home: Household, *steps: Any) -> None:
    await store.submit(Change(home.project.id, home.project.created_at, steps))


async def open_call(store: SqliteStore, home: Household, **fields: Any) -> ToolExecution:
    call = a_call(home, **fields)
    await store.submit(opening(call, home))
    return call


async def end(store: SqliteStore, call: ToolExecution) -> None:
    after = call.advance(Status.FAILED, call.created_at, error="over")
    await store.submit(moving(Advance(call, after)))


async def idle(store: SqliteStore, home: Household, hours: float = 0) -> list[BlobHold]:
    return await store.list_idle_holds(home.project.created_at + timedelta(hours=hours))


async def test_an_agent_has_what_it_uploaded(store: SqliteStore, home: Household) -> None:
    await submit(store, home, KeepBlob(a_hold(home)))
    found = await store.find_blob(home.project.id, BLOB.sha256, agent_id=home.agent.subject)
    assert found == BLOB
    assert await store.find_blob(home.project.id, BLOB.sha256, agent_id=None) == BLOB


async def test_an_agent_does_not_have_what_another_uploaded(
    store: SqliteStore, home: Household
) -> None:
    await submit(store, home, KeepBlob(a_hold(home)))
    assert await store.find_blob(home.project.id, BLOB.sha256, agent_id="agt_other") is None


async def test_no_blob_is_found_in_another_project(store: SqliteStore, home: Household) -> None:
    await submit(store, home, KeepBlob(a_hold(home)))
    assert await store.find_blob(ProjectId("prj_2"), BLOB.sha256, agent_id=None) is None


async def test_an_agent_has_what_its_calls_gave_back_and_no_other(
    store: SqliteStore, home: Household
) -> None:
    call = await open_call(store, home)
    await submit(store, home, KeepBlob(a_hold(home, holder=home.client.subject)))
    await submit(store, home, UseBlob(a_hold(home, holder=call.id, purpose=Purpose.RESULT)))
    found = await store.find_blob(home.project.id, BLOB.sha256, agent_id=home.agent.subject)
    assert found == BLOB
    assert await store.find_blob(home.project.id, BLOB.sha256, agent_id="agt_other") is None


async def test_a_call_cannot_name_a_blob_that_is_not_there(
    store: SqliteStore, home: Household
) -> None:
    call = await open_call(store, home)
    use = UseBlob(a_hold(home, holder=call.id, purpose=Purpose.PARAMS), home.agent.subject)
    with pytest.raises(ChangeRefused):
        await submit(store, home, use)


@pytest.mark.parametrize(
    ("agent", "size"), [("agt_other", BLOB.size), (None, BLOB.size + 1)], ids=["other", "size"]
)
async def test_a_call_names_a_blob_of_its_agent_by_its_true_size(
    store: SqliteStore, home: Household, agent: str | None, size: int
) -> None:
    await submit(store, home, KeepBlob(a_hold(home)))
    hold = a_hold(home, holder="exe_1", purpose=Purpose.PARAMS)
    wrong = a_hold(home, holder="exe_1", purpose=Purpose.PARAMS, size=size)
    with pytest.raises(ChangeRefused):
        await submit(store, home, UseBlob(wrong, agent or home.agent.subject))
    await submit(store, home, UseBlob(hold, home.agent.subject))


async def test_a_parameter_is_idle_once_its_call_has_ended(
    store: SqliteStore, home: Household
) -> None:
    call = await open_call(store, home)
    upload = a_hold(home)
    param = a_hold(home, holder=call.id, purpose=Purpose.PARAMS)
    await submit(store, home, KeepBlob(upload), UseBlob(param, home.agent.subject))
    assert await idle(store, home) == []
    await end(store, call)
    assert set(await idle(store, home)) == {upload, param}


async def test_what_is_uploaded_again_for_a_later_call_is_not_idle(
    store: SqliteStore, home: Household
) -> None:
    call = await open_call(store, home)
    param = a_hold(home, holder=call.id, purpose=Purpose.PARAMS)
    await submit(store, home, KeepBlob(a_hold(home)), UseBlob(param, home.agent.subject))
    await end(store, call)
    later = home.project.created_at + timedelta(seconds=1)
    await submit(store, home, KeepBlob(a_hold(home, created_at=later)))
    assert await idle(store, home) == [param]


async def test_an_upload_nobody_used_is_idle_after_its_time(
    store: SqliteStore, home: Household
) -> None:
    await submit(store, home, KeepBlob(a_hold(home)))
    assert await idle(store, home) == []
    assert await idle(store, home, hours=1) == [a_hold(home)]


async def test_a_result_is_never_idle(store: SqliteStore, home: Household) -> None:
    call = await open_call(store, home)
    result = a_hold(home, holder=call.id, purpose=Purpose.RESULT)
    await submit(store, home, KeepBlob(a_hold(home)), UseBlob(result))
    await end(store, call)
    assert await idle(store, home, hours=1) == [a_hold(home)]


async def test_an_upload_that_came_anew_is_not_let_go(store: SqliteStore, home: Household) -> None:
    later = home.project.created_at + timedelta(seconds=1)
    await submit(store, home, KeepBlob(a_hold(home)))
    await submit(store, home, KeepBlob(a_hold(home, created_at=later)))
    await submit(store, home, LetBlobGo(a_hold(home)))
    assert await store.find_blob(home.project.id, BLOB.sha256, agent_id=None) == BLOB
    await submit(store, home, LetBlobGo(a_hold(home, created_at=later)))
    assert await store.find_blob(home.project.id, BLOB.sha256, agent_id=None) is None


async def test_uploads_are_weighed_for_each_who_uploads(
    store: SqliteStore, home: Household
) -> None:
    other = "f" * 64
    await submit(
        store,
        home,
        KeepBlob(a_hold(home)),
        KeepBlob(a_hold(home, sha256=other, size=7)),
        KeepBlob(a_hold(home, holder="agt_other", size=100)),
    )
    assert await store.weigh_uploads(home.project.id, home.agent.subject) == BLOB.size + 7
    assert await store.weigh_uploads(home.project.id, "agt_nobody") == 0

"""Large payloads on their way through the plane."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from handrail.core.access import Principal
from handrail.core.blob import Blob
from handrail.core.errors import BadInput, Conflict, NotFound, TooLarge
from handrail.core.execution import Status, ToolExecution
from handrail.plane import blobs as module
from handrail.plane.results import Report
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household
from tests.plane.conftest import a_read, a_write, all_tables, at_the, handed_out, now_of

CONTENT = b"a canary sings: hunter2\n" * 50_000
SHA = hashlib.sha256(CONTENT).hexdigest()
BLOB = Blob(SHA, len(CONTENT))


async def whole(data: bytes) -> AsyncGenerator[bytes]:
    yield data


async def upload(
    services: Services, home: Household, sender: Principal, data: bytes = CONTENT
) -> Blob:
    sha256 = hashlib.sha256(data).hexdigest()
    return await services.blobs.put(home.project.id, sha256, whole(data), sender)


async def read(services: Services, home: Household, reader: Principal) -> bytes:
    _, pieces = await services.blobs.open(home.project.id, SHA, reader)
    return b"".join([piece async for piece in pieces])


async def write_uploaded(
    services: Services, home: Household, call_id: str = "call-1", **reference: Any
) -> ToolExecution:
    params: dict[str, Any] = {"path": "a.txt", "content": BLOB.as_json() | reference}
    call = a_read(home, call_id, tool_name="write_file", **params)
    return await services.executor.propose(call, home.agent)


def blobs_in(folder: Path) -> list[str]:
    return [file.name for file in (folder / "blobs").glob("*/*")]


async def end(services: Services, home: Household, execution: ToolExecution) -> None:
    await services.stopper.cancel(execution.id, at_the("console", home), reason=None)


async def test_a_call_names_what_its_agent_uploaded(
    services: Services, household: Household
) -> None:
    await upload(services, household, household.agent)
    execution = await write_uploaded(services, household)
    assert execution.status is Status.AWAITING_APPROVAL
    assert execution.tool_params == {"path": "a.txt", "content": BLOB.as_json()}


async def test_a_call_cannot_name_what_nobody_uploaded(
    services: Services, household: Household
) -> None:
    with pytest.raises(BadInput, match="is not here; upload it first"):
        await write_uploaded(services, household)


async def test_a_call_cannot_name_what_another_agent_uploaded(
    services: Services, household: Household
) -> None:
    other = replace(household.agent, subject="agt_other")
    await upload(services, household, other)
    with pytest.raises(BadInput, match="is not here"):
        await write_uploaded(services, household)


async def test_a_call_names_a_blob_by_its_true_size(
    services: Services, household: Household
) -> None:
    await upload(services, household, household.agent)
    with pytest.raises(BadInput, match="has 1,200,000 bytes, not 5"):
        await write_uploaded(services, household, size=5)


async def test_long_content_is_put_away_as_if_it_had_been_uploaded(
    services: Services, household: Household, tmp_path: Path
) -> None:
    call = a_write(household, path="a.txt", content=CONTENT.decode())
    execution = await services.executor.propose(call, household.agent)
    assert execution.tool_params["content"] == BLOB.as_json()
    assert "hunter2" not in all_tables(tmp_path)
    assert blobs_in(tmp_path) == [SHA]


async def test_asking_again_for_a_call_that_has_ended_gives_the_same_execution(
    services: Services, household: Household, tmp_path: Path
) -> None:
    await upload(services, household, household.agent)
    execution = await write_uploaded(services, household)
    await end(services, household, execution)
    await services.blobs.tidy_up()
    assert blobs_in(tmp_path) == []
    again = await write_uploaded(services, household)
    assert again.id == execution.id


async def test_content_is_erased_when_its_call_has_ended(
    services: Services, household: Household, tmp_path: Path
) -> None:
    await upload(services, household, household.agent)
    execution = await write_uploaded(services, household)
    await services.blobs.tidy_up()
    assert blobs_in(tmp_path) == [SHA]
    await end(services, household, execution)
    await services.blobs.tidy_up()
    assert blobs_in(tmp_path) == []


async def test_content_stays_while_a_second_call_needs_it(
    services: Services, household: Household, tmp_path: Path
) -> None:
    await upload(services, household, household.agent)
    first = await write_uploaded(services, household, "call-1")
    second = await write_uploaded(services, household, "call-2")
    await end(services, household, first)
    await services.blobs.tidy_up()
    assert await read(services, household, household.client) == CONTENT
    await end(services, household, second)
    await services.blobs.tidy_up()
    assert blobs_in(tmp_path) == []


async def test_an_upload_that_no_call_names_is_removed_after_an_hour(
    services: Services, household: Household, clock: FakeClock, tmp_path: Path
) -> None:
    await upload(services, household, household.agent)
    clock.advance(3599)
    await services.blobs.tidy_up()
    assert blobs_in(tmp_path) == [SHA]
    clock.advance(2)
    await services.blobs.tidy_up()
    assert blobs_in(tmp_path) == []


async def test_what_a_crash_left_behind_is_removed(
    services: Services, household: Household, tmp_path: Path
) -> None:
    stray = tmp_path / "blobs" / household.project.id / ("f" * 64)
    stray.parent.mkdir(parents=True)
    stray.write_bytes(b"x")
    draft = tmp_path / "blobs" / "0123.draft"
    draft.write_bytes(b"x")
    await services.blobs.tidy_up()
    assert blobs_in(tmp_path) == []
    assert not draft.exists()


async def test_what_comes_in_is_not_tidied_away(
    services: Services, household: Household, store: SqliteStore, clock: FakeClock
) -> None:
    """The same content is let go by one call while it is sent for another."""
    await upload(services, household, household.agent)
    clock.advance(3601)

    async def slowly() -> AsyncGenerator[bytes]:
        yield CONTENT
        await services.blobs.tidy_up()

    await services.blobs.put(household.project.id, SHA, slowly(), household.client)
    assert await read(services, household, household.client) == CONTENT


async def test_uploads_and_tidying_side_by_side_lose_nothing(
    services: Services, household: Household, clock: FakeClock
) -> None:
    for _ in range(20):
        clock.advance(3601)
        await asyncio.gather(
            services.blobs.tidy_up(),
            upload(services, household, household.agent),
            services.blobs.tidy_up(),
        )
        assert await read(services, household, household.agent) == CONTENT


async def test_a_result_is_its_agents_and_no_other_agents(
    services: Services, household: Household
) -> None:
    execution = await handed_out(services, household)
    await upload(services, household, household.client)
    report = Report(
        execution_id=execution.id,
        status=Status.COMPLETED,
        result={"success": True, "content": BLOB.as_json()},
    )
    await services.receiver.accept(report, household.client, household.project.id)
    assert await read(services, household, household.agent) == CONTENT
    assert await read(services, household, household.user) == CONTENT
    with pytest.raises(NotFound):
        await read(services, household, replace(household.agent, subject="agt_other"))


async def test_a_result_outlasts_its_upload(
    services: Services, household: Household, clock: FakeClock
) -> None:
    execution = await handed_out(services, household)
    await upload(services, household, household.client)
    report = Report(
        execution_id=execution.id,
        status=Status.COMPLETED,
        result={"success": True, "content": BLOB.as_json()},
    )
    await services.receiver.accept(report, household.client, household.project.id)
    clock.advance(24 * 3600)
    await services.blobs.tidy_up()
    assert await read(services, household, household.agent) == CONTENT


async def test_the_oldest_results_go_when_a_project_holds_too_much(
    services: Services, household: Household, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_RESULT_BYTES", 3 * BLOB.size)
    shas: list[str] = []
    for number in range(5):
        clock.advance(1)
        execution = await handed_out(services, household, f"call-{number}")
        blob = await upload(services, household, household.client, CONTENT + b"%d" % number)
        report = Report(
            execution_id=execution.id,
            status=Status.COMPLETED,
            result={"success": True, "content": blob.as_json()},
        )
        await services.receiver.accept(report, household.client, household.project.id)
        shas.append(blob.sha256)
    clock.advance(3601)
    await services.blobs.tidy_up()
    found = [
        await services.store.find_blob(household.project.id, sha256, agent_id=None)
        for sha256 in shas
    ]
    assert [blob is None for blob in found] == [True, True, True, False, False]


async def test_a_result_cannot_name_what_is_not_there(
    services: Services, household: Household, store: SqliteStore
) -> None:
    execution = await handed_out(services, household)
    report = Report(
        execution_id=execution.id,
        status=Status.COMPLETED,
        result={"success": True, "content": BLOB.as_json()},
    )
    with pytest.raises(BadInput, match="is not here"):
        await services.receiver.accept(report, household.client, household.project.id)
    assert (await now_of(store, execution.id)).status is Status.EXECUTING


async def test_little_is_not_taken_as_a_blob(
    services: Services, household: Household, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match="1,000,000 bytes are sent as they are"):
        await upload(services, household, household.agent, b"x" * 1_000_000)
    await services.blobs.tidy_up()
    assert blobs_in(tmp_path) == []


async def test_nobody_fills_the_disk_with_what_no_call_uses(
    services: Services, household: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_UPLOADED_BYTES", 2_000_000)
    await upload(services, household, household.agent)
    await upload(services, household, household.agent, CONTENT + b"2")
    with pytest.raises(TooLarge, match="were uploaded already"):
        await upload(services, household, household.agent, CONTENT + b"3")
    await upload(services, household, household.client, CONTENT + b"3")


async def test_one_sender_has_few_uploads_under_way(
    services: Services, household: Household
) -> None:
    may_end = asyncio.Event()

    async def slowly() -> AsyncGenerator[bytes]:
        yield CONTENT
        await may_end.wait()

    async with asyncio.TaskGroup() as group:
        for _ in range(module.MOST_AT_ONCE):
            group.create_task(
                services.blobs.put(household.project.id, SHA, slowly(), household.agent)
            )
        await asyncio.sleep(0.05)
        with pytest.raises(Conflict, match="uploads are running already"):
            await upload(services, household, household.agent)
        await upload(services, household, household.client)
        may_end.set()
    await upload(services, household, household.agent)

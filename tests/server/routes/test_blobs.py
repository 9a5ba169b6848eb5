"""Uploading and downloading what is too large for JSON."""

import asyncio
import hashlib
import io
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from handrail.core.access import Role
from handrail.policy.validators.sizes import SizeLimiter
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.server.conftest import Answer, Caller, a_write, add_token, base

BAD_INPUT = (400, "urn:handrail:bad-input")
UNAUTHENTICATED = (401, "urn:handrail:unauthenticated")
NOT_FOUND = (404, "urn:handrail:not-found")
TOO_LARGE = (413, "urn:handrail:too-large")

CONTENT = b"all work and no play\n" * 60_000
SHA = hashlib.sha256(CONTENT).hexdigest()


async def put(
    caller: Caller,
    home: Household,
    token: str,
    data: bytes = CONTENT,
    sha256: str = SHA,
) -> Answer:
    return await caller.ask("PUT", f"{base(home)}/blobs/{sha256}", token, data=io.BytesIO(data))


async def get(caller: Caller, home: Household, token: str, sha256: str = SHA) -> Answer:
    return await caller.ask("GET", f"{base(home)}/blobs/{sha256}", token)


@pytest.mark.parametrize("role", [Role.USER, Role.CLIENT, Role.AGENT])
async def test_whoever_uploads_has_it_back(
    caller: Caller, household: Household, role: Role
) -> None:
    stored = await put(caller, household, household.secrets[role])
    assert stored.body == {"success": True, "blob": SHA, "size": len(CONTENT)}
    found = await get(caller, household, household.secrets[role])
    assert found.body == CONTENT
    assert found.headers["content-length"] == str(len(CONTENT))


async def test_uploading_again_is_harmless(caller: Caller, household: Household) -> None:
    for _ in range(2):
        assert (await put(caller, household, household.secrets[Role.AGENT])).status == 200
    assert (await get(caller, household, household.secrets[Role.AGENT])).body == CONTENT


async def test_no_browser_shows_it_as_a_page(caller: Caller, household: Household) -> None:
    await put(caller, household, household.secrets[Role.USER])
    found = await get(caller, household, household.secrets[Role.USER])
    assert found.media_type == "application/octet-stream"
    assert found.headers["x-content-type-options"] == "nosniff"
    assert found.headers["content-disposition"] == "attachment"
    assert found.headers["content-security-policy"] == "default-src 'none'; sandbox"


async def test_a_call_names_it(caller: Caller, household: Household) -> None:
    agent = household.secrets[Role.AGENT]
    await put(caller, household, agent)
    params = {"path": "a.txt", "content": {"blob": SHA, "size": len(CONTENT)}}
    body = a_write() | {"tool_params": params}
    asked = await caller.ask("POST", f"{base(household)}/tools/execute", agent, json=body)
    assert asked.body["status"] == "awaiting_approval"
    assert asked.body["tool_params"] == params


async def test_a_call_that_names_what_is_not_there_is_told_what_to_do(
    caller: Caller, household: Household
) -> None:
    params = {"path": "a.txt", "content": {"blob": SHA, "size": len(CONTENT)}}
    body = a_write() | {"tool_params": params}
    agent = household.secrets[Role.AGENT]
    asked = await caller.ask("POST", f"{base(household)}/tools/execute", agent, json=body)
    assert asked.problem == BAD_INPUT
    assert "upload it first" in asked.body["detail"]


async def test_one_agent_does_not_have_what_another_uploaded(
    caller: Caller, household: Household, store: SqliteStore
) -> None:
    await put(caller, household, household.secrets[Role.AGENT])
    other = await add_token(store, household, subject="agt_other")
    assert (await get(caller, household, other)).problem == NOT_FOUND


async def test_another_persons_project_does_not_have_it(
    caller: Caller, household: Household, store: SqliteStore, clock: FakeClock
) -> None:
    stranger = await settle_in(store, clock, "eve", "/home/eve")
    await put(caller, household, household.secrets[Role.AGENT])
    for role in (Role.USER, Role.CLIENT, Role.AGENT):
        assert (await get(caller, stranger, stranger.secrets[role])).problem == NOT_FOUND
        assert (await get(caller, household, stranger.secrets[role])).problem == NOT_FOUND
        assert (await put(caller, household, stranger.secrets[role])).problem == NOT_FOUND


async def test_without_a_token_nothing_is_taken(
    caller: Caller, household: Household, tmp_path: Path
) -> None:
    assert (await put(caller, household, "hr_user_wrong")).problem == UNAUTHENTICATED
    assert not (tmp_path / "blobs").exists()


@pytest.mark.parametrize("name", ["0" * 63, SHA.upper(), "..", "%2e%2e", "x" * 64, SHA + "%0a"])
async def test_a_name_that_is_no_hash_is_refused(
    caller: Caller, household: Household, name: str
) -> None:
    for answer in (
        await put(caller, household, household.secrets[Role.USER], sha256=name),
        await get(caller, household, household.secrets[Role.USER], sha256=name),
    ):
        assert answer.problem in (BAD_INPUT, NOT_FOUND, (405, "urn:handrail:method-not-allowed"))


async def test_content_of_another_hash_is_refused(caller: Caller, household: Household) -> None:
    answer = await put(caller, household, household.secrets[Role.USER], CONTENT + b"x")
    assert answer.problem == BAD_INPUT
    assert "the content's hash is" in answer.body["detail"]
    assert (await get(caller, household, household.secrets[Role.USER])).problem == NOT_FOUND


async def test_what_is_announced_too_large_is_not_even_begun(
    caller: Caller, household: Household, tmp_path: Path
) -> None:
    async def endless() -> AsyncGenerator[bytes]:
        yield b"x"
        await asyncio.sleep(60)

    most = SizeLimiter().max_blob_bytes
    answer = await caller.ask(
        "PUT",
        f"{base(household)}/blobs/{SHA}",
        household.secrets[Role.USER],
        headers={"content-length": str(most + 1)},
        data=endless(),
    )
    assert answer.problem == TOO_LARGE
    assert not (tmp_path / "blobs").exists()


async def test_little_is_told_to_come_as_it_is(caller: Caller, household: Household) -> None:
    little = b"hello"
    answer = await put(
        caller,
        household,
        household.secrets[Role.USER],
        little,
        hashlib.sha256(little).hexdigest(),
    )
    assert answer.problem == BAD_INPUT
    assert "are sent as they are" in answer.body["detail"]


async def test_a_result_that_names_what_is_not_there_is_refused(
    caller: Caller, household: Household
) -> None:
    async with caller.listen(household, household.secrets[Role.CLIENT]):
        body: dict[str, Any] = {
            "tool_name": "read_file",
            "tool_params": {"path": "a"},
            "session_id": "s",
            "call_id": "c",
        }
        asked = await caller.ask(
            "POST", f"{base(household)}/tools/execute", household.secrets[Role.AGENT], json=body
        )
    content = {"blob": SHA, "size": len(CONTENT)}
    answer = await caller.ask(
        "POST",
        f"{base(household)}/tools/{asked.body['tool_id']}/result",
        household.secrets[Role.CLIENT],
        json={"status": "completed", "result": {"success": True, "content": content}},
    )
    assert answer.problem == BAD_INPUT

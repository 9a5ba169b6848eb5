"""What is too large for an event or a report, between a client and a real server."""

import hashlib
import os
from collections.abc import AsyncGenerator
from functools import partial
from typing import Any

import pytest

from handrail.client.api import HandrailApi
from handrail.client.blobs import ClientBlobs
from handrail.core.access import Role
from handrail.core.blob import Blob
from handrail.core.errors import ErrorType, FileOperationError
from handrail.core.tool import ToolResult
from handrail.policy.validators.sizes import SizeLimiter
from handrail.server.services import Services
from tests.conftest import Household
from tests.server.conftest import serving

LONG = "häßlich und lang\n" * 80_000


@pytest.fixture
async def api(services: Services, household: Household) -> AsyncGenerator[HandrailApi]:
    async with (
        serving(services) as address,
        HandrailApi(address, household.project.id, household.secrets[Role.CLIENT]) as opened,
    ):
        yield opened


def a_result(**fields: Any) -> ToolResult:
    return ToolResult(True, "shown", fields)


async def test_a_long_text_is_put_away_and_can_be_fetched(api: HandrailApi) -> None:
    blobs = ClientBlobs(api)
    result = await blobs.put_away(a_result(content=LONG, size=5))
    data = LONG.encode()
    blob = Blob(hashlib.sha256(data).hexdigest(), len(data))
    assert result == a_result(content=blob.as_json(), size=5)
    assert await blobs.fetch(blob) == data


@pytest.mark.parametrize(
    "content",
    ["x" * 1_000_000, "é" * 500_000, "short", 5, None, ["x" * 2_000_000]],
    ids=["ascii", "two-bytes", "short", "number", "nothing", "list"],
)
async def test_what_is_not_a_long_text_stays_where_it_is(api: HandrailApi, content: Any) -> None:
    assert await ClientBlobs(api).put_away(a_result(content=content)) == a_result(content=content)


async def test_names_that_are_not_utf_8_are_sent_as_escapes(api: HandrailApi) -> None:
    blobs = ClientBlobs(api)
    text = os.fsdecode(b"\xff") + "x" * 1_000_000
    result = await blobs.put_away(a_result(content=text))
    fetched = await blobs.fetch(Blob(*result.fields["content"].values()))
    assert fetched == b"\\udcff" + b"x" * 1_000_000


async def test_what_the_server_does_not_take_is_a_failure_in_words(
    api: HandrailApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    smaller = partial(SizeLimiter, max_blob_bytes=1_000_001)
    monkeypatch.setattr("handrail.plane.blobs.SizeLimiter", smaller)
    result = await ClientBlobs(api).put_away(a_result(content=LONG))
    assert result.error_type is ErrorType.INTERNAL
    assert result.error is not None
    assert "could not be delivered: this is more than" in result.error


async def test_what_is_not_there_is_told_in_words(api: HandrailApi) -> None:
    with pytest.raises(FileOperationError, match="could not be fetched: there is no blob"):
        await ClientBlobs(api).fetch(Blob("0" * 64, 5))


async def test_other_content_than_was_named_is_not_taken(api: HandrailApi) -> None:
    class Liar(HandrailApi):
        async def get_blob(self, blob: Blob) -> bytes:
            return b"something else"

    with pytest.raises(FileOperationError, match="is not the content that was approved"):
        await ClientBlobs(Liar("", "", "")).fetch(Blob("0" * 64, 14))

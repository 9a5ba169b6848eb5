"""Finding the question that a person means."""

from contextlib import suppress
from typing import Annotated, Any

import typer

from handrail.cli.ids import find_by_end
from handrail.client.api import ApiError, HandrailApi

Id = Annotated[str, typer.Argument(metavar="ID", help="The id of the question, or the end of it.")]
CHANNEL = "command-line"
# The most that the server lists at once.
MOST = 1000


async def find_question(api: HandrailApi, wanted: str) -> dict[str, Any]:
    """The question with this id, or the one open question whose id ends like this."""
    if wanted.startswith("apr_"):
        return await api.get(f"/approvals/{wanted}")
    answer = await api.get("/approvals", status="pending", limit=MOST)
    return find_by_end(answer["approvals"], "approval_id", wanted, "open question")


async def in_full(api: HandrailApi, found: dict[str, Any]) -> dict[str, Any]:
    """The question with nothing masked; its digest approves it."""
    if not found["masked"]:
        return found
    return await api.get(f"/approvals/{found['approval_id']}/unmasked")


async def in_full_if_possible(api: HandrailApi, found: dict[str, Any]) -> dict[str, Any]:
    with suppress(ApiError):
        return await in_full(api, found)
    return found

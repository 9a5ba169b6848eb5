"""ClientBlobs: what is too large for an event or a report travels apart from it."""

import asyncio
import hashlib
from dataclasses import replace

from handrail.client.api import ApiError, HandrailApi, ServerUnreachable
from handrail.client.listening import Pauses
from handrail.core.blob import INLINE_BYTES, Blob
from handrail.core.errors import ErrorType, FileOperationError
from handrail.core.tool import ToolResult


class ClientBlobs:
    def __init__(self, api: HandrailApi):
        self._api = api

    async def fetch(self, blob: Blob) -> bytes:
        try:
            data = await self._api.get_blob(blob)
        except (ApiError, ServerUnreachable) as error:
            raise FileOperationError(
                f"the content could not be fetched: {error.message}"
            ) from error
        if await asyncio.to_thread(_describe, data) != blob:
            raise FileOperationError(
                "the content that arrived is not the content that was approved"
            )
        return data

    async def put_away(self, result: ToolResult) -> ToolResult:
        """The result with its long texts as blobs; uploads until the server has them."""
        long = {name: value for name, value in result.fields.items() if _is_long(value)}
        if not long:
            return result
        try:
            blobs = {name: (await self._upload(text)).as_json() for name, text in long.items()}
        except ApiError as error:
            return ToolResult.failed(
                f"the result could not be delivered: {error.message}", ErrorType.INTERNAL
            )
        return replace(result, fields={**result.fields, **blobs})

    async def _upload(self, text: str) -> Blob:
        data = text.encode(errors="backslashreplace")
        blob = await asyncio.to_thread(_describe, data)
        pauses = Pauses()
        while True:
            try:
                await self._api.put_blob(blob, data)
            except ServerUnreachable:
                await pauses.sleep()
            else:
                return blob


def _describe(data: bytes) -> Blob:
    return Blob(hashlib.sha256(data).hexdigest(), len(data))


def _is_long(value: object) -> bool:
    # A character is at most four bytes: most texts need not be encoded to know.
    return (
        isinstance(value, str)
        and len(value) * 4 > INLINE_BYTES
        and len(value.encode(errors="backslashreplace")) > INLINE_BYTES
    )

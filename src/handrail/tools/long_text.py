"""Text that may have come as a blob: as a parameter it is one or the other."""

import asyncio
from typing import Annotated

from pydantic import PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from handrail.core.blob import Blob, as_blob
from handrail.core.errors import ErrorType, ToolError
from handrail.core.hands import Hands
from handrail.tools.encoding import decode_text


def _text_or_blob(value: object) -> str | Blob:
    found = value if isinstance(value, str | Blob) else as_blob(value)
    if found is None:
        raise PydanticCustomError("string_type", "Input should be a valid string")
    return found


# Models are told of text alone: blobs are made by programs, of what is too long.
LongText = Annotated[str | Blob, PlainValidator(_text_or_blob), WithJsonSchema({"type": "string"})]


class NotText(ToolError):
    """What was uploaded in the place of a text is none."""

    error_type = ErrorType.VALIDATION


async def fetch_text(blob: Blob, hands: Hands) -> str:
    data = await hands.blobs.fetch(blob)
    text = await asyncio.to_thread(decode_text, data, "utf-8")
    if text is None:
        raise NotText("the uploaded content is binary, or not UTF-8")
    return text

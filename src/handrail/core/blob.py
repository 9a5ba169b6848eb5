"""Blobs: payloads too large for a row. A row names one by its hash, and holds on to it."""

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple, cast

from handrail.core.ids import ProjectId
from handrail.core.tool import JsonObject

# Up to here a text stays where it is.
INLINE_BYTES = 1_000_000

_SHA256 = re.compile(r"[0-9a-f]{64}")
_FIELDS = {"blob", "size"}


class Blob(NamedTuple):
    sha256: str
    size: int

    def as_json(self) -> dict[str, Any]:
        """What stands in the place of the text."""
        return {"blob": self.sha256, "size": self.size}


class Purpose(StrEnum):
    """Why a blob is kept: it was sent ahead, a call is about it, or it is what a call gave back."""

    UPLOAD = "upload"
    PARAMS = "params"
    RESULT = "result"


@dataclass(frozen=True, slots=True)
class BlobHold:
    """A reason to keep a blob. One that nobody holds any more is removed.

    `holder` is who uploaded it, or the execution whose parameter or result it is.
    """

    project_id: ProjectId
    sha256: str
    size: int
    holder: str
    purpose: Purpose
    created_at: datetime

    @property
    def blob(self) -> Blob:
        return Blob(self.sha256, self.size)


def is_sha256(text: str) -> bool:
    return _SHA256.fullmatch(text) is not None


def find_blobs(values: JsonObject | None) -> frozenset[Blob]:
    """The blobs that parameters or a result name."""
    found = map(as_blob, (values or {}).values())
    return frozenset(blob for blob in found if blob is not None)


def as_blob(value: object) -> Blob | None:
    """The blob that stands in the place of a text, if one does."""
    if not isinstance(value, dict):
        return None
    fields = cast(dict[str, Any], value)
    if fields.keys() != _FIELDS:
        return None
    sha256, size = fields["blob"], fields["size"]
    is_one = isinstance(sha256, str) and is_sha256(sha256) and type(size) is int and size >= 0
    return Blob(sha256, size) if is_one else None

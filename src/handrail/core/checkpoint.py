"""A signed word about how far a record had come.

Kept where the database is not: whoever rewrites the one, cuts it short or puts an old copy in its
place is contradicted by the other.
"""

import json
from datetime import datetime
from typing import Any, NamedTuple, Protocol, cast

from handrail.core.audit import AuditEntry, AuditHead, canonical
from handrail.core.errors import BrokenRecord
from handrail.core.ids import ProjectId

# What a person or a program needs to see of a key to tell it from another.
_SHOWN_OF_A_KEY = 16
_TYPES: dict[str, type] = {
    "project_id": str, "number": int, "seq": int, "hash": str, "at": str, "key": str,
    "signature": str,
}  # fmt: skip


class Signed(Protocol):
    """A text with the public key and the signature that vouch for it."""

    @property
    def key(self) -> str: ...

    @property
    def signature(self) -> str: ...

    @property
    def words(self) -> bytes: ...


class Checkpoint(NamedTuple):
    """`number` counts the checkpoints of a project, so that none can be taken out unnoticed.

    One that is made for an export stands alone and has number 0.
    """

    project_id: ProjectId
    number: int
    seq: int
    hash: str
    at: datetime
    key: str
    signature: str = ""

    @property
    def head(self) -> AuditHead:
        return AuditHead(self.seq, self.hash)

    @property
    def words(self) -> bytes:
        """What is signed: everything but the signature; no part can hold a line feed."""
        parts = ("handrail checkpoint 1", *self[:4], self.at.isoformat(), self.key)
        return "\n".join(map(str, parts)).encode()


def write_checkpoint(checkpoint: Checkpoint) -> str:
    """One line of JSON, without its end."""
    return canonical({**checkpoint._asdict(), "at": checkpoint.at.isoformat()})


def read_checkpoint(line: str | bytes) -> Checkpoint:
    """Raises BrokenRecord for a line that was not written here."""
    try:
        known: Any = json.loads(line)
        if {name: type(value) for name, value in known.items()} != _TYPES:
            raise BrokenRecord("a checkpoint is incomplete")
        known["at"] = datetime.fromisoformat(known["at"])
    except (ValueError, AttributeError, RecursionError) as error:
        raise BrokenRecord("a checkpoint cannot be read") from error
    return Checkpoint(**known)


def named_key(first_line: AuditEntry) -> str | None:
    """The key that a record says, in its first line, it will be sealed with."""
    try:
        known: Any = json.loads(first_line.details)
    except ValueError:
        return None
    key = cast(dict[str, Any], known).get("audit_key") if isinstance(known, dict) else None
    return key if isinstance(key, str) else None


def short_key(key: str) -> str:
    return f"{key[:_SHOWN_OF_A_KEY]}…"

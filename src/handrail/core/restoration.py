"""A restore from a backup, as its line in the audit chain tells it.

The line is signed with the key that seals the chain. A copy of an older database that was put in
place by hand has no such line and does not verify.
"""

import json
from datetime import datetime
from typing import Any, NamedTuple, Self, cast

from handrail.core.audit import AuditEntry
from handrail.core.errors import BrokenRecord
from handrail.core.ids import ProjectId
from handrail.core.tool import JsonObject

RESTORED = "store.restored"

_TYPES: dict[str, type] = {
    "seq": int, "hash": str, "backed_up_at": str, "kept": int, "left": int, "lines_left": int,
    "key": str, "signature": str,
}  # fmt: skip


class Restoration(NamedTuple):
    """`seq` and `hash` are the last line that the backup holds.

    The checkpoints after number `kept`, up to number `left`, seal lines that the backup does not
    hold. At least `lines_left` such lines were written.
    """

    project_id: ProjectId
    seq: int
    hash: str
    backed_up_at: datetime
    kept: int
    left: int
    lines_left: int
    key: str
    signature: str = ""

    @property
    def words(self) -> bytes:
        """The signed text: everything but the signature."""
        parts = ("handrail restore 1", *self[:3], self.backed_up_at.isoformat(), *self[4:-1])
        return "\n".join(map(str, parts)).encode()

    def leaves_behind(self, checkpoint_number: int) -> bool:
        return self.kept < checkpoint_number <= self.left

    def as_details(self) -> JsonObject:
        """The part of the line's details that `read_restoration` reads."""
        known = {**self._asdict(), "backed_up_at": self.backed_up_at.isoformat()}
        del known["project_id"]
        return known

    def signed(self, signature: str) -> Self:
        return self._replace(signature=signature)


def read_restoration(entry: AuditEntry) -> Restoration:
    """Raises BrokenRecord for a line that is not one of a restore."""
    try:
        details = cast(dict[str, Any], json.loads(entry.details))
        known: dict[str, Any] = {name: details[name] for name in _TYPES}
        if {name: type(value) for name, value in known.items()} != _TYPES:
            raise ValueError("a field has another type")
        known["backed_up_at"] = datetime.fromisoformat(known["backed_up_at"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        words = f"line {entry.seq} says that a backup was restored, but cannot be read"
        raise BrokenRecord(words) from error
    return Restoration(entry.project_id, **known)

"""The record that cannot be unwritten: one hash chain per project."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from handrail.core.ids import ProjectId
from handrail.core.tool import JsonObject

GENESIS = "0" * 64

_encoder = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One line before it is chained: who did what to which thing, and the telling details."""

    action: str
    actor: str
    subject: str
    details: JsonObject = field(default_factory=dict[str, Any])


class AuditEntry(NamedTuple):
    """A chained line. Its hash covers everything in it and the hash of the line before."""

    project_id: ProjectId
    seq: int
    at: datetime
    action: str
    actor: str
    subject: str
    details: str
    previous: str
    hash: str


class AuditHead(NamedTuple):
    """How far a chain has come: the number of its last line, and that line's hash."""

    seq: int
    hash: str


BEGINNING = AuditHead(0, GENESIS)


def chain(
    record: AuditRecord, *, project_id: ProjectId, seq: int, at: datetime, previous: str
) -> AuditEntry:
    unhashed = (
        project_id, seq, at, record.action, record.actor, record.subject,
        canonical(record.details), previous,
    )  # fmt: skip
    return AuditEntry(*unhashed, hash=_hash(unhashed))


def find_break(entries: Iterable[AuditEntry]) -> str | None:
    """Walk a whole chain from its beginning; say where it is broken, or None."""
    head = BEGINNING
    for entry in entries:
        if (broken := find_misfit(head, entry)) is not None:
            return broken
        head = AuditHead(entry.seq, entry.hash)
    return None


def find_misfit(head: AuditHead, entry: AuditEntry) -> str | None:
    """Why a line cannot be the one that comes next, or None."""
    if entry.seq != head.seq + 1:
        return f"line {head.seq + 1} is missing"
    if entry.previous != head.hash or entry.hash != _hash(entry[:-1]):
        return f"line {entry.seq} does not match its hash"
    return None


def canonical(value: object) -> str:
    """One spelling for one JSON value; pure ASCII, so that any text there is can be kept."""
    return _encoder.encode(value)


def _hash(unhashed: tuple[object, ...]) -> str:
    """Of everything in the line but the hash itself; none of its parts can hold a line feed."""
    text = "\n".join(map(str, unhashed))
    return hashlib.sha256(text.encode()).hexdigest()

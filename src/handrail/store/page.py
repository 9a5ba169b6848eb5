"""What a batch of changes adds to the events, the records and the counts of its projects."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from handrail.core.analytics import CountKey
from handrail.core.audit import AuditEntry, chain
from handrail.core.change import Change
from handrail.core.event import Event
from handrail.core.ids import ProjectId
from handrail.store import statements
from handrail.store.counting import counts_of
from handrail.store.rows import audit_row, event_row
from handrail.store.write import Write


class Head(NamedTuple):
    """The end of a project's event sequence and audit chain, while a batch is written."""

    project_id: ProjectId
    last_event: int
    audit_seq: int
    audit_head: str

    def stamp(self, change: Change) -> tuple["Head", list[Event], list[AuditEntry]]:
        """Number the change's events, chain its audit lines; the head after them."""
        events = [
            Event(self.project_id, seq, change.at, *fresh)
            for seq, fresh in enumerate(change.events, start=self.last_event + 1)
        ]
        lines: list[AuditEntry] = []
        number, previous = self.audit_seq, self.audit_head
        for record in change.audit:
            number += 1
            line = chain(
                record, project_id=self.project_id, seq=number, at=change.at, previous=previous
            )
            previous = line.hash
            lines.append(line)
        head = Head(self.project_id, self.last_event + len(events), number, previous)
        return head, events, lines

    def move(self) -> Write:
        values = {
            "head_of": self.project_id,
            "last_event": self.last_event,
            "audit_seq": self.audit_seq,
            "audit_head": self.audit_head,
        }
        return Write(statements.MOVE_HEAD, values)


class Page:
    """Filled change by change, and written at the end of the batch: many rows at a time."""

    def __init__(self, read_head: Callable[[ProjectId], Head]):
        self._read_head = read_head
        self._heads: dict[ProjectId, Head] = {}
        self.events: list[Sequence[Any]] = []
        self.lines: list[Sequence[Any]] = []
        self._counts: Counter[CountKey] = Counter()

    def take(self, change: Change) -> list[Event]:
        """Number and chain what a change tells; its events as they will be on the stream."""
        self._counts.update(counts_of(change))
        if not (change.events or change.audit):
            return []
        head = self._heads.get(change.project_id) or self._read_head(change.project_id)
        self._heads[change.project_id], events, lines = head.stamp(change)
        self.events += map(event_row, events)
        self.lines += map(audit_row, lines)
        return events

    @property
    def counts(self) -> list[Sequence[Any]]:
        """In the order of the table's columns."""
        return [(*key, calls) for key, calls in self._counts.items()]

    def moves(self) -> Iterator[Write]:
        """Where each project stands after the batch."""
        return (head.move() for head in self._heads.values())

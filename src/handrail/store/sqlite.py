"""The embedded store: one SQLite file, one writer thread, many changes to a commit."""

import asyncio
import queue
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlalchemy.dialects import sqlite
from sqlalchemy.sql.elements import ClauseElement

from handrail.core.change import Change
from handrail.core.errors import ChangeRefused, HandrailError
from handrail.core.ids import ProjectId
from handrail.core.ports import Bus
from handrail.store import statements
from handrail.store.migrate import migrate_sqlite
from handrail.store.reads import StoreReads
from handrail.store.rows import Row
from handrail.store.sqlite_file import ConstraintError, SqliteError, SqliteFile
from handrail.store.statements import StatementBook
from handrail.store.steps import Head, Write, writes_for

_MOST_PER_COMMIT = 512

Order = tuple[Change, asyncio.Future[None]]
Outcome = tuple[Change, asyncio.Future[None], Exception | None]


class SqliteStore(StoreReads):
    """Reads run on the loop, from memory most of the time; changes run on the writer thread.

    The thread takes all changes that wait, gives each its own savepoint, commits them together
    and only then lets their submitters go on and the bells ring.
    """

    def __init__(self, path: Path, bus: Bus):
        self._path = path
        self._bus = bus
        self._book = StatementBook(sqlite.dialect(paramstyle="qmark"))
        self._orders: queue.SimpleQueue[Order | None] = queue.SimpleQueue()
        # A daemon: what is not committed was promised to nobody, so nothing waits for it.
        self._thread = threading.Thread(
            target=self._write_forever, name="handrail-writer", daemon=True
        )

    async def open(self) -> None:
        await asyncio.to_thread(migrate_sqlite, self._path)
        self._loop = asyncio.get_running_loop()
        self._reader = SqliteFile(self._path, read_only=True)
        self._writer = SqliteFile(self._path)
        self._thread.start()

    async def close(self) -> None:
        """Write what waits, then stop; the log is folded into the one database file."""
        self._orders.put(None)
        await asyncio.to_thread(self._thread.join)
        self._reader.close()
        self._writer.close()

    async def submit(self, change: Change) -> None:
        done: asyncio.Future[None] = self._loop.create_future()
        self._orders.put((change, done))
        await done

    async def _fetch(self, statement: ClauseElement, **values: Any) -> Sequence[Row]:
        prepared = self._book.prepare(statement)
        return self._reader.run(prepared.sql, prepared.bind(values))

    # From here on, on the writer thread.

    def _write_forever(self) -> None:
        while (batch := self._take()) is not None:
            outcomes = self._write(batch)
            self._loop.call_soon_threadsafe(self._announce, outcomes)

    def _take(self) -> list[Order] | None:
        """Wait for a change, then take all that have come in the meantime."""
        batch: list[Order] = []
        try:
            while len(batch) < _MOST_PER_COMMIT:
                order = self._orders.get(block=not batch)
                if order is None:
                    if not batch:
                        return None
                    self._orders.put(None)
                    break
                batch.append(order)
        except queue.Empty:
            pass
        return batch

    def _write(self, batch: list[Order]) -> list[Outcome]:
        outcomes: list[Outcome] = []
        heads: dict[ProjectId, Head] = {}
        try:
            self._writer.run("BEGIN IMMEDIATE")
            for change, done in batch:
                outcomes.append((change, done, self._apply(change, heads)))
            for head in heads.values():
                self._do(head.move())
            self._commit()
        except SqliteError as error:
            self._roll_back()
            broken = HandrailError(f"the database could not be written: {error}")
            return [(change, done, broken) for change, done in batch]
        return outcomes

    def _apply(self, change: Change, heads: dict[ProjectId, Head]) -> Exception | None:
        """Store one change or, if it no longer applies, leave no trace of it."""
        self._writer.run("SAVEPOINT change")
        try:
            for write in writes_for(change):
                self._do(write)
            if change.events or change.audit:
                head = heads.get(change.project_id) or self._read_head(change.project_id)
                after, writes = head.stamp(change)
                for write in writes:
                    self._do(write)
                heads[change.project_id] = after
        except (ChangeRefused, ConstraintError) as error:
            self._writer.run("ROLLBACK TO change")
            self._writer.run("RELEASE change")
            return error if isinstance(error, ChangeRefused) else ChangeRefused(str(error))
        self._writer.run("RELEASE change")
        return None

    def _do(self, write: Write) -> None:
        prepared = self._book.prepare(write.statement)
        self._writer.run(prepared.sql, prepared.bind(write.values))
        if not write.may_miss and self._writer.changes != 1:
            raise ChangeRefused("what this change builds on is no longer so")

    def _read_head(self, project_id: ProjectId) -> Head:
        prepared = self._book.prepare(statements.READ_HEAD)
        found = self._writer.run(prepared.sql, (project_id,))
        if not found:
            raise ChangeRefused(f"there is no project {project_id}")
        return Head(project_id, *found[0])

    def _commit(self) -> None:
        self._writer.run("COMMIT")

    def _roll_back(self) -> None:
        if self._writer.in_transaction:
            self._writer.run("ROLLBACK")

    # And back on the loop.

    def _announce(self, outcomes: list[Outcome]) -> None:
        for change, done, error in outcomes:
            if error is None:
                self._bus.ring(change.topics)
            if done.done():
                continue
            if error is None:
                done.set_result(None)
            else:
                done.set_exception(error)

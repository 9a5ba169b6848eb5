"""The embedded store: one SQLite file, one writer, many changes to a commit."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy.dialects import sqlite
from sqlalchemy.sql.elements import ClauseElement

from handrail.core.access import Token
from handrail.core.change import Change
from handrail.core.errors import HandrailError, StoreLocked, StoreUnavailable
from handrail.core.execution import ToolExecution
from handrail.core.few import Few
from handrail.core.ids import ClientId, ExecutionId, ProjectId, SessionId
from handrail.core.ports import Bus, StreamItem
from handrail.core.project import Place, Project
from handrail.core.retention import FileSpace
from handrail.store.aside import Aside
from handrail.store.batch_writer import BatchWriter
from handrail.store.blobs import BlobFolder
from handrail.store.condition import Condition
from handrail.store.migrate import migrate_sqlite
from handrail.store.order import Order, Outcome, conclude, refusal_of
from handrail.store.reads import StoreReads
from handrail.store.recent import Recent
from handrail.store.rows import Row
from handrail.store.sqlite_file import SqliteFile
from handrail.store.statements import StatementBook

K = TypeVar("K")
V = TypeVar("V")

_MOST_PER_COMMIT = 128
# A disk that answers sooner than this is waited for on the loop: to hand the wait over to a
# thread and take the word back costs more than it spares the others.
_QUICK_SECONDS = 0.001
# When the log has this many pages it is folded into the database, which takes a while.
_MOST_LOG_PAGES = 1_000
_LOCKED_PAUSE_SECONDS = 0.02
_MOST_LOCKED_SECONDS = 10.0
# The statements are the same for every store of a process; compiling them takes long.
_BOOK = StatementBook(sqlite.dialect(paramstyle="qmark"))


class SqliteStore(StoreReads):
    """One writer, many changes to a commit.

    Statements run on the loop, where they take microseconds. So do commits while the disk is
    quick; a slow one is waited for in a thread, and what is submitted meanwhile becomes the next
    batch.

    A change that no longer applies is refused alone: the batch is written once in good hope and,
    if one of it fails, again with a savepoint for each. Only when the batch is on disk may its
    submitters go on and the bells ring.
    """

    def __init__(
        self,
        path: Path,
        bus: Bus,
        on_stored: Callable[[Sequence[Change]], None] = lambda changes: None,
    ):
        self.shelf = BlobFolder(path.with_name("blobs"))
        self._path = path
        self._bus = bus
        self._on_stored = on_stored
        self._waiting: list[Order] = []
        self._disk = ThreadPoolExecutor(1, thread_name_prefix="handrail-disk")
        self._idle = asyncio.Event()
        self._idle.set()
        self._recent = Recent()
        self._committing: frozenset[ExecutionId] = frozenset()
        self._version = 0
        self._commit_seconds = 0.0
        self._writer_is_away = False
        self._closed = False
        self._locked_since: float | None = None
        self._condition = Condition(path)

    async def open(self) -> None:
        self._loop = asyncio.get_running_loop()
        await self._loop.run_in_executor(self._disk, migrate_sqlite, self._path)
        self._reader = SqliteFile(self._path, read_only=True)
        self._aside = Aside(self._path)
        # Whoever waits for the file waits on the loop, where others can go on.
        self._writer = SqliteFile(self._path, waits_ms=0)
        self._batches = BatchWriter(self._writer, _BOOK, self._notice_others)
        self._condition.remember_files()

    @property
    def fault(self) -> StoreUnavailable | None:
        return self._condition.fault

    def note_fault(self, fault: StoreUnavailable) -> None:
        """Take in what was found out elsewhere, such as by a check of all pages."""
        self._condition.note(fault)

    async def check(self) -> None:
        """Notice files that are gone, and a disk that takes writes again."""
        try:
            self._condition.check_files()
        except StoreUnavailable as fault:
            self._condition.note(fault)
        if self.fault is None or self._condition.is_lasting or not self._idle.is_set():
            return
        self._idle.clear()
        self._in_thread(self._writer.rewrite_header, self._end_check)
        await self._idle.wait()

    def _end_check(self, error: BaseException | None) -> None:
        self._batches.roll_back()
        if error is None:
            self._condition.note_success()
        elif isinstance(error, StoreUnavailable):
            self._condition.note(error)
        self._write_what_waits()

    async def close(self) -> None:
        """Write what waits, then stop; the log is folded into the one database file."""
        self._closed = True
        while not self._idle.is_set():
            await self._idle.wait()
        self._disk.shutdown()
        self._aside.close()
        self._reader.close()
        self._writer.close()

    async def submit(self, change: Change) -> None:
        if self._closed:
            raise HandrailError("the store is closed")
        self._condition.raise_lasting()
        done: asyncio.Future[None] = self._loop.create_future()
        self._waiting.append(Order(change, done))
        if self._idle.is_set():
            self._idle.clear()
            # Not at once: what others submit in this turn of the loop comes along.
            self._loop.call_soon(self._write)
        await done

    async def find_execution(self, execution_id: ExecutionId) -> ToolExecution | None:
        # A commit is on disk a moment before we hear of it: then memory is what is out of date.
        if execution_id not in self._committing:
            known = self._recent.find_execution(execution_id)
            if known is not None:
                return known
        return await super().find_execution(execution_id)

    async def find_token(self, secret_hash: str) -> Token | None:
        if self._is_up_to_date() and (known := self._recent.tokens.get(secret_hash)) is not None:
            return known
        return await self._keep(self._recent.tokens, secret_hash, super().find_token(secret_hash))

    async def find_project(self, project_id: ProjectId) -> Project | None:
        if self._is_up_to_date() and (known := self._recent.projects.get(project_id)) is not None:
            return known
        return await self._keep(self._recent.projects, project_id, super().find_project(project_id))

    async def find_place(self, project_id: ProjectId, session_id: SessionId) -> Place | None:
        key = (project_id, session_id)
        if (known := self._recent.places.get(key)) is not None:
            return known
        return await self._keep(self._recent.places, key, super().find_place(*key))

    async def _keep(self, kept: Few[K, V], key: K, reading: Awaitable[V | None]) -> V | None:
        """Remember what is read, unless something changed while it was read."""
        before = self._recent.changes
        found = await reading
        if found is not None and self._recent.changes == before:
            kept.keep(key, found)
        return found

    async def read_stream(
        self, project_id: ProjectId, *, after: int, client_id: ClientId | None, limit: int
    ) -> list[StreamItem]:
        known = self._recent.read_stream(project_id, after, client_id, limit)
        if known is not None:
            return known
        return await super().read_stream(project_id, after=after, client_id=client_id, limit=limit)

    async def measure_file(self) -> FileSpace:
        return self._reader.measure()

    def _is_up_to_date(self) -> bool:
        """Drop what others have changed meanwhile, such as a token; False when nobody can tell."""
        if self._writer_is_away:
            return False
        self._notice_others()
        return True

    async def _fetch(self, statement: ClauseElement, **values: Any) -> Sequence[Row]:
        prepared = _BOOK.prepare(statement)
        try:
            return self._reader.run(prepared.sql, prepared.bind(values))
        except StoreUnavailable as fault:
            self._condition.note(fault)
            raise

    async def _fetch_aside(self, statement: ClauseElement, **values: Any) -> Sequence[Row]:
        prepared = _BOOK.prepare(statement)
        try:
            return await self._aside.run(prepared.sql, prepared.bind(values))
        except StoreUnavailable as fault:
            self._condition.note(fault)
            raise

    def _write(self) -> None:
        """Take a batch and write it, all but the commit."""
        batch, self._waiting = self._waiting[:_MOST_PER_COMMIT], self._waiting[_MOST_PER_COMMIT:]
        try:
            outcomes = self._batches.apply(batch)
        except StoreLocked as error:
            self._wait_for_the_lock(batch, error)
            return
        except Exception as error:  # Whatever it is, nobody may be left waiting.
            self._give_up(batch, error)
            return
        self._locked_since = None
        if self._commit_seconds < _QUICK_SECONDS:
            self._finish(_try(self._commit), outcomes)
            return
        self._committing = frozenset(
            event.execution_id for outcome in outcomes for event in outcome.events
        )
        self._in_thread(self._commit, lambda error: self._finish(error, outcomes))

    def _in_thread(
        self, work: Callable[[], None], then: Callable[[BaseException | None], None]
    ) -> None:
        """Have slow work with the file done; until then the thread alone has the writer."""
        self._writer_is_away = True

        def back(done: asyncio.Future[None]) -> None:
            self._writer_is_away = False
            then(done.exception())

        self._loop.run_in_executor(self._disk, work).add_done_callback(back)

    def _wait_for_the_lock(self, batch: list[Order], error: StoreLocked) -> None:
        """Somebody else is writing to the file: come back in a moment, but not for ever."""
        now = self._loop.time()
        if self._locked_since is None:
            self._locked_since = now
        if now - self._locked_since > _MOST_LOCKED_SECONDS:
            self._locked_since = None
            self._give_up(batch, error)
            return
        self._waiting = batch + self._waiting
        self._loop.call_later(_LOCKED_PAUSE_SECONDS, self._write)

    def _notice_others(self) -> None:
        if (version := self._writer.data_version) != self._version:
            self._version = version
            self._recent.clear()

    def _commit(self) -> None:
        """The one step that waits for the disk, and the one that makes it true."""
        began = time.perf_counter()
        try:
            self._writer.run("COMMIT")
            # Not acknowledged: who starts next would not find it.
            self._condition.check_files()
        finally:
            self._commit_seconds = time.perf_counter() - began

    def _finish(self, error: BaseException | None, outcomes: list[Outcome]) -> None:
        if error is not None:
            self._give_up([Order(outcome.change, outcome.done) for outcome in outcomes], error)
            return
        self._committing = frozenset()
        if any(outcome.refused is None for outcome in outcomes):
            self._condition.note_success()
        for change, done, events, refused in outcomes:
            if refused is None:
                self._recent.remember(change, events)
                self._bus.ring(change.topics)
            conclude(done, refused)
        self._write_on()
        # Last, when nobody waits for us any more.
        self._on_stored([outcome.change for outcome in outcomes if outcome.refused is None])

    def _give_up(self, batch: list[Order], error: BaseException) -> None:
        """Nothing of the batch was stored, and everybody in it is told so."""
        self._committing = frozenset()
        self._batches.roll_back()
        if isinstance(error, StoreUnavailable):
            self._condition.note(error)
        for _, done in batch:
            conclude(done, refusal_of(error))
        self._write_on()

    def _write_on(self) -> None:
        if self._writer.log_pages < _MOST_LOG_PAGES:
            self._write_what_waits()
            return
        self._in_thread(self._writer.fold_log, lambda error: self._write_what_waits())

    def _write_what_waits(self) -> None:
        if self._waiting:
            self._loop.call_soon(self._write)
        else:
            self._idle.set()


def _try(action: Callable[[], None]) -> Exception | None:
    try:
        action()
    except Exception as error:
        return error
    return None

"""BatchWriter: the changes of a batch as statements in one transaction, all but its commit."""

from collections.abc import Callable

from handrail.core.change import Change
from handrail.core.errors import ChangeRefused, StoreUnavailable
from handrail.core.event import Event
from handrail.core.ids import ProjectId
from handrail.store import event_statements, statements
from handrail.store.analytics_statements import ADD_COUNT
from handrail.store.order import Order, Outcome, refusal_of
from handrail.store.page import Head, Page
from handrail.store.sqlite_file import SqliteFile
from handrail.store.statements import StatementBook
from handrail.store.steps import writes_for
from handrail.store.write import Write


class BatchWriter:
    """`on_begin` is called in each transaction before anything is read or written."""

    def __init__(self, file: SqliteFile, book: StatementBook, on_begin: Callable[[], None]):
        self._file = file
        self._book = book
        self._on_begin = on_begin

    def roll_back(self) -> None:
        self._file.roll_back()

    def apply(self, batch: list[Order]) -> list[Outcome]:
        self._begin()
        try:
            page = Page(self._read_head)
            outcomes = [Outcome(*order, self._apply(order.change, page), None) for order in batch]
            self._write_page(page)
        except StoreUnavailable:
            self.roll_back()
            raise
        except Exception:  # One of them is at fault; the second round finds out which.
            self.roll_back()
            self._begin()
            outcomes = [self._apply_or_refuse(order) for order in batch]
        return outcomes

    def _begin(self) -> None:
        self._file.run("BEGIN IMMEDIATE")
        self._on_begin()

    def _apply_or_refuse(self, order: Order) -> Outcome:
        """Store one change or, if it no longer applies, leave no trace of it."""
        self._file.run("SAVEPOINT change")
        try:
            page = Page(self._read_head)
            events = self._apply(order.change, page)
            self._write_page(page)
        except StoreUnavailable:
            raise
        except Exception as error:
            self._file.run("ROLLBACK TO change")
            self._file.run("RELEASE change")
            return Outcome(*order, [], refusal_of(error))
        self._file.run("RELEASE change")
        return Outcome(*order, events, None)

    def _apply(self, change: Change, page: Page) -> list[Event]:
        for write in writes_for(change):
            self._do(write)
        return page.take(change)

    def _write_page(self, page: Page) -> None:
        self._file.run_many(self._book.prepare(event_statements.ADD_EVENT).sql, page.events)
        self._file.run_many(self._book.prepare(statements.ADD_AUDIT).sql, page.lines)
        self._file.run_many(self._book.prepare(ADD_COUNT).sql, page.counts)
        for move in page.moves():
            self._do(move)

    def _do(self, write: Write) -> None:
        prepared = self._book.prepare(write.statement)
        if write.each is not None:
            name, each = write.each
            rows = [prepared.bind({**write.values, name: value}) for value in each]
            self._file.run_many(prepared.sql, rows)
            return
        self._file.run(prepared.sql, prepared.bind(write.values))
        if not write.may_miss and self._file.changes != 1:
            raise ChangeRefused("the state that this change builds on has changed")

    def _read_head(self, project_id: ProjectId) -> Head:
        prepared = self._book.prepare(statements.READ_HEAD)
        found = self._file.run(prepared.sql, (project_id,))
        if not found:
            raise ChangeRefused(f"there is no project {project_id}")
        return Head(project_id, *found[0])

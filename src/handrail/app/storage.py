"""Where the truth is kept: today, one SQLite file in Handrail's own folder, sealed beside it."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager

import structlog

from handrail.app.home import Home
from handrail.core.change import Change
from handrail.core.errors import SetupError, StoreUnavailable
from handrail.core.ports import Bus, Store
from handrail.store.audit_key import AuditKey
from handrail.store.checkpoints import CheckpointFolder
from handrail.store.faults import WAYS_ON
from handrail.store.page_check import PageCheck
from handrail.store.sqlite import SqliteStore
from handrail.store.standing import find_loss, holds_records

# 400 MB are checked in about a second from a warm cache; a larger file is checked while it serves.
_PAGE_CHECK_SECONDS = 10.0

log = structlog.get_logger(__name__)


@asynccontextmanager
async def open_store(
    home: Home,
    bus: Bus,
    on_stored: Callable[[Sequence[Change]], None] = lambda changes: None,
    *,
    to_prove: bool = False,
) -> AsyncGenerator[SqliteStore]:
    """Open the store; `on_stored` hears of every commit, once it is durable.

    With `to_prove`, a database that contradicts its checkpoints is opened as well.

    Raises:
        SetupError: The database has lost what was sealed.
        StoreUnavailable: It is damaged, or its disk is full, read-only or locked.
    """
    home.create()
    store = SqliteStore(home.database, bus, on_stored)
    try:
        loss = await asyncio.to_thread(find_home_loss, home)
        if loss is not None and not (to_prove and holds_records(home.database)):
            raise SetupError(f"{loss}: {WAYS_ON}")
        await store.open()
    except StoreUnavailable as fault:
        raise type(fault)(f"{home.database}: {fault.message}") from fault
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def open_served_store(
    home: Home, bus: Bus, on_stored: Callable[[Sequence[Change]], None]
) -> AsyncGenerator[Store]:
    """Open the store for a server, once its pages are checked.

    A check that takes long goes on while the server runs. If it finds damage then, the store
    takes no more changes and says why.
    """
    async with open_store(home, bus, on_stored) as store:
        check = PageCheck(home.database)
        try:
            done, _ = await asyncio.wait({check.fault}, timeout=_PAGE_CHECK_SECONDS)
            if not done:
                log.warning("store.check_goes_on", seconds=_PAGE_CHECK_SECONDS)
            elif (fault := check.fault.result()) is not None:
                raise type(fault)(f"{home.database}: {fault.message}")
            check.fault.add_done_callback(lambda found: _note(store, found))
            yield store
        finally:
            check.close()


def _note(store: SqliteStore, found: asyncio.Future[StoreUnavailable | None]) -> None:
    if not found.cancelled() and (fault := found.result()) is not None:
        store.note_fault(fault)


def find_home_loss(home: Home) -> str | None:
    """A sentence that says which sealed lines this folder's database lacks; None if none."""
    return find_loss(home.database, home.checkpoints, home.audit_key)


def open_checkpoints(home: Home) -> CheckpointFolder:
    """What seals the records in this folder; its key is made on the first time."""
    home.create()
    return CheckpointFolder(home.checkpoints, AuditKey.find_or_make(home.audit_key))

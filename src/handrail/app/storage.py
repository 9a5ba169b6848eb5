"""Where the truth is kept: today, one SQLite file in Handrail's own folder, sealed beside it."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager

from handrail.app.home import Home
from handrail.core.change import Change
from handrail.core.ports import Bus, Store
from handrail.store.audit_key import AuditKey
from handrail.store.checkpoints import CheckpointFolder
from handrail.store.sqlite import SqliteStore


@asynccontextmanager
async def open_store(
    home: Home, bus: Bus, on_stored: Callable[[Sequence[Change]], None] = lambda changes: None
) -> AsyncGenerator[Store]:
    """Open the store; `on_stored` hears of every commit, once it is durable."""
    home.create()
    store = SqliteStore(home.database, bus, on_stored)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


def open_checkpoints(home: Home) -> CheckpointFolder:
    """What seals the records in this folder; its key is made on the first time."""
    home.create()
    return CheckpointFolder(home.checkpoints, AuditKey.find_or_make(home.audit_key))

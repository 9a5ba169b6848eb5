"""Where the truth is kept: today, one SQLite file in Handrail's own folder."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from handrail.app.home import Home
from handrail.core.ports import Bus, Store
from handrail.store.sqlite import SqliteStore


@asynccontextmanager
async def open_store(home: Home, bus: Bus) -> AsyncGenerator[Store]:
    home.create()
    store = SqliteStore(home.database, bus)
    await store.open()
    try:
        yield store
    finally:
        await store.close()

"""build_server: everything that runs beside the plane."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from handrail.app.clock import SystemClock
from handrail.app.home import Home
from handrail.app.settings import Settings
from handrail.app.storage import open_store
from handrail.bus.local import LocalBus
from handrail.plane.dispatch import Dispatcher
from handrail.plane.executor import ToolExecutor
from handrail.policy.rules import default_rules
from handrail.server.services import Services
from handrail.tools.catalogue import builtin_registry


@asynccontextmanager
async def build_server(settings: Settings) -> AsyncGenerator[Services]:
    """The services of a server, with its store open."""
    bus, clock, registry = LocalBus(), SystemClock(), builtin_registry()
    async with open_store(Home(settings.home), bus) as store:
        dispatcher = Dispatcher(store, clock, bus)
        executor = ToolExecutor(registry, default_rules(), store, bus, clock, dispatcher)
        yield Services(store, bus, clock, registry, executor, dispatcher)

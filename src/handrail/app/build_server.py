"""build_server: everything that runs beside the plane."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

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
    """The services of a server, with its folder held and its store open."""
    home, bus, clock = Home(settings.home), LocalBus(), SystemClock()
    home.create()
    async with AsyncExitStack() as stack:
        stack.enter_context(home.serving())
        store = await stack.enter_async_context(open_store(home, bus))
        dispatcher = Dispatcher(store, clock, bus)
        executor = ToolExecutor(builtin_registry(), default_rules(), store, bus, clock, dispatcher)
        yield Services(store, bus, clock, executor, dispatcher)

"""The ring of keys handed to the server."""

from dataclasses import dataclass

from handrail.core.ports import Bus, Clock, Store
from handrail.plane.dispatch import Dispatcher
from handrail.plane.executor import ToolExecutor


@dataclass(frozen=True, slots=True)
class Services:
    store: Store
    bus: Bus
    clock: Clock
    executor: ToolExecutor
    dispatcher: Dispatcher

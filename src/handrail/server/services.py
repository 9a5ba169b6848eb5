"""The ring of keys handed to the server."""

from dataclasses import dataclass

from handrail.core.ports import Bus, Clock, Store
from handrail.plane.approvals import ApprovalManager
from handrail.plane.dispatch import Dispatcher
from handrail.plane.executor import ToolExecutor
from handrail.plane.grants import GrantBook
from handrail.plane.survey import Surveyor
from handrail.plane.sweeper import Sweeper


@dataclass(frozen=True, slots=True)
class Services:
    store: Store
    bus: Bus
    clock: Clock
    executor: ToolExecutor
    dispatcher: Dispatcher
    approvals: ApprovalManager
    grants: GrantBook
    surveyor: Surveyor
    sweeper: Sweeper

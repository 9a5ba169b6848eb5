"""The ring of keys handed to the server."""

from dataclasses import dataclass, field

from handrail.core.about import Affairs
from handrail.core.ports import Bus, Clock, Store
from handrail.core.talks import Runs
from handrail.knowledge.memory import MemoryKeeper
from handrail.knowledge.skills import SkillShelf
from handrail.plane.approvals import ApprovalManager
from handrail.plane.batch import Batches
from handrail.plane.blobs import BlobKeeper
from handrail.plane.connections import Connections
from handrail.plane.dispatch import Dispatcher
from handrail.plane.drafts import DraftList
from handrail.plane.executor import ToolExecutor
from handrail.plane.grants import GrantBook
from handrail.plane.inside import Inside
from handrail.plane.names import NameBook
from handrail.plane.policies import Policies
from handrail.plane.results import Receiver
from handrail.plane.revising import Reviser
from handrail.plane.stopping import Stopper
from handrail.plane.survey import Surveyor
from handrail.plane.sweeper import Sweeper
from handrail.plane.taint import Taints
from handrail.plane.tally import Tally
from handrail.plane.undoing import Undoer
from handrail.plane.unmasking import Unmasker
from handrail.plane.waiting import WaitingRoom
from handrail.plane.whispers import Whispers


@dataclass(frozen=True, slots=True)
class Services:
    store: Store
    names: NameBook
    bus: Bus
    clock: Clock
    connections: Connections
    room: WaitingRoom
    executor: ToolExecutor
    batches: Batches
    dispatcher: Dispatcher
    receiver: Receiver
    inside: Inside
    blobs: BlobKeeper
    approvals: ApprovalManager
    grants: GrantBook
    policies: Policies
    surveyor: Surveyor
    unmasker: Unmasker
    reviser: Reviser
    stopper: Stopper
    undoer: Undoer
    drafts: DraftList
    taints: Taints
    tally: Tally
    whispers: Whispers
    memories: MemoryKeeper
    skills: SkillShelf
    affairs: Affairs
    sweeper: Sweeper = field(default_factory=lambda: Sweeper(()))
    runs: Runs | None = None

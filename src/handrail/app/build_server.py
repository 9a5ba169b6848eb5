"""build_server: everything that runs beside the plane."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

from handrail.app.affairs import Affairs
from handrail.app.clock import SystemClock
from handrail.app.config import Config
from handrail.app.home import Home
from handrail.app.own_agent import hire_agent
from handrail.app.plugins import load_toolbox
from handrail.app.policy_files import OperatorFile
from handrail.app.server_hands import ServerHands
from handrail.app.settings import Settings
from handrail.app.sign_in_page import remove_old_pages
from handrail.app.storage import open_checkpoints, open_served_store
from handrail.bus.local import LocalBus
from handrail.core.change import Change
from handrail.core.judging import Judging
from handrail.core.ports import Bus, Clock, Store
from handrail.executors.judging.pool import JudgingPool
from handrail.executors.web.guarded import GuardedWeb
from handrail.knowledge.memory import MemoryKeeper
from handrail.knowledge.minilm import find_weights
from handrail.knowledge.orders import OrderReader
from handrail.knowledge.skills import SkillShelf
from handrail.plane.approvals import ApprovalManager
from handrail.plane.assessment import Assessor
from handrail.plane.batch import Batches
from handrail.plane.blobs import BlobKeeper
from handrail.plane.call_log import log_changes
from handrail.plane.connections import LEASE_SECONDS, Connections
from handrail.plane.dispatch import Dispatcher
from handrail.plane.drafts import DraftList
from handrail.plane.executor import ToolExecutor
from handrail.plane.forgetting import Forgetter
from handrail.plane.grants import GrantBook
from handrail.plane.inside import Inside
from handrail.plane.looking import HandsFor, Looker
from handrail.plane.names import NameBook
from handrail.plane.patience import Patience
from handrail.plane.policies import Policies
from handrail.plane.results import Receiver
from handrail.plane.retention import Pruner
from handrail.plane.revising import Reviser
from handrail.plane.sealing import Sealer
from handrail.plane.stopping import Stopper
from handrail.plane.survey import Surveyor
from handrail.plane.suspicion import Suspicion, get_ready
from handrail.plane.sweeper import Chore, Sweeper
from handrail.plane.taint import Taints
from handrail.plane.tally import Tally
from handrail.plane.undoing import Undoer
from handrail.plane.unmasking import Unmasker
from handrail.plane.waiting import WaitingRoom
from handrail.plane.whispers import Whispers
from handrail.policy.rulebook.book import Rulebook
from handrail.server.services import Services
from handrail.tools.catalogue import builtin_registry
from handrail.tools.registry import ToolRegistry


@asynccontextmanager
async def build_server(settings: Settings) -> AsyncGenerator[Services]:
    """The services of a server, with its folder held and its store open."""
    home, bus, clock = Home(settings.home), LocalBus(), SystemClock()
    home.create()
    remove_old_pages(home)
    async with AsyncExitStack() as stack:
        stack.enter_context(home.serving())
        tally, policy = Tally(), OperatorFile(home)
        config = Config(home, settings.overrides)
        store = await stack.enter_async_context(open_served_store(home, bus, _observe(tally)))
        sealer = Sealer(store, clock, open_checkpoints(home))
        await sealer.seal_all()
        stack.push_async_callback(sealer.seal_all)
        asyncio.get_running_loop().run_in_executor(None, get_ready)
        toolbox = load_toolbox(home.tools)
        toolbox.warn("server")
        weights = find_weights(settings.memory_weights)
        memories = MemoryKeeper(store, clock, weights)
        stack.callback(memories.close)
        affairs = Affairs(store, clock, home, config)
        judging = JudgingPool()
        stack.callback(judging.close)
        services = build_services(
            store,
            bus,
            clock,
            approval_timeout_seconds=settings.approval_timeout_seconds,
            registry=toolbox.registry,
            rulebook=policy.rulebook,
            tally=tally,
            chores=(policy.follow, sealer.seal_what_is_due),
            memories=memories,
            skills=SkillShelf(home.skills),
            affairs=affairs,
            suspicion=Suspicion(OrderReader(weights.folder) if weights.folder else None),
            judging=judging,
        )
        yield replace(services, runs=hire_agent(services, affairs))


def build_services(
    store: Store,
    bus: Bus,
    clock: Clock,
    approval_timeout_seconds: int | None = None,
    registry: ToolRegistry | None = None,
    rulebook: Rulebook | None = None,
    tally: Tally | None = None,
    chores: Sequence[Chore] = (),
    hands_for: HandsFor | None = None,
    memories: MemoryKeeper | None = None,
    skills: SkillShelf | None = None,
    affairs: Affairs | None = None,
    suspicion: Suspicion | None = None,
    judging: Judging | None = None,
    lease_seconds: float = LEASE_SECONDS,
) -> Services:
    """The plane. `chores` run once a second; `hands_for` is what tools on the server may touch."""
    affairs, blobs = affairs or Affairs(store, clock), BlobKeeper(store, clock)
    memories, skills = memories or MemoryKeeper(store, clock), skills or SkillShelf()
    registry, rules = builtin_registry() if registry is None else registry, rulebook or Rulebook()
    room, receiver = WaitingRoom(bus), Receiver(store, clock, blobs, suspicion)
    connections, grants = Connections(bus, clock, lease_seconds), GrantBook(store, clock)
    assessor, dispatcher = Assessor(registry, rules, judging), Dispatcher(store, clock, connections)
    approvals = ApprovalManager(store, room, clock, dispatcher, grants, approval_timeout_seconds)
    looker = Looker(assessor, hands_for or _server_hands(memories, skills, rules, affairs))
    unmasker, whispers = Unmasker(store, clock, connections, assessor, looker), Whispers(bus)
    executor = ToolExecutor(
        registry, assessor, store, room, clock, dispatcher, approvals, blobs, looker
    )
    services = Services(
        store=store,
        names=NameBook(store),
        bus=bus,
        clock=clock,
        connections=connections,
        room=room,
        executor=executor,
        batches=Batches(executor),
        dispatcher=dispatcher,
        receiver=receiver,
        inside=Inside(store, bus, clock, registry, assessor, receiver, looker),
        blobs=blobs,
        approvals=approvals,
        grants=grants,
        policies=Policies(store, clock, assessor, rules),
        surveyor=Surveyor(store, clock, assessor, approvals, unmasker, connections),
        unmasker=unmasker,
        reviser=Reviser(store, clock, assessor, approvals, looker, connections),
        stopper=Stopper(store, clock),
        drafts=DraftList(store, clock, connections, whispers),
        undoer=Undoer(store, bus, clock, connections, room),
        taints=Taints(store, clock),
        tally=_tally_for(registry, tally),
        whispers=whispers,
        memories=memories,
        skills=skills,
        affairs=affairs,
    )
    return replace(services, sweeper=Sweeper((*_own_chores(services, affairs.config), *chores)))


def _tally_for(registry: ToolRegistry, tally: Tally | None) -> Tally:
    tally = tally or Tally()
    tally.know_tools(tool.name for tool in registry)
    return tally


def _server_hands(
    memories: MemoryKeeper, skills: SkillShelf, rules: Rulebook, affairs: Affairs
) -> ServerHands:
    web = GuardedWeb(lambda: rules.rules_for("").web)
    return ServerHands(memories, skills, web, affairs)


def _own_chores(services: Services, config: Config) -> tuple[Chore, ...]:
    """What time alone must bring about in the plane."""
    return (
        services.store.check,
        services.stopper.end_left_behind,
        services.dispatcher.hand_over_forsaken,
        services.dispatcher.ask_after_the_slow,
        services.surveyor.ask_without_facts,
        services.surveyor.looks.follow_connections,
        services.approvals.expire_overdue,
        Patience(services.store, services.clock, services.connections).give_up,
        Forgetter(
            services.store, services.clock, kept_for=lambda: config.retention().events
        ).forget_old_events,
        Pruner(services.store, services.clock, config.retention).prune_what_is_due,
        services.blobs.tidy_up,
    )


def _observe(tally: Tally) -> Callable[[Sequence[Change]], None]:
    """Count and log what the store has made durable."""

    def take_in(changes: Sequence[Change]) -> None:
        tally.take_in(changes)
        log_changes(changes)

    return take_in

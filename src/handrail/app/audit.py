"""The record of a project, straight from the store: it can be read while no server runs."""

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass

from handrail.app.home import Home
from handrail.app.storage import find_home_loss, open_store
from handrail.bus.local import LocalBus
from handrail.core.audit import BEGINNING, AuditEntry, AuditHead
from handrail.core.checkpoint import Checkpoint
from handrail.core.errors import BrokenRecord, StoreDamaged
from handrail.core.ids import ProjectId
from handrail.core.ports import Store
from handrail.core.proof import RecordProof
from handrail.core.restoration import Restoration
from handrail.store.audit_key import AuditKey, is_signed
from handrail.store.checkpoints import read_checkpoints
from handrail.store.faults import damaged
from handrail.store.look import look_into
from handrail.store.standing import holds_records

_PAGE = 2_000

# What somebody may want to see of each page on the way: its lines, and how many there will be.
OnPage = Callable[[list[AuditEntry], int], None]


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found: how far the record is true, and in one sentence what is wrong with it."""

    lines: int
    last_checkpoint: Checkpoint | None
    key: str | None
    broken: str | None
    restorations: tuple[Restoration, ...] = ()


async def read_latest(home: Home, project_id: str, limit: int) -> list[AuditEntry]:
    """The last lines of a record, oldest first."""
    project = ProjectId(project_id)
    async with open_store(home, LocalBus(), to_prove=True) as store:
        head = await _head(store, project)
        return await store.read_audit(project, after=max(0, head.seq - limit), limit=limit)


async def verify(
    home: Home,
    project_id: str,
    key: str | None = None,
    on_page: OnPage = lambda page, lines: None,
) -> Verification:
    """Prove a record, page by page, against its checkpoints; `key` is trusted, else our own.

    What a running server adds meanwhile is proven as far as it is met.
    """
    project = ProjectId(project_id)
    trusted = key or public_key(home)
    if (loss := find_home_loss(home)) is not None and not holds_records(home.database):
        return Verification(0, None, trusted, loss)
    async with open_store(home, LocalBus(), to_prove=True) as store:
        # In this order: whatever was sealed or counted by now must be met on the way.
        with read_checkpoints(home.checkpoints, project) as checkpoints:
            head = await _head(store, project)
            try:
                restorations = tuple(await store.list_restorations(project))
            except BrokenRecord as error:
                return Verification(0, None, trusted, str(error))
            proof = RecordProof(
                project, checkpoints, is_signed, key=trusted, head=head, restorations=restorations
            )
            try:
                await _walk(store, project, proof, lambda page: on_page(page, head.seq))
                # A project of this folder may be whole where another one is lost.
                broken = find_home_loss(home)
            except (BrokenRecord, StoreDamaged) as error:
                broken = str(error)
    return Verification(proof.lines, proof.last_checkpoint, trusted, broken, restorations)


async def verify_pages(home: Home) -> str | None:
    """The damage that a page check of the database finds; None if it finds none."""
    if not home.database.exists():
        return None
    look = await asyncio.to_thread(look_into, home.database, math.inf)
    return damaged(look.trouble or "unreadable").message if look.sound is False else None


async def _walk(
    store: Store,
    project: ProjectId,
    proof: RecordProof,
    on_page: Callable[[list[AuditEntry]], None],
) -> None:
    while page := await store.read_audit(project, after=proof.lines, limit=_PAGE):
        for line in page:
            proof.follow(line)
        on_page(page)
        # Others may want to run, or to stop us.
        await asyncio.sleep(0)
    proof.finish(await _head(store, project))


def public_key(home: Home) -> str | None:
    """The public half of the key that seals the records here; nothing is made."""
    key = AuditKey.find(home.audit_key)
    return None if key is None else key.public


async def _head(store: Store, project_id: ProjectId) -> AuditHead:
    return await store.find_audit_head(project_id) or BEGINNING

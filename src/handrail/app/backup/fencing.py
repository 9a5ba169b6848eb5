"""Ending what a backup holds open, so that nothing in it can run a second time."""

import getpass
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from handrail.app.clock import SystemClock
from handrail.app.home import Home
from handrail.app.storage import open_store
from handrail.bus.local import LocalBus
from handrail.core.audit import AuditRecord
from handrail.core.change import Change, MoveRun
from handrail.core.event import NewEvent
from handrail.core.grant_steps import RevokeGrant
from handrail.core.ids import ProjectId
from handrail.core.ports import Store
from handrail.core.restoration import RESTORED, Restoration
from handrail.core.run import RunStatus
from handrail.core.tool import JsonObject
from handrail.plane.move import HANDRAIL
from handrail.plane.stopping import Stopper


@dataclass(frozen=True, slots=True)
class Ended:
    """How many of each were open in the backup."""

    calls: int
    grants: int
    runs: int


async def fence(
    copy: Home, restorations: Sequence[Restoration], details: JsonObject, at: datetime
) -> Ended:
    """Write the restore into every audit chain, then end every open call, grant and run."""
    calls = grants = 0
    async with open_store(copy, LocalBus()) as store:
        for restoration in restorations:
            project_id = restoration.project_id
            line = AuditRecord(
                RESTORED,
                f"operator:{getpass.getuser()}",
                project_id,
                {**details, **restoration.as_details()},
            )
            await store.submit(Change(project_id, at, (), audit=(line,)))
            sentence = (
                "Handrail was restored from a backup of"
                f" {restoration.backed_up_at:%d %b %Y %H:%M:%S} UTC;"
                " whether this call ran after that is unknown, and it is not run again"
            )
            calls += await Stopper(store, SystemClock()).end_as_unknown(project_id, sentence)
            grants += await _end_grants(store, project_id, at)
        runs = await _end_runs(store, at)
    return Ended(calls, grants, runs)


async def _end_grants(store: Store, project_id: ProjectId, at: datetime) -> int:
    """Uses since the backup are not counted in it, and neither is a revocation."""
    live = [
        grant for grant in await store.list_grants(project_id, session_id=None) if grant.is_live(at)
    ]
    for grant in live:
        line = AuditRecord("grant.revoked", HANDRAIL, grant.id)
        await store.submit(Change(project_id, at, (RevokeGrant(grant),), audit=(line,)))
    return len(live)


async def _end_runs(store: Store, at: datetime) -> int:
    """An agent that went on from here would do again what it did after the backup."""
    running = await store.list_running()
    for run in running:
        ended = replace(run, epoch=run.epoch + 1).end(
            RunStatus.STOPPED, at, "Handrail was restored from a backup"
        )
        line = AuditRecord("run.ended", HANDRAIL, run.id, {"status": ended.status})
        news = NewEvent.of_run(run.id)
        await store.submit(Change(run.project_id, at, (MoveRun(run, ended),), (news,), (line,)))
    return len(running)

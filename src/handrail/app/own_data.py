"""A person's own data: all of it in one file, and gone where they want it gone."""

import json
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TextIO

from handrail.app.clock import SystemClock
from handrail.app.home import Home
from handrail.app.storage import open_store
from handrail.bus.local import LocalBus
from handrail.core.audit import AuditRecord
from handrail.core.change import Change, ForgetMemory, ForgetTalk, Step, StopSession
from handrail.core.errors import ChangeRefused, SetupError
from handrail.core.execution import FINAL
from handrail.core.ids import OWN_AGENT, ProjectId, SessionId, UserId
from handrail.core.memory import MOST_MEMORIES
from handrail.core.ports import Store
from handrail.core.project import Project, Session
from handrail.plane.blobs import BlobKeeper
from handrail.store.own_data import open_own_data

_KIND = "handrail data 1"
_MEMORIES_AT_ONCE = 500


class Share(StrEnum):
    """What can be deleted, each for itself."""

    CONVERSATIONS = "conversations"
    RESULTS = "results"
    MEMORIES = "memories"


@dataclass(frozen=True, slots=True)
class Deleted:
    """How much is gone; `left` are sessions in which a call has not ended, and are as before."""

    sessions: int
    memories: int
    copies: int
    left: tuple[SessionId, ...] = ()


async def find_person(home: Home, project_id: str) -> Project:
    """The project by which a person is known here.

    Raises:
        SetupError: Their data is on another machine.
    """
    if home.database.exists():
        async with open_store(home, LocalBus(), to_prove=True) as store:
            if (found := await store.find_project(ProjectId(project_id))) is not None:
                return found
    raise SetupError("your data is stored where the server runs; run this on that machine")


def export_own_data(home: Home, user_id: UserId, output: TextIO) -> Counter[str]:
    """Write everything of a person as JSON lines; how many there are of each kind."""
    written: Counter[str] = Counter()
    _write(output, _KIND, {"exported_at": SystemClock().now().isoformat(), "user_id": user_id})
    with open_own_data(home.database, user_id) as rows:
        for kind, values in rows:
            _write(output, kind, values)
            written[kind] += 1
    # Whoever reads it can tell that nothing was cut off.
    _write(output, "end", {"lines": written.total()})
    return written


def _write(output: TextIO, kind: str, values: dict[str, object]) -> None:
    # Escaped: a model may cut a character in half, which UTF-8 cannot hold.
    output.write(f"{json.dumps({'kind': kind, **values})}\n")


async def delete_own_data(home: Home, project: Project, shares: set[Share]) -> Deleted:
    """Delete that for good, in all projects of a person, while no server and no client can run.

    Raises:
        SetupError: One is running.
    """
    with home.at_rest():
        async with open_store(home, LocalBus()) as store:
            sessions = await _sessions_of(home, store, project.user_id, shares)
            left = [one.id for one in sessions if not await _forget(store, one, project.user_id)]
            memories = await _forget_memories(store, project) if Share.MEMORIES in shares else 0
            await BlobKeeper(store, SystemClock()).tidy_up()
        copies = _remove_copies(home)
    return Deleted(len(sessions) - len(left), memories, copies, tuple(left))


async def _sessions_of(
    home: Home, store: Store, user_id: UserId, shares: set[Share]
) -> list[Session]:
    """Those with our own agent, those with others, or both, which still hold something."""
    wanted: list[Session] = []
    full = _full_sessions(home, user_id)
    with open_own_data(home.database, user_id, "session") as rows:
        found = [values for _, values in rows]
    for values in found:
        share = Share.CONVERSATIONS if values["opened_by"] == OWN_AGENT else Share.RESULTS
        if share not in shares or (values["project_id"], values["id"]) not in full:
            continue
        place = await store.find_place(values["project_id"], values["id"])
        if place is not None:
            wanted.append(place.session)
    return wanted


def _full_sessions(home: Home, user_id: UserId) -> set[tuple[str, str]]:
    """Those in which something was said or brought back, or in which a call has not ended."""
    full: set[tuple[str, str]] = set()
    for kind in ("run", "message", "call"):
        with open_own_data(home.database, user_id, kind) as rows:
            for _, values in rows:
                if kind != "call" or _holds_something(values):
                    full.add((values["project_id"], values["session_id"]))
    return full


def _holds_something(call: dict[str, Any]) -> bool:
    brought = any(call[name] for name in ("result", "late_result", "suspicion", "reasoning"))
    return brought or call["status"] not in FINAL


async def _forget(store: Store, session: Session, user_id: UserId) -> bool:
    stop: tuple[Step, ...] = () if session.stopped_at is not None else (StopSession(session),)
    line = AuditRecord("session.forgotten", user_id, session.id)
    steps = (*stop, ForgetTalk(session))
    try:
        await store.submit(Change(session.project_id, SystemClock().now(), steps, audit=(line,)))
    except ChangeRefused:
        return False
    return True


async def _forget_memories(store: Store, project: Project) -> int:
    found = await store.list_memories(project.user_id, category=None, limit=MOST_MEMORIES)
    for first in range(0, len(found), _MEMORIES_AT_ONCE):
        page = found[first : first + _MEMORIES_AT_ONCE]
        steps = tuple(ForgetMemory(project.user_id, memory.key) for memory in page)
        line = AuditRecord(
            "memories.forgotten", project.user_id, project.user_id, {"memories": len(page)}
        )
        await store.submit(Change(project.id, SystemClock().now(), steps, audit=(line,)))
    return len(found)


def _remove_copies(home: Home) -> int:
    """The copies from before an upgrade, which hold all of it still."""
    copies = list(home.path.glob(f"{home.database.name}.before-*"))
    for copy in copies:
        copy.unlink()
    return len(copies)

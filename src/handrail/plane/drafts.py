"""DraftList: the drafts on connected machines, as these tell about them; nothing of it is stored.

A machine's disk is the truth about its drafts. It tells when it connects and when they change.
"""

from collections.abc import Sequence
from typing import NamedTuple

from handrail.core.access import Principal
from handrail.core.audit import AuditRecord
from handrail.core.change import Change
from handrail.core.draft import DraftExpired, DraftSummary
from handrail.core.errors import Conflict
from handrail.core.ids import ClientId, ProjectId, SessionId
from handrail.core.ports import Clock, Store
from handrail.plane.connections import Connection, Connections
from handrail.plane.whispers import DraftNews, Whispers
from handrail.policy.redaction import mask_text

_NOT_CONNECTED = "this machine is not connected; open its event stream first"


class ListedDraft(NamedTuple):
    """A draft, the machine that has it, and who opened its session."""

    summary: DraftSummary
    client_id: ClientId
    agent_id: str


class _Told(NamedTuple):
    """What a machine has told on one connection."""

    connection: Connection
    project_id: ProjectId
    drafts: tuple[ListedDraft, ...]


class DraftList:
    def __init__(self, store: Store, clock: Clock, connections: Connections, whispers: Whispers):
        self._store = store
        self._clock = clock
        self._connections = connections
        self._whispers = whispers
        self._told: dict[ClientId, _Told] = {}

    def list_all(self, project_id: ProjectId) -> list[ListedDraft]:
        """The drafts of a project whose machines are connected, the latest first."""
        found = [
            draft
            for told in self._told.values()
            if told.project_id == project_id and not told.connection.ended
            for draft in told.drafts
        ]
        return sorted(found, key=lambda draft: draft.summary.last_at, reverse=True)

    async def take(
        self,
        drafts: Sequence[DraftSummary],
        expired: Sequence[DraftExpired],
        client: Principal,
        project_id: ProjectId,
    ) -> None:
        """Take what a machine tells: all drafts that it has, and those that have expired.

        Sessions that are not of its workspace are left out.

        Raises:
            Conflict: The machine is not connected.
        """
        client_id = ClientId(client.subject)
        connection = self._connections.find(client_id)
        if connection is None:
            raise Conflict(_NOT_CONNECTED)
        listed = [
            ListedDraft(one, client_id, agent)
            for one in drafts
            if (agent := await self._opener_of(one.session_id, client, project_id)) is not None
        ]
        await self._record(expired, client, project_id)
        if connection.ended:
            raise Conflict(_NOT_CONNECTED)
        before = self._told.get(client_id)
        self._told[client_id] = _Told(connection, project_id, tuple(listed))
        known = () if before is None or before.connection.ended else before.drafts
        self._tell(project_id, {*known} ^ {*listed})

    def drop(self, connection: Connection) -> None:
        """The drafts of a machine whose connection has ended are no longer listed."""
        told = self._told.get(connection.client_id)
        if told is not None and told.connection is connection:
            del self._told[connection.client_id]
            self._tell(told.project_id, set(told.drafts))

    def _tell(self, project_id: ProjectId, changed: set[ListedDraft]) -> None:
        for session_id in sorted({draft.summary.session_id for draft in changed}):
            self._whispers.tell(DraftNews(project_id, SessionId(session_id)))

    async def _opener_of(
        self, session_id: str, client: Principal, project_id: ProjectId
    ) -> str | None:
        place = await self._store.find_place(project_id, SessionId(session_id))
        if place is None or place.workspace.id != client.workspace_id:
            return None
        return place.session.opened_by

    async def _record(
        self, expired: Sequence[DraftExpired], client: Principal, project_id: ProjectId
    ) -> None:
        lines = [
            AuditRecord(
                "draft.expired",
                client.subject,
                one.session_id,
                {"steps": one.steps, "files": one.files, "patch": mask_text(one.patch)},
            )
            for one in expired
            if await self._opener_of(one.session_id, client, project_id) is not None
        ]
        if lines:
            await self._store.submit(Change(project_id, self._clock.now(), (), (), tuple(lines)))

"""SessionOpener: the place that a call happens in, which its first call opens."""

from dataclasses import replace

from handrail.core.access import Principal, Role
from handrail.core.change import Change, OpenSession
from handrail.core.errors import ChangeRefused, Conflict, Forbidden, NotFound
from handrail.core.ids import OWN_AGENT
from handrail.core.ports import Clock, Store
from handrail.core.project import Place, Session
from handrail.core.tool import ToolCall


class SessionOpener:
    def __init__(self, store: Store, clock: Clock):
        self._store = store
        self._clock = clock

    async def enter(self, call: ToolCall, asker: Principal) -> Place:
        """The place a call happens in; a session is opened by its first call.

        The session is stored before the call is judged, so that a person can stop it meanwhile.
        """
        place = await self._store.find_place(call.project_id, call.session_id)
        if place is None:
            place = await self._new_place(call, asker)
            opening = (OpenSession(place.session),)
            try:
                await self._store.submit(Change(call.project_id, self._clock.now(), opening))
            except ChangeRefused:
                # Another call has opened it at the same time.
                return await self.enter(call, asker)
        check_owner(place.session, asker)
        return place

    async def _new_place(self, call: ToolCall, asker: Principal) -> Place:
        project = await self._store.find_project(call.project_id)
        if project is None:
            raise NotFound(f"there is no project {call.project_id}")
        workspaces = await self._store.list_workspaces(call.project_id)
        if asker.workspace_id is not None:
            workspaces = [place for place in workspaces if place.id == asker.workspace_id]
        if not workspaces:
            raise Conflict("this project has no workspace yet; `handrail connect` registers one")
        if len(workspaces) > 1:
            raise Conflict("this project has several workspaces; ask with an agent's token")
        session = Session(
            call.session_id,
            call.project_id,
            workspaces[0].id,
            opened_by=asker.subject,
            created_at=self._clock.now(),
        )
        return Place(project, workspaces[0], await self._with_taint_of_agent(session))

    async def _with_taint_of_agent(self, session: Session) -> Session:
        """What a foreign agent has read elsewhere is not forgotten because it begins anew."""
        if session.opened_by == OWN_AGENT:
            return session
        tainted = await self._store.list_tainted(session.project_id)
        for one in tainted:
            if one.opened_by == session.opened_by:
                return replace(
                    session,
                    tainted_at=one.tainted_at,
                    tainted_by=one.tainted_by,
                    tainted_call=one.tainted_call,
                )
        return session


def check_owner(session: Session, asker: Principal) -> None:
    """A session is its agent's own; the people of the project may use any."""
    if asker.role is Role.AGENT and session.opened_by != asker.subject:
        raise Forbidden(f"session {session.id!r} belongs to another agent or user")

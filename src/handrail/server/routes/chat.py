"""Conversations with Handrail's own agent: what is said, what was said, and a stop."""

from starlette.requests import Request
from starlette.responses import Response

from handrail.core.errors import Conflict, NotFound
from handrail.core.ids import MessageId, RunId, SessionId, WorkspaceId
from handrail.core.talks import Runs
from handrail.server.auth import Gate
from handrail.server.direct import CHANGE_PROBLEMS, DirectRoute, json_response, query_of
from handrail.server.routes.calls import BASE, PEOPLE
from handrail.server.services import Services
from handrail.wire.chat import (
    MessageRequest,
    MessageResponse,
    MessagesQuery,
    MessagesResponse,
    MessageView,
    RunView,
    StoppedRunResponse,
    TalksResponse,
    TalkView,
)
from handrail.wire.rendering import render_message, render_run
from handrail.wire.stops import StopRequest

_MAX_BYTES = 1_000_000
_MOST_TALKS = 100


class ChatRoutes:
    def __init__(self, services: Services, gate: Gate):
        self._services = services
        self._gate = gate

    def routes(self) -> tuple[DirectRoute, ...]:
        return (
            DirectRoute(
                "POST",
                f"{BASE}/chat/messages",
                self.say,
                PEOPLE,
                "Send a message to the agent; it starts a run, or joins the one in progress",
                MessageResponse,
                MessageRequest,
                CHANGE_PROBLEMS,
            ),
            DirectRoute(
                "GET",
                f"{BASE}/chat/messages",
                self.messages,
                PEOPLE,
                "The messages of a conversation, in order",
                MessagesResponse,
                parameters=query_of(MessagesQuery),
            ),
            DirectRoute(
                "GET",
                f"{BASE}/chat/sessions",
                self.sessions,
                PEOPLE,
                "The conversations with the agent, the latest first",
                TalksResponse,
            ),
            DirectRoute(
                "POST",
                f"{BASE}/chat/runs/{{run_id}}/stop",
                self.stop,
                PEOPLE,
                "Stop a run and its calls; the conversation can continue",
                StoppedRunResponse,
                StopRequest,
                CHANGE_PROBLEMS,
                body_needed=False,
            ),
        )

    async def say(self, request: Request) -> Response:
        entry, body = await self._gate.hear(request, MessageRequest, _MAX_BYTES, *PEOPLE)
        message, run = await self._runs.say(
            body.text,
            entry.principal,
            entry.project.id,
            None if body.session_id is None else SessionId(body.session_id),
            None if body.workspace_id is None else WorkspaceId(body.workspace_id),
            body.autonomy,
            None if body.message_id is None else MessageId(body.message_id),
        )
        answer = MessageResponse(success=True, message=MessageView.of(message), run=RunView.of(run))
        return json_response(answer.model_dump(mode="json"))

    async def messages(self, request: Request) -> Response:
        entry = await self._gate.admit(request, *PEOPLE)
        query = MessagesQuery.model_validate(dict(request.query_params))
        where = (entry.project.id, SessionId(query.session_id))
        store = self._services.store
        found = await store.list_messages(*where, after=query.after, limit=query.limit)
        run = await store.find_last_run(*where)
        # As `MessagesResponse` has it; each message is rendered by itself, should one not be fit.
        answer = {
            "success": True,
            "messages": [render_message(message) for message in found],
            "run": None if run is None else render_run(run),
        }
        return json_response(answer)

    async def sessions(self, request: Request) -> Response:
        entry = await self._gate.admit(request, *PEOPLE)
        found = await self._services.store.list_talks(entry.project.id, limit=_MOST_TALKS)
        answer = TalksResponse(success=True, sessions=[TalkView.of(talk) for talk in found])
        return json_response(answer.model_dump(mode="json"))

    async def stop(self, request: Request) -> Response:
        entry, _ = await self._gate.hear(
            request, StopRequest, _MAX_BYTES, *PEOPLE, empty=StopRequest()
        )
        run_id = RunId(request.path_params["run_id"])
        if self._services.runs is None:
            raise NotFound(f"there is no run {run_id!r}")
        run = await self._services.runs.stop(run_id, entry.principal, entry.project.id)
        answer = StoppedRunResponse(success=True, run=RunView.of(run))
        return json_response(answer.model_dump(mode="json"))

    @property
    def _runs(self) -> Runs:
        if self._services.runs is None:
            raise Conflict("this server has no agent of its own; other agents can use it")
        return self._services.runs

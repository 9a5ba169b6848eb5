"""The rules: what they are, what they would say to a call, and what a project adds to them."""

from starlette.requests import Request
from starlette.responses import Response

from handrail.core.access import Role
from handrail.core.ids import SessionId, WorkspaceId
from handrail.plane.policies import Where
from handrail.policy.rulebook.settings import Unlisted
from handrail.server.auth import Gate
from handrail.server.direct import (
    CHANGE_PROBLEMS,
    USUAL_PROBLEMS,
    DirectRoute,
    json_response,
)
from handrail.server.routes.calls import BASE, MACHINES, PEOPLE
from handrail.server.services import Services
from handrail.wire.policy import (
    AutonomyRequest,
    AutonomyResponse,
    EffectiveView,
    ExplainRequest,
    ExplainResponse,
    LayerView,
    PolicyReceipt,
    PolicyRequest,
    PolicyResponse,
)

# In JSON a character of the file takes up to six.
_MAX_POLICY_BYTES = 1_600_000
_MAX_CALL_BYTES = 8_000_000
_MAX_AUTONOMY_BYTES = 1_000
# Not for a machine: its token lies where commands run.
_OWNER = (Role.USER,)


class PolicyRoutes:
    def __init__(self, services: Services, gate: Gate):
        self._services = services
        self._gate = gate

    def routes(self) -> tuple[DirectRoute, ...]:
        return (
            DirectRoute(
                "GET",
                f"{BASE}/policy",
                self.show,
                PEOPLE,
                "The rules, layer by layer, and those in force in each workspace",
                PolicyResponse,
            ),
            DirectRoute(
                "PUT",
                f"{BASE}/policy",
                self.keep,
                MACHINES,
                "Report the client's policy file, and which box it has for commands",
                PolicyReceipt,
                PolicyRequest,
                CHANGE_PROBLEMS,
            ),
            DirectRoute(
                "GET",
                f"{BASE}/autonomy",
                self.autonomy,
                PEOPLE,
                "How much agents of this project may do without asking",
                AutonomyResponse,
            ),
            DirectRoute(
                "PUT",
                f"{BASE}/autonomy",
                self.set_autonomy,
                _OWNER,
                "Set how much agents of this project may do without asking",
                AutonomyResponse,
                AutonomyRequest,
                CHANGE_PROBLEMS,
            ),
            DirectRoute(
                "POST",
                f"{BASE}/policy/explain",
                self.explain,
                PEOPLE,
                "Judge a call as if it were proposed; nothing is run, stored or asked",
                ExplainResponse,
                ExplainRequest,
                (*USUAL_PROBLEMS, 413),
                bad_input="No tool has this name, or the parameters do not fit its schema.",
            ),
        )

    async def show(self, request: Request) -> Response:
        entry = await self._gate.admit(request, *PEOPLE)
        policies, project = self._services.policies, entry.project
        layers = [LayerView.of(one) for one in await policies.list_layers(project.id)]
        effective = [
            EffectiveView.of(
                workspace, rules.lower(project.autonomy), rules.unlisted or Unlisted.ASK
            )
            for workspace, rules in await policies.list_workspaces(project.id)
        ]
        answer = PolicyResponse(layers=layers, effective=effective)
        return json_response(answer.model_dump(mode="json"))

    async def keep(self, request: Request) -> Response:
        entry, body = await self._gate.hear(request, PolicyRequest, _MAX_POLICY_BYTES, *MACHINES)
        kept = await self._services.policies.keep(
            body.text, body.walls, entry.principal, entry.project.id
        )
        return json_response(PolicyReceipt(workspace_id=kept.id).model_dump())

    async def autonomy(self, request: Request) -> Response:
        entry = await self._gate.admit(request, *PEOPLE)
        return json_response(AutonomyResponse.of(entry.project.autonomy).model_dump(mode="json"))

    async def set_autonomy(self, request: Request) -> Response:
        entry, body = await self._gate.hear(request, AutonomyRequest, _MAX_AUTONOMY_BYTES, *_OWNER)
        policies, who = self._services.policies, entry.principal
        changed = await policies.set_autonomy(entry.project, body.autonomy, who)
        return json_response(AutonomyResponse.of(changed.autonomy).model_dump(mode="json"))

    async def explain(self, request: Request) -> Response:
        entry, body = await self._gate.hear(request, ExplainRequest, _MAX_CALL_BYTES, *PEOPLE)
        where = Where(
            None if body.session_id is None else SessionId(body.session_id),
            None if body.workspace_id is None else WorkspaceId(body.workspace_id),
            body.autonomy,
        )
        found = await self._services.policies.explain(
            body.tool_name, body.tool_params, where, entry.principal, entry.project
        )
        answer = ExplainResponse.of(
            found.explained,
            found.autonomy,
            self._services.approvals.seconds_for(found.explained.verdict),
            found.workspace.id,
        )
        return json_response(answer.model_dump(mode="json"))

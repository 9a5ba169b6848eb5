"""Signing in with a browser, and out again."""

from starlette.requests import Request
from starlette.responses import Response

from handrail.core.access import Role, Token
from handrail.core.errors import Forbidden, NotFound
from handrail.core.ids import ApprovalId
from handrail.core.project import Project
from handrail.core.visible import cut, visible
from handrail.server.auth import Gate
from handrail.server.console.cookie import delete_cookie, halves_of, set_cookie
from handrail.server.console.sign_in import SignIns
from handrail.server.direct import USUAL_PROBLEMS, DirectRoute, json_response, read_body
from handrail.server.routes.calls import BASE
from handrail.server.services import Services
from handrail.version import __version__
from handrail.wire.console import (
    LinkRequest,
    LinkResponse,
    LinkStateResponse,
    ProjectView,
    SignedInResponse,
    SignedOutResponse,
    SignInRequest,
    WelcomeResponse,
    WhereaboutsResponse,
)

_MAX_BYTES = 10_000
_MOST_AGENT_CHARS = 200
_USERS = (Role.USER,)
_SIGNED_IN = (Role.USER, Role.APPROVER)


class ConsoleRoutes:
    """`behind_proxy`: others speak TLS with the proxy, though we hear plain HTTP."""

    def __init__(
        self, services: Services, gate: Gate, sign_ins: SignIns, *, behind_proxy: bool = False
    ):
        self._services = services
        self._gate = gate
        self._sign_ins = sign_ins
        self._behind_proxy = behind_proxy

    def routes(self) -> tuple[DirectRoute, ...]:
        here = "/console/session"
        return (
            DirectRoute(
                "POST", f"{BASE}/console/links", self.make_link, _USERS,
                "Make a link that signs a browser in, once; yours, or that of an approver",
                LinkResponse, LinkRequest, (*USUAL_PROBLEMS, 413), body_needed=False,
            ),
            DirectRoute(
                "GET", f"{BASE}/console/links/{{sha256}}", self.find_link, _USERS,
                "Tell whether one of your links was used; `sha256` is the hash of its secret",
                LinkStateResponse, None, USUAL_PROBLEMS,
            ),
            DirectRoute(
                "POST", here, self.sign_in, (),
                "Sign a browser in with a link; answers with its cookie and its page's key",
                WelcomeResponse, SignInRequest, (400, 401, 409, 413),
            ),
            DirectRoute(
                "POST", f"{here}/end", self.end_sign_in, (),
                "End the sign-in that a used link was exchanged for; the link is all it takes",
                SignedOutResponse, SignInRequest, (400, 404, 413),
            ),
            DirectRoute(
                "GET", here, self.who, _SIGNED_IN,
                "Who is signed in, and their projects", SignedInResponse, None, (401, 403),
            ),
            DirectRoute(
                "GET", "/console/approvals/{approval_id}", self.find_approval, _SIGNED_IN,
                "Which of their projects a question belongs to",
                WhereaboutsResponse, None, (401, 403, 404),
            ),
            DirectRoute(
                "DELETE", here, self.sign_out, _SIGNED_IN,
                "Sign this browser out", SignedOutResponse, None, (401, 403),
            ),
        )  # fmt: skip

    async def make_link(self, request: Request) -> Response:
        entry, body = await self._gate.hear(
            request, LinkRequest, _MAX_BYTES, *_USERS, empty=LinkRequest()
        )
        approver = None
        if body.approver is not None:
            approver = await self._find_approver(entry.project, body.approver)
        link, expires_at = self._sign_ins.make_link(
            entry.principal.user_id, entry.project.id, approver
        )
        return json_response(LinkResponse(link=link, expires_at=expires_at).model_dump())

    async def find_link(self, request: Request) -> Response:
        entry = await self._gate.admit(request, *_USERS)
        use = self._sign_ins.find_use(request.path_params["sha256"], entry.principal.user_id)
        state = LinkStateResponse(
            used_at=None if use is None else use.token.created_at,
            used_by=None if use is None else use.browser,
            token_id=None if use is None else use.token.id,
        )
        return json_response(state.model_dump())

    async def end_sign_in(self, request: Request) -> Response:
        body = await read_body(request, SignInRequest, _MAX_BYTES)
        await self._sign_ins.end_sign_in(body.link)
        return json_response(SignedOutResponse().model_dump())

    async def sign_in(self, request: Request) -> Response:
        body = await read_body(request, SignInRequest, _MAX_BYTES)
        token, halves, project_id = await self._sign_ins.sign_in(
            body.link, _describe_browser(request), halves_of(request)
        )
        known = (await self._session(token)).model_dump()
        answer = WelcomeResponse(**known, project_id=project_id, page_key=halves.page)
        response = json_response(answer.model_dump())
        set_cookie(request, response, halves.cookie, secure=self._is_private(request))
        return response

    async def who(self, request: Request) -> Response:
        return json_response((await self._session(await self._person(request))).model_dump())

    async def find_approval(self, request: Request) -> Response:
        token = await self._person(request)
        approval_id = ApprovalId(request.path_params["approval_id"])
        found = await self._services.store.find_approval(approval_id)
        theirs = {one.id for one in await self._projects_of(token)}
        if found is None or found.project_id not in theirs:
            raise NotFound(f"there is no approval {approval_id!r}")
        return json_response(WhereaboutsResponse(project_id=found.project_id).model_dump())

    async def sign_out(self, request: Request) -> Response:
        token = await self._person(request)
        if halves_of(request) is None or "authorization" in request.headers:
            raise Forbidden("this is not a browser's token; `handrail token revoke` takes it back")
        await self._sign_ins.sign_out(token)
        response = json_response(SignedOutResponse().model_dump())
        delete_cookie(request, response, secure=self._is_private(request))
        return response

    async def _person(self, request: Request) -> Token:
        token = await self._gate.identify(request)
        if token.role not in _SIGNED_IN:
            raise Forbidden("only a person's own token signs a browser in; use a user's token")
        return token

    async def _find_approver(self, project: Project, name: str) -> Token:
        """The first of their live tokens; the others are those of their browsers."""
        now = self._services.clock.now()
        for one in await self._services.store.list_tokens(project.user_id):
            is_theirs = one.role is Role.APPROVER and one.project_id == project.id
            if is_theirs and one.name == name and one.is_live(now):
                return one
        raise NotFound(
            f"this project has no approver {name!r}; `handrail token create --role approver` "
            "adds one"
        )

    async def _projects_of(self, token: Token) -> list[Project]:
        """All projects of a user; the one project of an approver."""
        found = await self._services.store.list_projects(token.user_id)
        return [one for one in found if token.project_id in (None, one.id)]

    async def _session(self, token: Token) -> SignedInResponse:
        projects = await self._projects_of(token)
        waiting = await self._services.store.count_open_questions()
        views = [
            ProjectView(project_id=one.id, name=one.name, waiting=waiting.get(one.id, 0))
            for one in projects
        ]
        name = token.name
        if token.role is Role.USER:
            name = (await self._services.store.get_user(token.user_id)).name
        return SignedInResponse(
            user_id=token.subject,
            name=name,
            role="user" if token.role is Role.USER else "approver",
            projects=views,
            version=__version__,
            now=self._services.clock.now(),
        )

    def _is_private(self, request: Request) -> bool:
        return self._behind_proxy or request.url.scheme == "https"


def _describe_browser(request: Request) -> str:
    """The address that a request comes from, and the name that its browser gives itself."""
    peer = "an unknown address" if request.client is None else request.client.host
    agent = request.headers.get("user-agent", "a browser without a name")
    return f"from {peer} by {cut(visible(agent), _MOST_AGENT_CHARS)}"

"""The files of the console: built by `web/`, served from memory, each with a strict policy."""

import gzip
import mimetypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Scope

PAGES = (
    "approvals", "chat", "drafts", "activity", "analytics", "policy", "grants", "machines",
    "memory", "skills", "settings",
)  # fmt: skip

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_ALWAYS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_WORTH_PACKING = ("text/", "image/svg", "application/javascript", "application/json")


@dataclass(frozen=True, slots=True)
class _File:
    media_type: str
    plain: bytes
    packed: bytes | None


class _Nowhere(Route):
    """Only for people who look at an address; programs are told by the API that there is none."""

    def __init__(self, endpoint: Callable[..., Any], others: Sequence[BaseRoute]):
        super().__init__("/{rest:path}", endpoint, methods=["GET"])
        self._others = others

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        is_known = any(route.matches(scope)[0] is not Match.NONE for route in self._others)
        if is_known or "text/html" not in Headers(scope=scope).get("accept", ""):
            return Match.NONE, {}
        return super().matches(scope)


class ConsoleFiles:
    """Everything that was built, read once. Without it there is no console, only the API."""

    def __init__(self, folder: Traversable | None = None):
        built = folder or files("handrail.server.console") / "built"
        index = built / "index.html"
        self._index = index.read_text(encoding="utf-8") if index.is_file() else None
        assets = built / "assets"
        self._assets = {one.name: _read(one) for one in assets.iterdir()} if assets.is_dir() else {}

    @property
    def are_built(self) -> bool:
        return self._index is not None

    def routes(self) -> list[Route]:
        """The addresses of pages and files; none of them needs a token, and none tells a thing."""
        if not self.are_built:
            return []
        pages = [Route(f"/{page}", self.page) for page in PAGES]
        below = [Route(f"/{page}/{{rest:path}}", self.page) for page in PAGES]
        return [Route("/", self.page), *pages, *below, Route("/assets/{name}", self.asset)]

    def nowhere(self, others: Sequence[BaseRoute]) -> list[Route]:
        """What a browser is shown at an address that neither we nor these others have."""
        return [_Nowhere(self.no_page, others)] if self.are_built else []

    async def no_page(self, request: Request) -> Response:
        response = await self.page(request)
        response.status_code = 404
        return response

    async def page(self, request: Request) -> Response:
        headers = {"content-security-policy": _POLICY, "cache-control": "no-cache"} | _ALWAYS
        return HTMLResponse(self._index or "", headers=headers)

    async def asset(self, request: Request) -> Response:
        found = self._assets.get(request.path_params["name"])
        if found is None:
            raise HTTPException(404)
        # Their names hold a hash of what is in them.
        headers = {"cache-control": "public, max-age=31536000, immutable"} | _ALWAYS
        if found.packed is not None and "gzip" in request.headers.get("accept-encoding", ""):
            headers |= {"content-encoding": "gzip", "vary": "accept-encoding"}
            return Response(found.packed, media_type=found.media_type, headers=headers)
        return Response(found.plain, media_type=found.media_type, headers=headers)


def _read(file: Traversable) -> _File:
    media_type = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    if media_type == "text/javascript":
        media_type = "text/javascript; charset=utf-8"
    plain = file.read_bytes()
    packed = gzip.compress(plain, mtime=0) if media_type.startswith(_WORTH_PACKING) else None
    return _File(media_type, plain, packed)

"""Refuses requests that a web page makes from a browser on this machine."""

import re
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from handrail.server.errors import BAD_INPUT, FOREIGN_ORIGIN, problem

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]]+)(?::\d{1,5})?")


class HostGuard:
    """Refuses other names for this server (DNS rebinding) and pages of other origins."""

    def __init__(
        self, app: ASGIApp, hosts: frozenset[str] = frozenset(), origin: str | None = None
    ):
        self._app = app
        self._hosts = _LOOPBACK | hosts
        self._origin = origin

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (response := self._refuse(Headers(scope=scope))):
            await response(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _refuse(self, headers: Headers) -> Response | None:
        # A proxy in front may go by another one than this server does (RFC 9112, section 3.2).
        for name in ("host", "origin", "authorization"):
            if len(headers.getlist(name)) > 1:
                return problem(BAD_INPUT, f"a request has one {name.title()} header, not several")
        trouble = self._find_trouble(headers)
        return None if trouble is None else problem(FOREIGN_ORIGIN, trouble)

    def _find_trouble(self, headers: Headers) -> str | None:
        host = headers.get("host", "")
        if (name := _HOST.fullmatch(host.lower())) is None or not self._is_ours(name[1]):
            return f"this server is not called {host!r}"
        origin = headers.get("origin")
        if origin is not None and not self._is_own_page(origin.lower(), host.lower()):
            return f"pages of {origin!r} may not use this server"
        return None

    def _is_ours(self, name: str) -> bool:
        """By name, or as the `*.` of a certificate has it: in place of one word."""
        return name in self._hosts or f"*.{name.partition('.')[2]}" in self._hosts

    def _is_own_page(self, origin: str, host: str) -> bool:
        return origin == self._origin or _place_of(origin) == host


def _place_of(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None

"""Finds a direct route by the words of its address, and calls it with nothing in between.

The framework would try pattern after pattern and wrap each answer several times; here most
requests take a fraction of that. Whatever has no place on the board is left to the framework.
"""

from collections.abc import Iterable
from typing import Any

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from handrail.server.direct import DirectRoute
from handrail.server.errors import EXPECTED, answer_for

# The place of a name in an address, such as `{project_id}`, and of the routes that end here.
_ANY = "{}"
_HERE = None

_Place = dict[str | None, Any]


class Switchboard:
    def __init__(self, app: ASGIApp, routes: Iterable[DirectRoute]):
        self._app = app
        self._board: _Place = {}
        for route in routes:
            self._plug_in(route)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = self._find(scope) if scope["type"] == "http" else None
        if route is None:
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        begun = False

        async def send_and_note(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            response = await route.endpoint(request)
            await response(scope, receive, send_and_note)
        except EXPECTED as error:
            if begun:
                raise
            response = await answer_for(request, error)
            await response(scope, receive, send)

    def _plug_in(self, route: DirectRoute) -> None:
        place = self._board
        for word in route.path.split("/"):
            place = place.setdefault(_ANY if word.startswith("{") else word, {})
        place.setdefault(_HERE, {})[route.method] = route

    def _find(self, scope: Scope) -> DirectRoute | None:
        """The route of an address and a method; the names in the address become parameters."""
        place: _Place | None = self._board
        words = scope["path"].split("/")
        for word in words:
            place = place.get(word) or (place.get(_ANY) if word else None)
            if place is None:
                return None
        route: DirectRoute | None = place.get(_HERE, {}).get(scope["method"])
        if route is not None:
            named = zip(route.path.split("/"), words, strict=True)
            scope["path_params"] = {name[1:-1]: word for name, word in named if name[:1] == "{"}
        return route

"""The cookie of a signed-in browser, and when it counts.

A browser sends it by itself, whoever has made it ask, and to every port of a machine. So it is one
half of what opens something. The other is given to our page at the sign-in, which keeps it where
no page of another port can look and sends it in a header that no form can send.
"""

import re

from starlette.requests import HTTPConnection
from starlette.responses import Response

from handrail.server.console.halves import Halves
from handrail.server.console.sign_in import SIGNED_IN_LASTS

HEADER = "x-handrail-console"
_NAME = "handrail_console"
_PORT = re.compile(r":([0-9]{1,5})$")


def set_cookie(connection: HTTPConnection, response: Response, half: str, *, secure: bool) -> None:
    response.set_cookie(
        _name(connection),
        half,
        max_age=int(SIGNED_IN_LASTS.total_seconds()),
        httponly=True,
        samesite="strict",
        secure=secure,
    )


def delete_cookie(connection: HTTPConnection, response: Response, *, secure: bool) -> None:
    response.delete_cookie(_name(connection), httponly=True, samesite="strict", secure=secure)


def halves_of(connection: HTTPConnection) -> Halves | None:
    """What a browser presents, if one of our own pages has made it ask."""
    cookie, page = connection.cookies.get(_name(connection)), connection.headers.get(HEADER)
    ours = connection.headers.get("sec-fetch-site", "same-origin") == "same-origin"
    return Halves(cookie, page) if cookie and page and ours else None


def _name(connection: HTTPConnection) -> str:
    """Browsers keep a cookie of one name for all ports, where several servers may listen."""
    port = _PORT.search(connection.headers.get("host", ""))
    return f"{_NAME}_{port[1]}" if port else _NAME

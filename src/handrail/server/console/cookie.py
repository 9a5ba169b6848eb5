"""The cookie of a signed-in browser, and when it counts.

A browser sends it by itself, whoever has made it ask. So it opens something only for our own pages:
other sites are kept out by the guard and by `SameSite`, other pages of this machine by what the
browser says of where a request comes from, and a change needs a header that no form can send.
"""

from starlette.requests import HTTPConnection
from starlette.responses import Response

from handrail.server.console.sign_in import SIGNED_IN_LASTS

NAME = "handrail_console"
HEADER = "x-handrail-console"
_SAFE = frozenset({"GET", "HEAD"})


def set_cookie(response: Response, secret: str, *, secure: bool) -> None:
    response.set_cookie(
        NAME,
        secret,
        max_age=int(SIGNED_IN_LASTS.total_seconds()),
        httponly=True,
        samesite="strict",
        secure=secure,
    )


def delete_cookie(response: Response, *, secure: bool) -> None:
    response.delete_cookie(NAME, httponly=True, samesite="strict", secure=secure)


def secret_of_cookie(connection: HTTPConnection) -> str | None:
    """The secret that a browser presents, if one of our own pages has made it ask."""
    secret = connection.cookies.get(NAME)
    if not secret or connection.headers.get("sec-fetch-site", "same-origin") != "same-origin":
        return None
    changes = connection.scope.get("method", "GET") not in _SAFE
    return None if changes and HEADER not in connection.headers else secret

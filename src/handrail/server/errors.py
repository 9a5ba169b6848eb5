"""From what went wrong to what is told: one table, one form (RFC 9457)."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

import structlog
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from handrail.core import errors
from handrail.core.visible import cut

log = structlog.get_logger(__name__)

# Of one answer: enough to mend a request by.
_MOST_LINES = 10
_MOST_CHARS = 2_000
_RETRY_SECONDS = 5


class Kind(NamedTuple):
    """One kind of problem: programs tell it by its name, people by its title."""

    status: int
    name: str
    title: str
    meaning: str
    retry_after_seconds: int | None = None

    @property
    def type(self) -> str:
        return f"urn:handrail:{self.name}"


BAD_INPUT = Kind(
    400, "bad-input", "Bad request", "The request does not fit; `detail` names the field."
)
UNAUTHENTICATED = Kind(
    401,
    "unauthenticated",
    "Not authenticated",
    "No token, or one that is unknown, revoked or expired.",
)
FORBIDDEN = Kind(403, "forbidden", "Not allowed", "The token is good, but not for this.")
FOREIGN_ORIGIN = Kind(
    403,
    "foreign-origin",
    "Wrong host or origin",
    "The Host header does not name this server, or a page of another origin sent the request.",
)
NOT_FOUND = Kind(404, "not-found", "Not found", "It does not exist, or belongs to another user.")
METHOD_NOT_ALLOWED = Kind(
    405,
    "method-not-allowed",
    "Method not allowed",
    "This address allows other methods; see `Allow`.",
)
TIMEOUT = Kind(408, "timeout", "Too slow", "The request did not arrive completely in time.")
CONFLICTING_CALL = Kind(
    409,
    "conflicting-call",
    "Call id already used",
    "The `call_id` was used before, for another call.",
)
CONFLICT = Kind(
    409,
    "conflict",
    "State has changed",
    "The object of the request is no longer in the state that the request needs.",
)
LINK_USED = Kind(
    409,
    "link-used",
    "This link was already used",
    "Another browser has signed in with this link; `detail` says which, and how to end that.",
)
TOO_LARGE = Kind(413, "too-large", "Too large", "The body is larger than allowed.")
UNSUPPORTED_TYPE = Kind(
    415, "unsupported-type", "Not JSON", "The content type of the body is not `application/json`."
)
HEAD_TOO_LARGE = Kind(431, "too-large", "Too large", "Address and headers are larger than allowed.")
STORE_UNAVAILABLE = Kind(
    503,
    "store-unavailable",
    "The database is not available",
    "The database is locked, read-only, damaged or gone; nothing was stored. Send the request "
    "again after `Retry-After` seconds.",
    _RETRY_SECONDS,
)
STORE_FULL = Kind(
    507,
    "store-full",
    "The disk is full",
    "The disk of the database is full; nothing was stored. Send the request again after "
    "`Retry-After` seconds.",
    _RETRY_SECONDS,
)
INTERNAL = Kind(
    500, "internal", "Handrail failed", "A defect of the server; its log has the details."
)

PROBLEMS = (
    BAD_INPUT, UNAUTHENTICATED, FORBIDDEN, FOREIGN_ORIGIN, NOT_FOUND, METHOD_NOT_ALLOWED, TIMEOUT,
    CONFLICTING_CALL, LINK_USED, CONFLICT, TOO_LARGE, UNSUPPORTED_TYPE, HEAD_TOO_LARGE, INTERNAL,
    STORE_UNAVAILABLE, STORE_FULL,
)  # fmt: skip

# The first line that fits counts, so the special stand before the general.
_TABLE: tuple[tuple[type[errors.HandrailError], Kind], ...] = (
    (errors.TooLarge, TOO_LARGE),
    (errors.UnsupportedType, UNSUPPORTED_TYPE),
    (errors.BadInput, BAD_INPUT),
    (errors.Unauthenticated, UNAUTHENTICATED),
    (errors.Forbidden, FORBIDDEN),
    (errors.NotFound, NOT_FOUND),
    (errors.ConflictingCall, CONFLICTING_CALL),
    (errors.LinkUsed, LINK_USED),
    (errors.Conflict, CONFLICT),
    (errors.StoreFull, STORE_FULL),
    (errors.StoreUnavailable, STORE_UNAVAILABLE),
)


def problem(kind: Kind, detail: str) -> Response:
    body = {"type": kind.type, "title": kind.title, "status": kind.status, "detail": detail}
    headers = {"www-authenticate": "Bearer"} if kind is UNAUTHENTICATED else {}
    if kind.retry_after_seconds is not None:
        headers["retry-after"] = str(kind.retry_after_seconds)
    return JSONResponse(body, kind.status, headers, media_type="application/problem+json")


async def on_handrail_error(request: Request, error: Exception) -> Response:
    for known, kind in _TABLE:
        if isinstance(error, known):
            return problem(kind, error.message)
    return await on_any_error(request, error)


async def on_invalid_body(request: Request, error: Exception) -> Response:
    """Whatever cannot be read is a 400 that names the field; it is never a 422."""
    assert isinstance(error, ValidationError | RequestValidationError)  # noqa: S101  as below
    lines = error.errors()
    details = "; ".join(
        f"{'.'.join(str(part) for part in line['loc']) or 'body'}: "
        + line["msg"].removeprefix("Value error, ")
        for line in lines[:_MOST_LINES]
    )
    if len(lines) > _MOST_LINES:
        details += f"; and {len(lines) - _MOST_LINES} more"
    # A name can be as long as whoever sends it likes.
    return problem(BAD_INPUT, cut(details, _MOST_CHARS))


async def on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101  registered for nothing else
    if error.status_code == NOT_FOUND.status:
        response = problem(NOT_FOUND, "there is nothing at this address")
    elif error.status_code == METHOD_NOT_ALLOWED.status:
        allowed = (error.headers or {}).get("Allow", "other methods")
        words = f"this address allows {allowed}, not {request.method}"
        response = problem(METHOD_NOT_ALLOWED, words)
    else:
        words = str(error.detail)
        response = problem(Kind(error.status_code, "http", words, ""), words)
    response.headers.update(error.headers or {})
    return response


async def on_any_error(request: Request, error: Exception) -> Response:
    """A defect of ours: the log has the whole story, the caller a clean sentence."""
    # The API sits inside the application, and both hear of it.
    if not getattr(error, "__notes__", None):
        log.error("request.failed", path=request.url.path, exc_info=error)
        error.add_note(f"while answering {request.url.path}")
    return problem(INTERNAL, "The server failed; its log has the details")


async def on_caller_gone(request: Request, error: Exception) -> Response:
    """A caller that closed its connection before its body was complete; it gets no answer."""
    log.info("request.abandoned", path=request.url.path)
    return problem(BAD_INPUT, "the body is not complete")


async def answer_for(request: Request, error: Exception) -> Response:
    """What is told of anything that is in the table below."""
    handler = next(HANDLERS[kind] for kind in type(error).__mro__ if kind in HANDLERS)
    return await handler(request, error)


HANDLERS: dict[type[object], Callable[[Request, Exception], Awaitable[Response]]] = {
    errors.HandrailError: on_handrail_error,
    ValidationError: on_invalid_body,
    RequestValidationError: on_invalid_body,
    HTTPException: on_http_error,
    ClientDisconnect: on_caller_gone,
    Exception: on_any_error,
}

# Anything else is a defect, and no route needs to know what to do about it.
EXPECTED = (errors.HandrailError, ValidationError, HTTPException, ClientDisconnect)

"""From what went wrong to what is told: one table, one form (RFC 9457)."""

from collections.abc import Awaitable, Callable

import structlog
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from handrail.core import errors

log = structlog.get_logger(__name__)

# Of one answer: enough to mend a request by.
_MOST_LINES = 10
_MOST_CHARS = 2_000

# The first line that fits counts, so the special stand before the general.
_TABLE: tuple[tuple[type[errors.HandrailError], int, str, str], ...] = (
    (errors.TooLarge, 413, "too-large", "Too large"),
    (errors.BadInput, 400, "bad-input", "This cannot be read"),
    (errors.Unauthenticated, 401, "unauthenticated", "Who are you?"),
    (errors.Forbidden, 403, "forbidden", "Not allowed"),
    (errors.NotFound, 404, "not-found", "No such thing"),
    (errors.ConflictingCall, 409, "conflicting-call", "Same call id, other words"),
    (errors.Conflict, 409, "conflict", "The world has moved on"),
)


def problem(status: int, kind: str, title: str, detail: str) -> Response:
    body = {"type": f"urn:handrail:{kind}", "title": title, "status": status, "detail": detail}
    headers = {"www-authenticate": "Bearer"} if status == 401 else None
    return JSONResponse(body, status, headers, media_type="application/problem+json")


async def on_handrail_error(request: Request, error: Exception) -> Response:
    for known, status, kind, title in _TABLE:
        if isinstance(error, known):
            return problem(status, kind, title, error.message)
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
    shown = details if len(details) <= _MOST_CHARS else details[:_MOST_CHARS] + "…"
    return problem(400, "bad-input", "This cannot be read", shown)


async def on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101  registered for nothing else
    kind = {404: "not-found", 405: "method-not-allowed"}.get(error.status_code, "http")
    words = str(error.detail)
    if error.status_code == 404:
        words = "there is nothing at this address"
    elif error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "other methods")
        words = f"this address takes {allowed}, not {request.method}"
    response = problem(error.status_code, kind, str(error.detail), words)
    response.headers.update(error.headers or {})
    return response


async def on_any_error(request: Request, error: Exception) -> Response:
    """A defect of ours: the log has the whole story, the caller a clean sentence."""
    # The API sits inside the application, and both hear of it.
    if not getattr(error, "__notes__", None):
        log.error("request.failed", path=request.url.path, exc_info=error)
        error.add_note(f"while answering {request.url.path}")
    return problem(
        500, "internal", "Handrail failed", "Something broke; the server's log says what"
    )


async def answer_for(request: Request, error: Exception) -> Response:
    """What is told of anything that is in the table below."""
    handler = next(HANDLERS[kind] for kind in type(error).__mro__ if kind in HANDLERS)
    return await handler(request, error)


HANDLERS: dict[type[object], Callable[[Request, Exception], Awaitable[Response]]] = {
    errors.HandrailError: on_handrail_error,
    ValidationError: on_invalid_body,
    RequestValidationError: on_invalid_body,
    HTTPException: on_http_error,
    Exception: on_any_error,
}

# Anything else is a defect, and no route needs to know what to do about it.
EXPECTED = (errors.HandrailError, ValidationError, HTTPException)

"""What goes wrong with a model's server, in words that say what to do."""

import math
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, cast

from handrail.agent.providers.party import Party, how_to_give_a_key
from handrail.core.model import ProviderError
from handrail.core.visible import cut, visible

BACK_OFF_SECONDS = 1.0
_LONGEST_WAIT_SECONDS = 3600.0
_MOST_CHARS = 500
_PASSING = frozenset({408, 409, 425, 429, 529})
# Errors that are told in the middle of a stream have a kind, and no status of their own.
_STATUS_OF_KIND = {
    "authentication_error": 401,
    "billing_error": 402,
    "invalid_request_error": 400,
    "not_found_error": 404,
    "overloaded_error": 529,
    "permission_error": 403,
    "rate_limit_error": 429,
    "request_too_large": 413,
}
# What reading an answer raises that is of another form than it should be. It is not ours to die of.
UNFORESEEN = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
_NO_CREDIT = "insufficient_quota"


def refused(party: Party, status: int, body: object, headers: Mapping[str, str]) -> ProviderError:
    """The server answered, and its answer is no reply."""
    error = _error_in(body)
    said = _in_words(party, error if error else body)
    if status < 300:
        status = _STATUS_OF_KIND.get(str(error.get("type")), 500 if error else status)
    out_of_credit = _NO_CREDIT in (error.get("code"), error.get("type"))
    passes = (status in _PASSING or status >= 500) and not out_of_credit
    return ProviderError(_sentence(party, status, said), wait_from(headers) if passes else None)


def unreachable(party: Party, error: Exception) -> ProviderError:
    why = _in_words(party, str(error.__cause__ or error))
    return ProviderError(
        f"{party.provider} cannot be reached at {party.base_url}{why}", BACK_OFF_SECONDS
    )


def silent(party: Party) -> ProviderError:
    return ProviderError(
        f"{party.provider} at {party.base_url} did not answer in time", BACK_OFF_SECONDS
    )


def broken_off(party: Party) -> ProviderError:
    return ProviderError(f"{party.provider} broke off in the middle of its reply", BACK_OFF_SECONDS)


def unreadable(party: Party, error: Exception) -> ProviderError:
    why = _in_words(party, f"{type(error).__name__}: {error}")
    return ProviderError(
        f"what {party.provider} at {party.base_url} answers cannot be read{why}", BACK_OFF_SECONDS
    )


def wait_from(headers: Mapping[str, str]) -> float:
    """How long a server asks us to wait: a number of seconds, or a moment by its own clock."""
    text = headers.get("retry-after", "")
    try:
        seconds = float(text)
    except ValueError:
        try:
            told, now = parsedate_to_datetime(text), parsedate_to_datetime(headers.get("date", ""))
            seconds = (told - now).total_seconds()
        except (ValueError, TypeError):
            return BACK_OFF_SECONDS
    if not math.isfinite(seconds) or seconds < 0:
        return BACK_OFF_SECONDS
    return min(seconds, _LONGEST_WAIT_SECONDS)


def _sentence(party: Party, status: int, said: str) -> str:
    name = party.provider
    match status:
        case 401 if not party.key:
            return (
                f"{name} at {party.base_url} requires a key, and none is set for that address"
                f"{said}; `handrail config set-key {name}` gives one"
            )
        case 401:
            return f"{name} does not accept the key{said}; {how_to_give_a_key(name)}"
        case 402:
            return f"{name} requires payment first{said}"
        case 403:
            return f"{name} does not allow this key to use {party.model!r}{said}"
        case 404:
            return f"there is no model {party.model!r} at {party.base_url}{said}"
        case 413:
            return f"the conversation is too large for {name}{said}"
        case 429:
            return f"{name} has received too many requests{said}"
        case 529 | 503:
            return f"{name} is overloaded{said}"
        case _ if status >= 500:
            return f"{name} failed (status {status}){said}"
        case _:
            return f"{name} refused the request (status {status}){said}"


def _error_in(body: object) -> dict[str, Any]:
    """What a server says is wrong: the body itself, or what stands under `error` in it."""
    if not isinstance(body, dict):
        return {}
    found = cast("dict[str, Any]", body)
    inner = found.get("error", found)
    return cast("dict[str, Any]", inner) if isinstance(inner, dict) else {"message": inner}


def _in_words(party: Party, said: object) -> str:
    """What was said, to be put behind a sentence; a server that repeats the key is not repeated."""
    if isinstance(said, dict):
        said = cast("dict[str, Any]", said).get("message")
    if not isinstance(said, str) or not said.strip():
        return ""
    words = said.replace(party.key, "…") if party.key else said
    return f": {visible(cut(words.strip(), _MOST_CHARS))}"

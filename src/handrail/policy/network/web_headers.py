"""Headers that an agent may send: those that say something, not those that steer the connection."""

import re
from collections.abc import Sequence

from handrail.core.risk import Finding, forbidden
from handrail.core.visible import cut, visible

MAX_HEADERS = 50
MAX_HEADER_CHARS = 8_000

_RULE = "http.header"
_SHOWN_CHARS = 60
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_VALUE = re.compile(r"[\t\x20-\x7e]*")
# They decide whom the request reaches and where it ends.
_STEERING = frozenset(
    {
        *("host", "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"),
        *("content-length", "expect", "accept-encoding", "http2-settings"),
    }
)
# With them, a request that only asks would be taken for one that changes something.
_POSING = frozenset(
    {"x-http-method-override", "x-http-method", "x-method-override", "x-original-method"}
)


def validate_headers(headers: Sequence[tuple[str, str]]) -> list[Finding]:
    """Every concern about the headers of a request; none means that they may be sent."""
    if len(headers) > MAX_HEADERS:
        reason = f"{len(headers)} headers are more than the {MAX_HEADERS} allowed"
        return [forbidden(_RULE, reason)]
    whys = ((name, _what_is_wrong_with(name, value)) for name, value in headers)
    return [
        forbidden(_RULE, f"the header '{cut(visible(name), _SHOWN_CHARS)}' {why}")
        for name, why in whys
        if why is not None
    ]


def _what_is_wrong_with(name: str, value: str) -> str | None:
    if not _NAME.fullmatch(name):
        return "has a name that a header cannot have"
    low = name.lower()
    if low in _STEERING or low.startswith("proxy-"):
        return "is set by Handrail itself; leave it out"
    if low in _POSING:
        return "would change the method; give the method itself"
    if len(value) > MAX_HEADER_CHARS:
        return f"is longer than {MAX_HEADER_CHARS:,} characters"
    if not _VALUE.fullmatch(value):
        return "has a line break or another character that a header cannot contain"
    return None

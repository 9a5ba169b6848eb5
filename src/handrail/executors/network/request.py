"""The first thing a client says to the proxy, read without goodwill.

Where two readers could understand a request differently, one of them can be led astray. So only
the plain forms are understood, and what goes on to the server is written anew.
"""

import re
from dataclasses import dataclass, replace

from handrail.core.risk import Finding
from handrail.policy.network.hosts import Host, read_host

_HTTP_PORT = 80
_REQUEST_LINE = re.compile(rb"([A-Z]{1,20}) ([\x21-\x7e]+) (HTTP/1\.[01])")
_FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):([\t\x20-\x7e\x80-\xff]*)")
_ADDRESS = re.compile(rb"http://([^/?#]*)(/[^#]*|\?[^#]*)?", re.IGNORECASE)
_LENGTH = re.compile(rb"[0-9]{1,15}")
# What is said between two neighbours only; and what is written anew.
_NOT_FORWARDED = {
    b"connection", b"content-length", b"expect", b"host", b"http2-settings", b"keep-alive", b"te",
    b"trailer", b"transfer-encoding", b"upgrade",
}  # fmt: skip

Fields = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request goes nowhere: the status of HTTP, and a sentence."""

    status: int
    reason: str


@dataclass(frozen=True, slots=True)
class Request:
    """What a client wants: a tunnel to a host, or one request to be handed on to it."""

    host: Host
    # What is said to the server first; a tunnel says nothing of its own.
    head: bytes | None = None
    # How many bytes follow; None where they come in chunks.
    length: int | None = 0
    awaits_leave: bool = False

    @property
    def is_tunnel(self) -> bool:
        return self.head is None


def read_request(head: bytes) -> Request | Refusal:
    """The request of which this is everything up to the empty line."""
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    asked = _REQUEST_LINE.fullmatch(first)
    if asked is None:
        return _bad("the request line is not that of a plain HTTP/1.1 request")
    method, target, version = asked.groups()
    fields = _read_fields(lines)
    if fields is None:
        return _bad("a header field is malformed; write it on one line, as in `Name: value`")
    length = _read_length(fields, version)
    if isinstance(length, Refusal):
        return length
    if method == b"CONNECT":
        return _read_tunnel(target, length)
    return _read_plain(method, target, version, fields, length)


def _read_fields(lines: list[bytes]) -> Fields | None:
    fields: Fields = []
    for line in lines:
        # A line that begins with a blank once went on with the one before: not plain.
        field = _FIELD.fullmatch(line)
        if field is None:
            return None
        fields.append((field[1], field[2].strip(b" \t")))
    return fields


def _read_length(fields: Fields, version: bytes) -> int | Refusal | None:
    """How long the body is, if there is just one way to understand that."""
    lengths = _values(fields, b"content-length")
    codings = _values(fields, b"transfer-encoding")
    if len(lengths) + len(codings) > 1:
        return _bad("the length of the body is given more than once")
    if codings:
        if version != b"HTTP/1.1" or codings[0].lower() != b"chunked":
            return _bad("the body is in an encoding other than chunked")
        return None
    if not lengths:
        return 0
    return int(lengths[0]) if _LENGTH.fullmatch(lengths[0]) else _bad("the length is not a number")


def _read_tunnel(target: bytes, length: int | None) -> Request | Refusal:
    host = read_host(target.decode("ascii"))
    if isinstance(host, Finding):
        return _bad(host.reason)
    if host.port is None:
        return _bad(f"a tunnel needs a port, as in CONNECT {host}:443")
    if length != 0:
        return _bad("a request for a tunnel has no body")
    return Request(host)


def _read_plain(
    method: bytes, target: bytes, version: bytes, fields: Fields, length: int | None
) -> Request | Refusal:
    address = _ADDRESS.fullmatch(target)
    if address is None:
        return _bad("the proxy takes CONNECT host:port, and whole addresses such as http://host/")
    authority, path = address.groups(default=b"")
    if b"@" in authority:
        return _bad("an address with a user name in it is not forwarded")
    host = read_host(authority.decode("ascii"))
    if isinstance(host, Finding):
        return _bad(host.reason)
    expected = [value.lower() for value in _values(fields, b"expect")]
    if expected not in ([], [b"100-continue"]):
        return Refusal(417, "the proxy does not support the request's Expect header")
    return Request(
        replace(host, port=host.port or _HTTP_PORT),
        _write_head(b"%s %s %s" % (method, _rooted(path), version), host, fields, length),
        length,
        awaits_leave=bool(expected) and version == b"HTTP/1.1",
    )


def _write_head(first: bytes, host: Host, fields: Fields, length: int | None) -> bytes:
    named = b",".join(_values(fields, b"connection")).lower().split(b",")
    dropped = _NOT_FORWARDED | {name.strip(b" \t") for name in named}
    kept = [
        b"%s: %s" % (name, value)
        for name, value in fields
        if name.lower() not in dropped and not name.lower().startswith(b"proxy-")
    ]
    # The request line rules: whatever the client said about the host stays here.
    shown = replace(host, port=None) if host.port == _HTTP_PORT else host
    lines = [first, b"Host: %s" % str(shown).encode("ascii"), *kept]
    if length is None:
        lines.append(b"Transfer-Encoding: chunked")
    elif length or _values(fields, b"content-length"):
        lines.append(b"Content-Length: %d" % length)
    return b"\r\n".join([*lines, b"Connection: close", b"", b""])


def _rooted(path: bytes) -> bytes:
    return path if path.startswith(b"/") else b"/" + path


def _values(fields: Fields, name: bytes) -> list[bytes]:
    return [value for field, value in fields if field.lower() == name]


def _bad(reason: str) -> Refusal:
    return Refusal(400, reason)

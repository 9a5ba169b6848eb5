"""The line to a model's server. It carries what it was given, and nothing of the environment."""

import ssl
from functools import cache
from typing import NamedTuple

import httpx2

from handrail.version import __version__

# The SDKs would also tell which system, processor and Python we run on, and add whatever headers
# the environment names.
_NEEDED_HEADERS = frozenset(
    {
        "accept", "accept-encoding", "anthropic-version", "connection", "content-length",
        "content-type", "host", "transfer-encoding",
    }
)  # fmt: skip


class Patience(NamedTuple):
    """How long we wait for a server to be there, and how long it may be silent."""

    connect_seconds: float = 10.0
    silent_seconds: float = 600.0

    @property
    def timeout(self) -> httpx2.Timeout:
        return httpx2.Timeout(self.silent_seconds, connect=self.connect_seconds)


def open_line(key: str, patience: Patience) -> httpx2.AsyncClient:
    """A client for one reply. It follows no redirect, so that a key goes where it was meant for."""

    async def send_only_what_is_needed(request: httpx2.Request) -> None:
        for name in set(request.headers) - _NEEDED_HEADERS:
            del request.headers[name]
        request.headers["User-Agent"] = f"handrail/{__version__}"
        if key:
            request.headers["Authorization"] = f"Bearer {key}"

    return httpx2.AsyncClient(
        trust_env=False,
        verify=_certificates(),
        timeout=patience.timeout,
        event_hooks={"request": [send_only_what_is_needed]},
    )


@cache
def _certificates() -> ssl.SSLContext:
    return httpx2.create_ssl_context(trust_env=False)

"""The web as agents may reach it: one request, to a host that was judged, and no redirect."""

import asyncio
import ssl
from collections.abc import Callable
from typing import cast

import httpcore2

from handrail.core.errors import WebError
from handrail.core.risk import Finding
from handrail.core.visible import cut, visible
from handrail.core.web import WebRequest, WebResponse
from handrail.executors.network.dialing import Resolve, look_up
from handrail.executors.network.routes import reach_from_here
from handrail.executors.web.pinned import PinnedBackend, RequestRefused
from handrail.executors.web.unpacking import Body
from handrail.policy.network.urls import WebAddress, read_url
from handrail.policy.network.web_headers import validate_headers
from handrail.policy.network.web_hosts import ReachOf, WebHosts
from handrail.version import __version__

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")

_SHOWN_CHARS = 200
_OURS = (
    ("User-Agent", f"Handrail/{__version__}"),
    ("Accept", "*/*"),
)


class GuardedWeb:
    """Asks for `hosts` anew with every request, so that a change of the list holds at once.

    No proxy of the environment is used, no cookie kept, no connection used twice.
    """

    def __init__(
        self,
        hosts: Callable[[], WebHosts],
        *,
        resolve: Resolve = look_up,
        reach: ReachOf = reach_from_here,
        network: httpcore2.AsyncNetworkBackend | None = None,
        tls: ssl.SSLContext | None = None,
    ):
        self._hosts = hosts
        self._resolve = resolve
        self._reach = reach
        self._network = network or cast(httpcore2.AsyncNetworkBackend, httpcore2.AnyIOBackend())
        self._tls = tls

    async def request(self, request: WebRequest, *, max_bytes: int) -> WebResponse:
        hosts = self._hosts()
        address = _checked(request, hosts)
        seconds = request.timeout_seconds
        backend = PinnedBackend(
            hosts,
            resolve=self._resolve,
            reach=self._reach,
            network=self._network,
            seconds=seconds,
        )
        try:
            async with asyncio.timeout(seconds):
                return await self._ask(address, request, backend, max_bytes)
        except (TimeoutError, httpcore2.TimeoutException) as error:
            raise WebError(
                f"{address.host} did not answer completely within {seconds:g} s"
            ) from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError) as error:
            why = cut(visible(str(error)), _SHOWN_CHARS) or type(error).__name__
            raise WebError(f"the request to {address.host} failed: {why}") from error
        finally:
            await backend.aclose()

    async def _ask(
        self,
        address: WebAddress,
        request: WebRequest,
        backend: PinnedBackend,
        max_bytes: int,
    ) -> WebResponse:
        if self._tls is None and address.scheme == "https":
            self._tls = await asyncio.to_thread(httpcore2.default_ssl_context)
        url = httpcore2.URL(
            scheme=address.scheme,
            host=address.host.name,
            port=address.host.port,
            target=address.target,
        )
        async with (
            httpcore2.AsyncConnectionPool(
                ssl_context=self._tls, max_connections=1, network_backend=backend
            ) as pool,
            pool.stream(
                request.method, url, headers=_headers(address, request), content=request.body
            ) as answer,
        ):
            headers = tuple(
                (name.decode("latin-1").lower(), value.decode("latin-1"))
                for name, value in answer.headers
            )
            body = Body(dict(headers).get("content-encoding", ""), max_bytes)
            async for chunk in answer.aiter_stream():
                body.take(chunk)
                if body.truncated:
                    break
            return WebResponse(answer.status, headers, body.end(), body.truncated)


def _checked(request: WebRequest, hosts: WebHosts) -> WebAddress:
    """Where the request goes. Whoever makes it has judged it before; that was before."""
    if request.method not in METHODS:
        raise RequestRefused(f"the method is one of {', '.join(METHODS)}")
    address = read_url(request.url)
    if isinstance(address, Finding):
        raise RequestRefused.over([address])
    if against := [*hosts.judge(address.host), *validate_headers(request.headers)]:
        raise RequestRefused.over(against)
    return address


def _headers(address: WebAddress, request: WebRequest) -> list[tuple[str, str]]:
    said = {name.lower() for name, _ in request.headers}
    return [
        ("Host", address.authority),
        *(pair for pair in _OURS if pair[0].lower() not in said),
        ("Accept-Encoding", "gzip, identity"),
        ("Connection", "close"),
        *request.headers,
    ]

"""Connections that go to an address that was checked, and to no other.

A name is looked up once, since the next answer may be another. Every address of the answer is
checked, and the connection goes to one of them.
"""

from collections.abc import Iterable, Sequence

import httpcore2

from handrail.core.errors import ErrorType, WebError
from handrail.core.risk import Finding
from handrail.executors.network.dialing import Resolve, addresses_of, tell_unknown
from handrail.policy.network.hosts import Host
from handrail.policy.network.web_hosts import ReachOf, WebHosts

# All are judged; no more than these are tried.
_MOST_TRIED = 4


class RequestRefused(WebError):
    """The request may not be made; nothing was sent."""

    error_type = ErrorType.VALIDATION

    @classmethod
    def over(cls, findings: Iterable[Finding]) -> "RequestRefused":
        return cls("; ".join(finding.reason for finding in findings))


class PinnedBackend(httpcore2.AsyncNetworkBackend):
    """Looks names up itself, and hands `network` nothing but addresses."""

    def __init__(
        self,
        hosts: WebHosts,
        *,
        resolve: Resolve,
        reach: ReachOf,
        network: httpcore2.AsyncNetworkBackend,
        seconds: float,
    ):
        self._hosts = hosts
        self._resolve = resolve
        self._reach = reach
        self._network = network
        self._seconds = seconds
        self._opened: list[httpcore2.AsyncNetworkStream] = []

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 (its name in httpcore2)
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        wanted = Host(host, port)
        addresses = await self._checked_addresses(wanted)
        tried = addresses[:_MOST_TRIED]
        why: Exception | None = None
        for address in tried:
            try:
                opened = await self._network.connect_tcp(
                    address, port, timeout=self._seconds / len(tried)
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                why = error
            else:
                self._opened.append(opened)
                return opened
        raise WebError(f"{wanted} could not be reached: {why or 'no answer'}") from why

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 (its name in httpcore2)
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        raise RequestRefused("sockets of this machine cannot be used")

    async def aclose(self) -> None:
        """Leave nothing open: who gives up in the middle of a TLS greeting does not close it."""
        while self._opened:
            await self._opened.pop().aclose()

    async def _checked_addresses(self, host: Host) -> Sequence[str]:
        try:
            addresses = await addresses_of(host.name, host.port or 0, self._resolve)
        except (OSError, UnicodeError) as error:
            raise WebError(f"{host} could not be resolved") from error
        if not addresses:
            raise WebError(f"{host} could not be resolved")
        for address in addresses:
            try:
                against = self._hosts.judge_address(host, address, self._reach)
            except OSError as error:
                raise RequestRefused(tell_unknown(host, address, error)) from error
            if against:
                raise RequestRefused.over(against)
        return addresses

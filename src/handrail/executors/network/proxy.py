"""PolicyProxy: the one way out of a box that may use the network, and only to approved hosts.

A box has a network of its own with nothing in it but this proxy's socket. What a command inside
wants of the world it has to ask for here, by name; the name is judged before it is looked up, and
the address before it is called.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

from handrail.core.traffic import Traffic
from handrail.executors.network.dialing import Resolve, dial, look_up
from handrail.executors.network.hosts import Withdrawn, nothing_withdrawn
from handrail.executors.network.record import ProxyRecord
from handrail.executors.network.relay import Line, Relay
from handrail.executors.network.request import Refusal, Request, read_request
from handrail.executors.network.routes import reach_from_here
from handrail.executors.network.serving import serve_callers
from handrail.policy.network.hosts import NO_HOSTS, Host, HostList
from handrail.policy.network.web_hosts import ReachOf

_TUNNEL_OPEN = b"HTTP/1.1 200 Connection established\r\n\r\n"
_MOST_HOSTS_NAMED = 20
# How much a refused client may go on sending, and how long, before it is cut off unheard.
_DEAF_BYTES = 1 << 20
_LAST_WORDS_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Limits:
    """How much patience the proxy has with both sides."""

    head_bytes: int = 32_768
    head_seconds: float = 15.0
    connect_seconds: float = 15.0
    idle_seconds: float = 60.0
    connections: int = 64


DEFAULT_LIMITS = Limits()


# Why a host that is not listed may not be reached; empty if it may. The connection waits.
Ask = Callable[[Host], Awaitable[str]]


class PolicyProxy:
    """Serves on a listening socket, which it takes over, for as long as it is entered.

    An address of this machine or of a private network is connected to only for a host that is
    among the `hosts` and, with its port, among the `local_hosts` too. `withdrawn` is asked before
    each connection, and `ask` about hosts that are not listed; without it these are refused.
    """

    def __init__(
        self,
        listening: socket.socket,
        *,
        hosts: HostList,
        local_hosts: HostList = NO_HOSTS,
        limits: Limits = DEFAULT_LIMITS,
        resolve: Resolve = look_up,
        reach: ReachOf = reach_from_here,
        withdrawn: Withdrawn = nothing_withdrawn,
        ask: Ask | None = None,
    ):
        self._listening = listening
        self._hosts = hosts
        self._local_hosts = local_hosts
        self._limits = limits
        self._resolve = resolve
        self._reach = reach
        self._withdrawn = withdrawn
        self._ask = ask
        self.record = ProxyRecord()
        self._group = asyncio.TaskGroup()
        self._serving: asyncio.Task[None] | None = None

    @property
    def traffic(self) -> Traffic:
        """What went through so far, and what was asked for in vain."""
        return self.record.traffic

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        serving = serve_callers(self._listening, self._serve, self._limits.connections)
        self._serving = self._group.create_task(serving)
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        if self._serving is not None:
            self._serving.cancel()
        try:
            # Without the exception: it is the caller's, and needs no group around it.
            await self._group.__aexit__(None, None, None)
        finally:
            self._listening.close()

    async def _serve(self, taken: socket.socket) -> None:
        with suppress(OSError, EOFError):
            client = Line(*await asyncio.open_connection(sock=taken, limit=self._limits.head_bytes))
            try:
                refusal = await self._answer(client)
                if refusal is not None:
                    await _refuse(client, refusal)
                await client.hang_up(_LAST_WORDS_SECONDS)
            finally:
                await client.cut()

    async def _answer(self, client: Line) -> Refusal | None:
        request = await self._hear(client.reader)
        if isinstance(request, Refusal):
            self.record.refuse("", request.reason)
            return request
        refusal = await self._judge(request.host) or await self._forward(client, request)
        if refusal is not None:
            self.record.refuse(str(request.host), refusal.reason)
        return refusal

    async def _hear(self, reader: asyncio.StreamReader) -> Request | Refusal:
        try:
            async with asyncio.timeout(self._limits.head_seconds):
                first = await reader.readexactly(1)
                # Another protocol (SOCKS, TLS) would wait for an answer that never comes.
                if not first.isalpha():
                    return Refusal(400, "this is an HTTP proxy, and the request is not HTTP")
                return read_request(first + await reader.readuntil(b"\r\n\r\n"))
        except TimeoutError:
            return Refusal(
                408, f"no complete request arrived within {self._limits.head_seconds:g} s"
            )
        except asyncio.LimitOverrunError:
            most = f"{self._limits.head_bytes:,}"
            return Refusal(431, f"the request line and the header fields exceed {most} bytes")

    async def _judge(self, host: Host) -> Refusal | None:
        if self._hosts.covers(host):
            why = await self._withdrawn(host)
            return Refusal(403, why) if why else None
        if self._ask is not None:
            why = await self._ask(host)
            return Refusal(403, why) if why else None
        shown = [str(entry) for entry in self._hosts.entries[:_MOST_HOSTS_NAMED]]
        if more := len(self._hosts.entries) - len(shown):
            shown.append(f"and {more:,} more")
        reason = f"{host} is not among the hosts that were approved ({', '.join(shown) or 'none'})"
        if self._hosts.covers_name(host.name):
            reason += "; a host without a port is approved for the ports 80 and 443"
        return Refusal(403, reason)

    async def _forward(self, client: Line, request: Request) -> Refusal | None:
        host = request.host
        called = await dial(
            host,
            may_be_local=self._local_hosts.names(host),
            resolve=self._resolve,
            reach_of=self._reach,
            seconds=self._limits.connect_seconds,
        )
        if isinstance(called, Refusal):
            return called
        server = Line(*await asyncio.open_connection(sock=called))
        try:
            meter = self.record.meter(str(host))
            relay = Relay(client, server, meter, self._limits.idle_seconds)
            if request.is_tunnel:
                client.writer.write(_TUNNEL_OPEN)
                await relay.tunnel()
            else:
                await relay.exchange(request)
            await server.hang_up(_LAST_WORDS_SECONDS)
        finally:
            await server.cut()
        return None


async def _refuse(client: Line, refusal: Refusal) -> None:
    """Say why, also where only the first line is shown; and hear the client out, up to a point.

    Whoever hangs up with something unheard takes back what he has just said.
    """
    sentence = f"Handrail: {refusal.reason}".encode("ascii", "backslashreplace")
    lines = (
        b"HTTP/1.1 %d %s" % (refusal.status, sentence),
        b"Content-Type: text/plain",
        b"Content-Length: %d" % (len(sentence) + 1),
        b"Connection: close",
        b"",
        sentence + b"\n",
    )
    client.writer.write(b"\r\n".join(lines))
    client.say_no_more()
    heard = 0
    async with asyncio.timeout(_LAST_WORDS_SECONDS):
        while heard < _DEAF_BYTES and (data := await client.reader.read(_DEAF_BYTES)):
            heard += len(data)

"""The way out of a box that may use the network: a proxy that listens in it and serves here."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass

from handrail.core.errors import CommandExecutionError
from handrail.executors.network.forward import forwarding
from handrail.executors.network.hosts import Withdrawn, nothing_withdrawn
from handrail.executors.network.listener import PROXY_PORT, listen_inside
from handrail.executors.network.proxy import DEFAULT_LIMITS, Ask, Limits, PolicyProxy
from handrail.policy.network.hosts import HostList

_ADDRESS = f"http://127.0.0.1:{PROXY_PORT}"
# Programs do not agree on the case of these names.
VARIABLES = tuple(
    (name, _ADDRESS) for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")
)


@dataclass(frozen=True, slots=True)
class Further:
    """What programs need that run for long.

    Connections to hosts that are not listed wait for `ask`. The ports in `forwards` lead to the
    same ports of this machine.
    """

    ask: Ask | None = None
    limits: Limits = DEFAULT_LIMITS
    forwards: tuple[int, ...] = ()


NOTHING_FURTHER = Further()


@asynccontextmanager
async def way_out(
    pid: int,
    hosts: Sequence[str],
    local_hosts: Sequence[str],
    withdrawn: Withdrawn = nothing_withdrawn,
    further: Further = NOTHING_FURTHER,
) -> AsyncGenerator[PolicyProxy]:
    """Let a box, by the number of a process in it, reach these hosts, and no others.

    Raises:
        CommandExecutionError: No socket could be made to listen in it.
    """
    proxy = PolicyProxy(
        await _listen(pid),
        hosts=HostList.read(hosts),
        local_hosts=HostList.read(local_hosts, exact=True),
        limits=further.limits,
        withdrawn=withdrawn,
        ask=further.ask,
    )
    async with proxy, AsyncExitStack() as stack:
        for port in further.forwards:
            listening = await _listen(pid, port)
            ways = forwarding(listening, port, proxy.record, further.limits)
            await stack.enter_async_context(ways)
        yield proxy


async def _listen(pid: int, port: int = PROXY_PORT) -> socket.socket:
    making = asyncio.gather(asyncio.to_thread(listen_inside, pid, port))
    try:
        [listening] = await asyncio.shield(making)
    except asyncio.CancelledError:
        # It goes on in its thread, and what it makes must not be left open.
        with suppress(CommandExecutionError):
            [listening] = await making
            listening.close()
        raise
    return listening

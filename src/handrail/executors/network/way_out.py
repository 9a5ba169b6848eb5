"""The way out of a box that may use the network: a proxy that listens in it and serves here."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress

from handrail.core.errors import CommandExecutionError
from handrail.executors.network.hosts import Withdrawn, nothing_withdrawn
from handrail.executors.network.listener import PROXY_PORT, listen_inside
from handrail.executors.network.proxy import PolicyProxy
from handrail.policy.network.hosts import HostList

_ADDRESS = f"http://127.0.0.1:{PROXY_PORT}"
# Programs do not agree on the case of these names.
VARIABLES = tuple(
    (name, _ADDRESS) for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")
)


@asynccontextmanager
async def way_out(
    pid: int,
    hosts: Sequence[str],
    local_hosts: Sequence[str],
    withdrawn: Withdrawn = nothing_withdrawn,
) -> AsyncGenerator[PolicyProxy]:
    """Let a box, by the number of a process in it, reach these hosts and no others.

    Raises:
        CommandExecutionError: Nobody could listen in it.
    """
    listening = await _listen(pid)
    async with PolicyProxy(
        listening,
        hosts=HostList.read(hosts),
        local_hosts=HostList.read(local_hosts, exact=True),
        withdrawn=withdrawn,
    ) as proxy:
        yield proxy


async def _listen(pid: int) -> socket.socket:
    making = asyncio.gather(asyncio.to_thread(listen_inside, pid))
    try:
        [listening] = await asyncio.shield(making)
    except asyncio.CancelledError:
        # It goes on in its thread, and what it makes must not be left open.
        with suppress(CommandExecutionError):
            [listening] = await making
            listening.close()
        raise
    return listening

"""Connecting to a host at an address that was checked, and at no other.

A name is looked up once, since the next answer may be another. Every address of the answer is
checked, and the connection goes to one of them.
"""

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import ip_address

from handrail.executors.network.request import Refusal
from handrail.executors.network.routes import reach_from_here
from handrail.policy.network.addresses import Reach
from handrail.policy.network.hosts import Host
from handrail.policy.network.web_hosts import ReachOf

# The addresses of a name, as text.
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


async def look_up(name: str, port: int) -> Sequence[str]:
    """The addresses that this machine knows for a name."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


async def dial(
    host: Host,
    *,
    may_be_local: bool,
    resolve: Resolve,
    seconds: float,
    reach_of: ReachOf = reach_from_here,
) -> socket.socket | Refusal:
    """A connection to the host, or why there is none."""
    port = host.port or 0
    try:
        async with asyncio.timeout(seconds):
            addresses = await addresses_of(host.name, port, resolve)
    except TimeoutError:
        return Refusal(504, f"{host} could not be resolved within {seconds:g} s")
    except OSError:
        return Refusal(502, f"{host} could not be resolved")
    if not addresses:
        return Refusal(502, f"{host} could not be resolved")
    if why := why_not_to(host, addresses, may_be_local=may_be_local, reach_of=reach_of):
        return Refusal(403, why)
    return await _connect(host, addresses, seconds)


def why_not_to(
    host: Host,
    addresses: Sequence[str],
    *,
    may_be_local: bool,
    reach_of: ReachOf = reach_from_here,
) -> str:
    """Why a host that leads to these addresses may not be connected to; empty where it may."""
    most = Reach.LOCAL if may_be_local else Reach.PUBLIC
    for address in addresses:
        try:
            reach = reach_of(address)
        except OSError as error:
            return tell_unknown(host, address, error)
        if reach > most:
            return _why_not_there(host, address, reach)
    return ""


async def addresses_of(name: str, port: int, resolve: Resolve) -> Sequence[str]:
    """Where a name leads, looked up once; an address leads to itself."""
    try:
        return [str(ip_address(name))]
    except ValueError:
        return await resolve(name, port)


def tell_unknown(host: Host, address: str, error: OSError) -> str:
    """Why there is no connection where the kernel could not be asked about an address."""
    whither = str(host) if address == host.name else f"{host} resolves to {address}, which"
    return (
        f"{whither} may be an address of this machine: its kernel could not be asked"
        f" ({error.strerror or error}), so nothing was sent"
    )


def _why_not_there(host: Host, address: str, reach: Reach) -> str:
    if reach is Reach.LOCAL:
        return (
            f"{host} resolves to {address}, on this machine or in a private network; "
            f"only a host that is listed as local, with its port, may do that"
        )
    return (
        f"{host} resolves to {address}, which no command may reach: such addresses are no host's of"
        " the web (link-local, multicast, reserved, or where clouds keep their metadata); if it"
        " should be another, correct what the name resolves to"
    )


async def _connect(host: Host, addresses: Sequence[str], seconds: float) -> socket.socket | Refusal:
    why = ""
    for address in addresses:
        try:
            async with asyncio.timeout(seconds / len(addresses)):
                return await _connect_to(address, host.port or 0)
        except TimeoutError:
            why = "no answer"
        except OSError as error:
            why = os.strerror(error.errno) if error.errno else str(error)
    return Refusal(502, f"{host} could not be reached: {why}")


async def _connect_to(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setblocking(False)
        await asyncio.get_running_loop().sock_connect(made, (address, port))
    except BaseException:
        made.close()
        raise
    return made

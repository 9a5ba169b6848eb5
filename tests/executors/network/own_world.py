"""A program: a machine with public addresses of its own, and requests that try to reach them.

It has to run in a network namespace where it may do everything. `tunnel` has it look at the routes
of a tunnel instead.
"""

import asyncio
import json
import socket
import sys
from collections.abc import Mapping, Sequence
from ipaddress import ip_address

from handrail.core.errors import WebError
from handrail.core.web import WebRequest
from handrail.executors.network.interfaces import interface_networks
from handrail.executors.network.proxy import PolicyProxy
from handrail.executors.network.routes import reach_from_here
from handrail.executors.web.guarded import GuardedWeb
from handrail.policy.network.hosts import HostList
from handrail.policy.network.web_hosts import WebHosts
from tests.executors.network import netlink

OWN = ("45.45.45.45", "2a00:1450:4001:80b::99", "46.46.46.1", "2a01:4f8:1:1::1")
NEIGHBOURS = ("46.46.46.77", "46.46.46.255", "2a01:4f8:1:1::77")
FAR = ("8.8.8.8", "2606:4700::1111")
LATER = "47.47.47.47"
WRAPPED = ("::ffff:45.45.45.45", "64:ff9b::2d2d:2d2d")


def make_machine() -> None:
    netlink.set_up("lo")
    netlink.add_cable("d0", "d1")
    netlink.add_address("45.45.45.45/32", "lo")
    netlink.add_address("2a00:1450:4001:80b::99/128", "lo")
    netlink.add_address("46.46.46.1/24", "d0")
    netlink.add_address("2a01:4f8:1:1::1/64", "d0")
    netlink.add_route("0.0.0.0/0", "d0", "46.46.46.254")
    netlink.add_route("::/0", "d0", "2a01:4f8:1:1::ff")


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nsecret page\n")
    writer.close()


def in_url(address: str) -> str:
    return f"[{address}]" if ":" in address else address


async def resolve(name: str, port: int) -> Sequence[str]:
    """Names are addresses in words: 1-2-3-4.test, or 2a00--1.test."""
    word = name.removesuffix(".test")
    return [word.replace("-", "." if word.count("-") == 3 and "--" not in word else ":")]


async def by_web(web: GuardedWeb, host: str) -> str:
    try:
        request = WebRequest(f"http://{host}/", "GET", (), None, timeout_seconds=1)
        return (await web.request(request, max_bytes=100)).body.decode()
    except WebError as error:
        return error.message


async def by_proxy(port: int, host: str) -> str:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET http://{host}/ HTTP/1.1\r\n\r\n".encode())
    heard = await reader.read()
    writer.close()
    return heard.decode().partition("\r\n\r\n")[2].strip()


async def main() -> Mapping[str, object]:
    make_machine()
    hosts = (*OWN, *NEIGHBOURS, LATER)
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    words = [*map(in_url, hosts), "45-45-45-45.test"]
    web = GuardedWeb(WebHosts, resolve=resolve)
    trusting = WebHosts(trusted=HostList.read(["45.45.45.45"]))
    async with (
        await asyncio.start_server(answer, ["0.0.0.0", "::"], 80),
        PolicyProxy(listening, hosts=HostList.read(words), resolve=resolve),
    ):
        before = reach_from_here(LATER).name
        netlink.add_address(f"{LATER}/32", "lo")
        return {
            "before": before,
            "reach": {
                address: reach_from_here(address).name for address in (*hosts, *FAR, *WRAPPED)
            },
            "web": {word: await by_web(web, word) for word in words},
            "proxy": {word: await by_proxy(port, word) for word in words},
            "trusted": await by_web(GuardedWeb(lambda: trusting), "45.45.45.45"),
            "listed by the C library": {
                address: any(ip_address(address) in network for network in interface_networks())
                for address in (*hosts, *FAR)
            },
        }


def look_at_tunnel() -> Mapping[str, object]:
    """Every way in which a tunnel takes over the Internet, and the networks it has of its own."""
    netlink.set_up("lo")
    netlink.add_tunnel("tun0")
    netlink.add_address("46.46.46.1/24", "tun0")
    found = {"its own network": reach_from_here("46.46.46.77").name}
    for name, routes in {
        "no route": [],
        "default": ["0.0.0.0/0", "::/0"],
        "halves": ["0.0.0.0/1", "128.0.0.0/1", "2000::/3"],
        "pieces": ["8.0.0.0/7", "2606:4700::/32"],
    }.items():
        for route in routes:
            netlink.add_route(route, "tun0")
        found |= {f"{name} {address}": reach_from_here(address).name for address in FAR}
        for route in routes:
            netlink.remove_route(route, "tun0")
    return found


if __name__ == "__main__":
    print(json.dumps(look_at_tunnel() if "tunnel" in sys.argv else asyncio.run(main())))

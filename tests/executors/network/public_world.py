"""A program: a world of its own, with a public address in it, for a proxy to be led astray in.

It has to run in a network namespace where it may do everything.
"""

import asyncio
import fcntl
import json
import socket
import struct
from collections.abc import Sequence

from handrail.executors.network.proxy import PolicyProxy
from handrail.policy.network.addresses import reach_of
from handrail.policy.network.hosts import HostList

PUBLIC = "93.184.216.34"
PRIVATE = "127.0.0.1"
_SIOCSIFADDR = 0x8916


def take_address(address: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH2x4s8x", b"lo:1", socket.AF_INET, socket.inet_aton(address))
        fcntl.ioctl(any_socket, _SIOCSIFADDR, request)


async def serve(address: str) -> asyncio.Server:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = f"this is {address}"
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
        writer.close()

    return await asyncio.start_server(answer, address, 80)


async def main() -> dict[str, list[str]]:
    take_address(PUBLIC)
    looked_up: list[str] = []
    answers = iter([[PUBLIC], [PRIVATE], [PUBLIC, PRIVATE], [PUBLIC]])

    async def resolve(name: str, port: int) -> Sequence[str]:
        looked_up.append(name)
        return next(answers)

    async def ask(place: str) -> str:
        reader, writer = await asyncio.open_connection(*listening.getsockname())
        writer.write(f"GET http://{place}/ HTTP/1.1\r\n\r\n".encode())
        heard = await reader.read()
        writer.close()
        return heard.decode().partition("\r\n\r\n")[2].strip()

    listening = socket.create_server((PRIVATE, 0))
    hosts = HostList.read(["rebinding.test", PUBLIC])
    async with (
        await serve(PUBLIC),
        await serve(PRIVATE),
        # The public address stands in for one that is far away.
        PolicyProxy(listening, hosts=hosts, resolve=resolve, reach=reach_of),
    ):
        met = [await ask("rebinding.test") for _ in range(4)]
        return {"met": [*met, await ask(PUBLIC)], "looked up": looked_up}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main())))

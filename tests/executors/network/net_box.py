"""A program: puts a client in a real box with the proxy as its only way out, tells what it met.

A program of its own, so that it can be run as another user too.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass

from handrail.executors.network.listener import PROXY_PORT, listen_inside
from handrail.executors.network.proxy import PolicyProxy
from handrail.policy.network.hosts import HostList

NAME = "registry.test"
BODY = b"the package"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\nConnection: close\r\n\r\n" + BODY

# Runs in the box: asks the proxy for two hosts, then tries to do without it.
CLIENT = """
import json, socket, sys
server_port, proxy_port = map(int, sys.argv[1:])

def ask(words):
    with socket.create_connection(("127.0.0.1", proxy_port), 20) as line:
        line.sendall(words.encode())
        heard = b""
        while piece := line.recv(4096):
            heard += piece
    return heard.decode().partition("\\r\\n\\r\\n")[2]

def reach(*place):
    try:
        socket.create_connection(place, 20).close()
    except OSError as error:
        return type(error).__name__ + ": " + str(error.strerror)
    return "reached"

print(json.dumps({
    "approved": ask(f"GET http://registry.test:{server_port}/ HTTP/1.1\\r\\n\\r\\n"),
    "not approved": ask("CONNECT evil.test:443 HTTP/1.1\\r\\n\\r\\n"),
    "the machine by the proxy": ask(f"GET http://127.0.0.1:{server_port}/ HTTP/1.1\\r\\n\\r\\n"),
    "the machine": reach("127.0.0.1", server_port),
    "outside": reach("192.0.2.1", 80),
    "a name": reach("example.com", 80),
}))
"""


@dataclass(frozen=True)
class Box:
    """A box that waits before it begins."""

    pid: int
    process: subprocess.Popen[bytes]
    release_fd: int

    def release(self) -> None:
        os.write(self.release_fd, b"!")


@contextmanager
def box(command: Sequence[str], *options: str) -> Generator[Box]:
    """Everything may be read in it: only its network is what these tests are about."""
    info, info_writer = os.pipe()
    block, release = os.pipe()
    walls = ["--unshare-all", "--die-with-parent", "--new-session", *options]
    mounts = ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
    talk = ["--info-fd", str(info_writer), "--block-fd", str(block)]
    process = subprocess.Popen(
        ["/usr/bin/bwrap", *walls, *mounts, *talk, "--", *command],
        pass_fds=(info_writer, block),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        cwd="/",
        env={},
    )
    os.close(info_writer)
    os.close(block)
    try:
        pid = _read_pid(info)
        try:
            yield Box(pid, process, release)
        finally:
            # Until it is released, the inside of a box does not end with bubblewrap itself.
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    finally:
        os.close(info)
        process.kill()
        process.communicate()
        os.close(release)


def _read_pid(info: int) -> int:
    said = b""
    while not said.rstrip().endswith(b"}"):
        piece = os.read(info, 4096)
        if not piece:
            raise RuntimeError("bubblewrap could not make a box")
        said += piece
    return int(json.loads(said)["child-pid"])


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(ANSWER)
    writer.close()


async def _resolve(name: str, port: int) -> Sequence[str]:
    return ["127.0.0.1"]


async def main(*options: str) -> dict[str, object]:
    async with await asyncio.start_server(_answer, "127.0.0.1") as server:
        port: int = server.sockets[0].getsockname()[1]
        client = [sys.executable, "-I", "-S", "-c", CLIENT, str(port), str(PROXY_PORT)]
        hosts = HostList.read([f"{NAME}:{port}"])
        with box(client, *options) as made:
            listening = listen_inside(made.pid)
            async with PolicyProxy(
                listening, hosts=hosts, local_hosts=hosts, resolve=_resolve
            ) as proxy:
                made.release()
                said, _ = await asyncio.to_thread(made.process.communicate, timeout=40)
    return {
        "uid": os.geteuid(),
        "port": port,
        "met": json.loads(said),
        "contacted": [asdict(contact) for contact in proxy.traffic.contacted],
        "refused": [asdict(refused) for refused in proxy.traffic.refused],
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(*sys.argv[1:]))))

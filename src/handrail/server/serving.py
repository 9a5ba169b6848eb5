"""Running the application on a socket, and ending in good order."""

import asyncio
import errno
import signal
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import cast

import uvicorn
from starlette.applications import Starlette

from handrail.core.address import is_loopback
from handrail.core.errors import SetupError
from handrail.plane.waiting import WaitingRoom
from handrail.server.http import StrictHttp, Timeouts
from handrail.server.tls import Tls

_GRACE_SECONDS = 1


class HandrailServer(uvicorn.Server):
    """Lets open streams and waiting askers go when asked to stop, so that stopping is quick."""

    def __init__(
        self,
        app: Starlette,
        room: WaitingRoom,
        on_ready: Callable[[], None] = lambda: None,
        tls: Tls | None = None,
        timeouts: Timeouts | None = None,
    ):
        http = partial(StrictHttp, timeouts=timeouts or Timeouts())
        super().__init__(
            uvicorn.Config(
                app,
                # Only ever called.
                http=cast(type[asyncio.Protocol], http),
                log_config=None,
                access_log=False,
                server_header=False,
                # Who forwards says what it likes; nothing here depends on it.
                proxy_headers=False,
                ssl_certfile=None if tls is None else tls.certificate,
                ssl_keyfile=None if tls is None else str(tls.key),
                timeout_graceful_shutdown=_GRACE_SECONDS,
                timeout_keep_alive=75,
            )
        )
        self._room = room
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_ready()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Stop when told to, and let the caller tidy up: no signal is raised a second time."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        self._room.close()


def bind(host: str, port: int, *, private: bool = False) -> socket.socket:
    """Take the address before anything else is done, so that what is printed is true.

    `private` says that words are safe on their way to it, by TLS of ours or of a proxy's.

    Raises:
        SetupError: The address is in use, is not ours, or is open to others in the clear.
    """
    if not private and not is_loopback(host):
        raise SetupError(
            f"{host} can be reached from other machines, and Handrail speaks plain HTTP here."
            " Give it a certificate with --tls-cert and --tls-key, or name the TLS proxy in "
            "front of it with --behind-proxy."
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise SetupError(
                f"port {port} is in use; stop what listens there, or choose another with --port"
                " (`HANDRAIL_PORT=8010 make run`, where make starts it)"
            ) from error
        raise SetupError(f"cannot listen on {host}:{port}: {error.strerror}") from error
    except UnicodeError as error:
        raise SetupError(f"cannot listen on {host!r}: this is not an address") from error
    # Whoever is accepted inherits it, also where the loop does not see to it: else the last piece
    # of an answer waits up to 40 ms for the first to be acknowledged.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening

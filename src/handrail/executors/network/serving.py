"""Serving who calls at a socket, with room for so many at once."""

import asyncio
import errno
import socket
from collections.abc import Callable, Coroutine

_NOT_LISTENING = {errno.EBADF, errno.EINVAL, errno.ENOTSOCK}
_BREATH_SECONDS = 0.05

Serve = Callable[[socket.socket], Coroutine[object, object, None]]


async def serve_callers(listening: socket.socket, serve: Serve, most: int) -> None:
    """Let in as many at once as there is room for; the others wait outside.

    Goes on until it is cancelled, which ends every connection.
    """
    listening.setblocking(False)
    room = asyncio.Semaphore(most)
    async with asyncio.TaskGroup() as group:
        while True:
            await room.acquire()
            served = group.create_task(serve(await _accept(listening)))
            served.add_done_callback(lambda _: room.release())


async def _accept(listening: socket.socket) -> socket.socket:
    while True:
        await _until_somebody_calls(listening)
        try:
            # Nothing is awaited from here on: what was accepted cannot get lost.
            taken, _ = listening.accept()
        except OSError as error:
            if error.errno in _NOT_LISTENING:
                raise
            # The caller has gone again, or this process has too much open at the moment.
            await asyncio.sleep(_BREATH_SECONDS)
        else:
            taken.setblocking(False)
            return taken


async def _until_somebody_calls(listening: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    called = asyncio.Event()
    loop.add_reader(listening, called.set)
    try:
        await called.wait()
    finally:
        loop.remove_reader(listening)

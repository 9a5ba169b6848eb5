"""Ports for servers that come, go and come back."""

import random
import socket

# Below the ports that the kernel gives to outgoing connections: there, a client that asks again
# and again for a server that is gone takes the server's port sooner or later.
_BELOW_OUTGOING = range(12_000, 32_000)


def free_port() -> int:
    """A port on 127.0.0.1 where a server can listen, now and again later."""
    while True:
        port = random.choice(_BELOW_OUTGOING)
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return port

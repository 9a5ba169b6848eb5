"""Interfaces, addresses and routes of a network namespace, without a program such as `ip`."""

import fcntl
import os
import socket
import struct
from ipaddress import ip_address, ip_interface, ip_network

_NEWLINK, _NEWADDR, _NEWROUTE, _DELROUTE = 16, 20, 24, 25
# A request that is acknowledged; what it names is created.
_ADD = 0x1 | 0x4 | 0x400
_SIOCSIFFLAGS, _SIOCGIFFLAGS, _IFF_UP = 0x8914, 0x8913, 1
_TUNSETIFF, _TUN_WITHOUT_HEADERS = 0x400454CA, 0x1001


def set_up(name: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        asked = struct.pack("16sH14x", name.encode(), 0)
        (flags,) = struct.unpack_from("=H", fcntl.ioctl(any_socket, _SIOCGIFFLAGS, asked), 16)
        request = struct.pack("16sH14x", name.encode(), flags | _IFF_UP)
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, request)


def add_cable(name: str, other: str) -> None:
    """Two Ethernet interfaces, each connected to the other."""
    peer = _attribute(1, bytes(16) + _attribute(3, other.encode() + b"\0"))
    info = _attribute(18, _attribute(1, b"veth\0") + _attribute(2, peer))
    _ask(_NEWLINK, bytes(16) + _attribute(3, name.encode() + b"\0") + info)
    set_up(name)
    set_up(other)


def add_tunnel(name: str) -> int:
    """A point-to-point interface, which lasts as long as the descriptor."""
    fd = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(fd, _TUNSETIFF, struct.pack("16sH22x", name.encode(), _TUN_WITHOUT_HEADERS))
    set_up(name)
    return fd


def add_address(address: str, name: str) -> None:
    """Such as 1.2.3.4/24; an IPv6 address counts without a check for duplicates."""
    parsed = ip_interface(address)
    family = socket.AF_INET if parsed.version == 4 else socket.AF_INET6
    bits, raw = parsed.network.prefixlen, parsed.packed
    head = struct.pack("=BBBBI", family, bits, 2, 0, socket.if_nametoindex(name))
    _ask(_NEWADDR, head + _attribute(2, raw) + _attribute(1, raw))


def add_route(network: str, name: str, gateway: str | None = None) -> None:
    _change_route(_NEWROUTE, network, name, gateway)


def remove_route(network: str, name: str, gateway: str | None = None) -> None:
    _change_route(_DELROUTE, network, name, gateway)


def _change_route(kind: int, network: str, name: str, gateway: str | None) -> None:
    to = ip_network(network)
    family = socket.AF_INET if to.version == 4 else socket.AF_INET6
    # In the main table, by an operator, and by scope a link or the world.
    scope = 253 if gateway is None and to.version == 4 else 0
    head = struct.pack("=BBBBBBBBI", family, to.prefixlen, 0, 0, 254, 3, scope, 1, 0)
    words = _attribute(1, to.network_address.packed) if to.prefixlen else b""
    words += _attribute(4, struct.pack("=I", socket.if_nametoindex(name)))
    if gateway is not None:
        words += _attribute(5, ip_address(gateway).packed)
    _ask(kind, head + words)


def _attribute(kind: int, value: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def _ask(kind: int, words: bytes) -> None:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as kernel:
        kernel.send(struct.pack("=IHHII", 16 + len(words), kind, _ADD, 1, 0) + words)
        (code,) = struct.unpack_from("=i", kernel.recv(4096), 16)
    if code:
        raise OSError(-code, os.strerror(-code))

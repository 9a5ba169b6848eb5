"""The networks of this machine's interfaces, as the C library lists them.

For systems without Linux's routing sockets, such as macOS.
"""

import ctypes
import os
import socket
import sys
from collections.abc import Iterator
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_interface,
)

# The BSDs put the length of a socket address before its family, as a byte each.
_FAMILY_AT = 0 if sys.platform == "linux" else 1
# By family: where the address begins within a socket address, and how long it is.
_PLACES = {int(socket.AF_INET): (4, 4), int(socket.AF_INET6): (8, 16)}


class _Entry(ctypes.Structure):
    """`struct ifaddrs`, up to the fields that are read."""


_Entry._fields_ = [
    ("next", ctypes.POINTER(_Entry)),
    ("name", ctypes.c_char_p),
    ("flags", ctypes.c_uint),
    ("address", ctypes.c_void_p),
    ("netmask", ctypes.c_void_p),
]


def interface_networks() -> Iterator[IPv4Network | IPv6Network]:
    """Each address of each interface with its prefix.

    Raises:
        OSError: They could not be listed.
    """
    library = ctypes.CDLL(None, use_errno=True)
    first = ctypes.POINTER(_Entry)()
    if library.getifaddrs(ctypes.byref(first)) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    try:
        entry = first
        while entry:
            if network := _network_of(entry.contents):
                yield network
            entry = entry.contents.next
    finally:
        library.freeifaddrs(first)


def _network_of(entry: _Entry) -> IPv4Network | IPv6Network | None:
    address = _read(entry.address)
    if address is None:
        return None
    mask = _read(entry.netmask)
    bits = address.max_prefixlen if mask is None else int(mask).bit_count()
    # Without any prefix, it would be the whole Internet.
    return ip_interface(f"{address}/{bits or address.max_prefixlen}").network


def _read(place: int | None) -> IPv4Address | IPv6Address | None:
    if place is None:
        return None
    family = ctypes.string_at(place, 2)[_FAMILY_AT]
    if family not in _PLACES:
        return None
    offset, length = _PLACES[family]
    return ip_address(ctypes.string_at(place + offset, length))

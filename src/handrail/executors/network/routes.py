"""Whether an address leads to this machine or to a directly attached network.

The registries of special addresses cannot tell: a rented server has a public address of its own,
and so has every machine in most IPv6 networks. The kernel is asked for each address, at the moment
of use, because addresses come and go while Handrail runs.
"""

import errno
import fcntl
import socket
import struct
import sys
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address
from typing import NamedTuple

from handrail.executors.network.interfaces import interface_networks
from handrail.policy.network.addresses import Reach, reach_of, unwrapped

_SECONDS = 1.0
_MOST_BYTES = 65_536

# From linux/netlink.h, linux/rtnetlink.h and linux/if.h.
_HEADER = struct.Struct("=IHHII")
_ROUTE = struct.Struct("=BBBBBBBBI")
_ATTRIBUTE = struct.Struct("=HH")
_NEXT_HOP = struct.Struct("=HBBi")
_NLMSG_ERROR = 2
_NLM_F_REQUEST = 1
_RTM_GETROUTE = 26
_RTM_F_FIB_MATCH = 0x2000
_RTA_DST, _RTA_OIF, _RTA_GATEWAY, _RTA_MULTIPATH, _RTA_VIA = 1, 4, 5, 9, 18
# Unicast, and what this machine takes for itself: local, broadcast, anycast, multicast. The others
# are refusals.
_RTN_UNICAST = 1
_RTN_OWN = {2, 3, 4, 5}
_RTPROT_KERNEL = 2
_SIOCGIFFLAGS = 0x8913
_IFF_POINTOPOINT = 0x10

# The kernel has no way there, or refuses it; connecting fails for the same reason.
_NO_ROUTE = {errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EINVAL, errno.EACCES}


class _Route(NamedTuple):
    kind: int
    protocol: int
    prefix_length: int
    has_gateway: bool
    device: int


def reach_from_here(address: str) -> Reach:
    """As `reach_of`, except that this machine and its neighbours are LOCAL at any address.

    Raises:
        OSError: The kernel could not be asked.
    """
    reach = reach_of(address)
    if reach is not Reach.PUBLIC:
        return reach
    return Reach.LOCAL if _is_attached(unwrapped(address)) else Reach.PUBLIC


def _is_attached(address: IPv4Address | IPv6Address) -> bool:
    if sys.platform != "linux":
        return any(address in network for network in interface_networks())
    route = _find_route(address)
    return route is not None and _is_direct(route)


def _is_direct(route: _Route) -> bool:
    """Whether packets go to the address itself, and not to a router that passes them on.

    Without a gateway are also the routes of tunnels. A tunnel to the whole Internet has a default
    route, or many static ones that cover it in pieces; only the network of the tunnel's own
    address, for which the kernel makes the route, is a direct one.
    """
    if route.kind in _RTN_OWN:
        return True
    if route.kind != _RTN_UNICAST or route.has_gateway or route.prefix_length == 0:
        return False
    return route.protocol == _RTPROT_KERNEL or not _is_point_to_point(route.device)


def _find_route(address: IPv4Address | IPv6Address) -> _Route | None:
    """The route that the kernel takes for an address, policy routing included."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    raw = address.packed
    wanted = _ROUTE.pack(family, len(raw) * 8, 0, 0, 0, 0, 0, 0, _RTM_F_FIB_MATCH)
    wanted += _ATTRIBUTE.pack(_ATTRIBUTE.size + len(raw), _RTA_DST) + raw
    header = _HEADER.pack(_HEADER.size + len(wanted), _RTM_GETROUTE, _NLM_F_REQUEST, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as kernel:
        kernel.settimeout(_SECONDS)
        kernel.send(header + wanted)
        answer = kernel.recv(_MOST_BYTES)
    try:
        return _read_answer(answer)
    except struct.error as error:
        raise OSError(errno.EPROTO, "the kernel's answer cannot be read") from error


def _read_answer(answer: bytes) -> _Route | None:
    length, kind, *_ = _HEADER.unpack_from(answer)
    if kind == _NLMSG_ERROR:
        (code,) = struct.unpack_from("=i", answer, _HEADER.size)
        if -code in _NO_ROUTE:
            return None
        raise OSError(-code, "the kernel does not report its route")
    _, prefix_length, _, _, _, protocol, _, route_kind, _ = _ROUTE.unpack_from(answer, _HEADER.size)
    attributes = dict(_attributes(answer[_HEADER.size + _ROUTE.size : length]))
    (device,) = struct.unpack("=i", attributes.get(_RTA_OIF, b"\0\0\0\0"))
    # One direct hop among several is enough to reach a neighbour.
    hops = [*_hops(attributes.get(_RTA_MULTIPATH, b""))] or [attributes]
    has_gateway = all(not hop.keys().isdisjoint((_RTA_GATEWAY, _RTA_VIA)) for hop in hops)
    return _Route(route_kind, protocol, prefix_length, has_gateway, device)


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    while data:
        length, kind = _ATTRIBUTE.unpack_from(data)
        yield kind, data[_ATTRIBUTE.size : length]
        data = data[max(_aligned(length), _ATTRIBUTE.size) :]


def _hops(data: bytes) -> Iterator[dict[int, bytes]]:
    while data:
        length, *_ = _NEXT_HOP.unpack_from(data)
        yield dict(_attributes(data[_NEXT_HOP.size : length]))
        data = data[max(_aligned(length), _NEXT_HOP.size) :]


def _aligned(length: int) -> int:
    return (length + 3) & ~3


def _is_point_to_point(device: int) -> bool:
    """Whether there is one machine at the other end, and no neighbours; no, where in doubt."""
    try:
        request = struct.pack("16sH14x", socket.if_indextoname(device).encode(), 0)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            answer = fcntl.ioctl(any_socket, _SIOCGIFFLAGS, request)
    except OSError:
        return False
    (flags,) = struct.unpack_from("=H", answer, 16)
    return bool(flags & _IFF_POINTOPOINT)

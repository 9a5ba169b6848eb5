"""How far an address leads: to the world, to this machine's own networks, or to nothing good.

A table of our own, of what the registries of special addresses say: the standard library's answer
has changed between versions of Python, and does not look into addresses that hold others.
"""

from enum import IntEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address


class Reach(IntEnum):
    """How far an address leads, from best to worst."""

    PUBLIC = 1
    # This machine and its own networks: for those whom the operator names.
    LOCAL = 2
    # What serves no guest: metadata of clouds, neighbours, groups, and what means nothing.
    NEVER = 3


_LOCAL_V4 = tuple(
    map(
        IPv4Network,
        ("10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
    )
)
_NEVER_V4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24",
            "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
            # Where clouds tell a machine its secrets, beside 169.254.169.254 and 192.0.0.192.
            "100.100.100.200/32", "168.63.129.16/32",
        ),
    )
)  # fmt: skip
_PUBLIC_V6 = IPv6Network("2000::/3")
_LOCAL_V6 = tuple(map(IPv6Network, ("::1/128", "fc00::/7")))
_NEVER_V6 = tuple(
    map(
        IPv6Network,
        (
            # Among them tunnels to an IPv4 address inside them: Teredo, 6to4.
            "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
            # The metadata of clouds, within what is else private.
            "fd00:ec2::/32", "fd20:ce::/32",
        ),
    )
)  # fmt: skip
# Mapped, translated, and translated by a gateway: the last 32 bits are an IPv4 address.
_WRAPPED_V4 = tuple(map(IPv6Network, ("::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96")))
_LAST_32 = 0xFFFFFFFF


def is_wrapped(address: str) -> bool:
    """Whether an address, as text, is an IPv4 one in the coat of an IPv6 one."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    return isinstance(parsed, IPv6Address) and any(parsed in network for network in _WRAPPED_V4)


def is_public(address: str) -> bool:
    """Whether an address, as text, is one that everybody in the world may reach."""
    return reach_of(address) is Reach.PUBLIC


def reach_of(address: str) -> Reach:
    """How far an address leads; what is no address leads nowhere."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return Reach.NEVER
    return _reach_of_v4(parsed) if isinstance(parsed, IPv4Address) else _reach_of_v6(parsed)


def _reach_of_v4(address: IPv4Address) -> Reach:
    if any(address in network for network in _NEVER_V4):
        return Reach.NEVER
    return Reach.LOCAL if any(address in network for network in _LOCAL_V4) else Reach.PUBLIC


def _reach_of_v6(address: IPv6Address) -> Reach:
    if address.scope_id is not None:
        return Reach.NEVER
    if any(address in network for network in _WRAPPED_V4):
        return _reach_of_v4(IPv4Address(int(address) & _LAST_32))
    if any(address in network for network in _NEVER_V6):
        return Reach.NEVER
    if any(address in network for network in _LOCAL_V6):
        return Reach.LOCAL
    return Reach.PUBLIC if address in _PUBLIC_V6 else Reach.NEVER

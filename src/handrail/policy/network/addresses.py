"""How far an address leads: to the Internet, to a local network, or to no useful host.

The table is our own copy of the registries of special addresses. The standard library's answer has
changed between versions of Python, and does not look into IPv6 addresses that hold IPv4 ones.
"""

from enum import IntEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address


class Reach(IntEnum):
    """How far an address leads, from best to worst."""

    PUBLIC = 1
    # This machine and its own networks: only where the operator lists it.
    LOCAL = 2
    # Metadata services of clouds, link-local, multicast and reserved addresses.
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
    """Whether the text is an IPv6 address that holds an IPv4 one."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    return _is_wrapped(parsed)


def unwrapped(address: str) -> IPv4Address | IPv6Address:
    """An address from its text; of an IPv4 address within an IPv6 one, the IPv4 address.

    Raises:
        ValueError: It is no address.
    """
    parsed = ip_address(address)
    if _is_wrapped(parsed):
        return IPv4Address(int(parsed) & _LAST_32)
    return parsed


def reach_of(address: str) -> Reach:
    """How far an address leads, by the registries alone; NEVER for text that is no address.

    Which public addresses belong to this machine, only its kernel can tell.
    """
    try:
        parsed = unwrapped(address)
    except ValueError:
        return Reach.NEVER
    return _reach_of_v4(parsed) if isinstance(parsed, IPv4Address) else _reach_of_v6(parsed)


def _is_wrapped(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv4Address) or address.scope_id is not None:
        return False
    return any(address in network for network in _WRAPPED_V4)


def _reach_of_v4(address: IPv4Address) -> Reach:
    if any(address in network for network in _NEVER_V4):
        return Reach.NEVER
    return Reach.LOCAL if any(address in network for network in _LOCAL_V4) else Reach.PUBLIC


def _reach_of_v6(address: IPv6Address) -> Reach:
    if address.scope_id is not None:
        return Reach.NEVER
    if any(address in network for network in _NEVER_V6):
        return Reach.NEVER
    if any(address in network for network in _LOCAL_V6):
        return Reach.LOCAL
    return Reach.PUBLIC if address in _PUBLIC_V6 else Reach.NEVER

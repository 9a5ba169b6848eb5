from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from handrail.policy.network.addresses import Reach, reach_of

# What wears one of these is judged by the address inside.
COATS = [IPv6Network(f"{prefix}/96") for prefix in ("::ffff:0:0", "::ffff:0:0:0", "64:ff9b::")]

PUBLIC = [
    "1.1.1.1", "93.184.216.34", "100.63.255.255", "100.128.0.1", "172.15.255.255", "172.32.0.1",
    "192.0.1.1", "198.17.255.255", "198.20.0.1", "223.255.255.255", "11.0.0.1", "126.255.255.255",
    "2606:4700:4700::1111", "2001:4860:4860::8888", "2a00:1450:4001:81b::200e",
    # Public ones in another coat.
    "::ffff:1.1.1.1", "::ffff:0:1.1.1.1", "64:ff9b::1.1.1.1",
]  # fmt: skip

LOCAL = [
    "127.0.0.1", "127.255.255.255", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
    "100.64.0.1", "100.127.255.255", "::1", "fc00::1", "fd12:3456:789a::1",
    "::ffff:127.0.0.1", "::ffff:0:10.0.0.1", "64:ff9b::192.168.1.1",
]  # fmt: skip

NEVER = [
    # The metadata of clouds.
    "169.254.169.254", "100.100.100.200", "192.0.0.192", "168.63.129.16", "fd00:ec2::254",
    "fd20:ce::254", "::ffff:169.254.169.254", "64:ff9b::169.254.169.254", "::ffff:a9fe:a9fe",
    # Neighbours, groups, everybody, nobody.
    "169.254.0.1", "fe80::1", "fe80::1%eth0", "fec0::1", "224.0.0.1", "239.255.255.255", "ff02::1",
    "255.255.255.255", "0.0.0.0", "0.1.2.3", "::", "::ffff:0.0.0.0", "240.0.0.1", "4000::1",
    # For documents and measurements only.
    "192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1", "2001:db8::1", "3fff::1", "100::1",
    # Tunnels, to whatever address they lead, and coats that are no longer worn.
    "2002:7f00:1::", "2002:101:101::", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "192.88.99.1",
    "::127.0.0.1", "::1.1.1.1", "64:ff9b:1::7f00:1", "2001:2::1", "2001:10::1",
    # A scope makes no address better.
    "2606:4700:4700::1111%1", "::1%lo",
    # No addresses at all.
    "", "localhost", "127.1", "0x7f000001", "2130706433", "0177.0.0.1", "1.1.1.1\0", "1.1.1.1 ",
    "[::1]", "1.1.1.1:80",
]  # fmt: skip


@pytest.mark.parametrize(
    ("address", "reach"),
    [
        *((address, Reach.PUBLIC) for address in PUBLIC),
        *((address, Reach.LOCAL) for address in LOCAL),
        *((address, Reach.NEVER) for address in NEVER),
    ],
)
def test_an_address_leads_as_far_as_the_registries_say(address: str, reach: Reach) -> None:
    assert reach_of(address) is reach


@given(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)))
def test_nothing_is_public_that_the_standard_library_knows_to_be_special(
    address: IPv4Address | IPv6Address,
) -> None:
    assume(not any(address in network for network in COATS))
    special = not address.is_global or address.is_multicast or address.is_reserved
    assert not (special and reach_of(str(address)) is Reach.PUBLIC)


@given(st.ip_addresses(v=4))
def test_a_coat_changes_nothing(address: IPv4Address) -> None:
    coats = [f"::ffff:{address}", f"::ffff:0:{address}", f"64:ff9b::{address}"]
    assert {reach_of(str(ip_address(coat))) for coat in coats} == {reach_of(str(address))}

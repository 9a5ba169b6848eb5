"""Addresses of machines, as far as they need telling apart."""

import ipaddress


def is_loopback(host: str) -> bool:
    """Whether what is said to this host stays on this machine."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False

"""Speaking TLS: the certificate, its key, and the names it is good for."""

import ipaddress
import ssl
from pathlib import Path
from typing import Any, cast

from handrail.core.errors import SetupError


class Tls:
    """A certificate with its key, proven to belong together."""

    def __init__(self, certificate: Path, key: Path):
        """Read both files.

        Raises:
            SetupError: One of them cannot be read, or is not what it should be.
        """
        self.certificate = certificate
        self.key = key
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            context.load_cert_chain(certificate, key, password=_no_password)
            self.names = _names_in(context, certificate)
        except OSError as error:
            raise SetupError(
                f"{certificate} and {key} are not a usable certificate and key: {error}"
            ) from error

    def address_name(self, host: str) -> str:
        """What to call the server in an address, so that the certificate proves it."""
        plain = [name for name in self.names if not name.startswith("*")]
        return host if host in self.names or not plain else plain[0]


def _no_password() -> str:
    raise SetupError("the key is locked with a password; a server needs one that is not")


def _names_in(context: ssl.SSLContext, certificate: Path) -> tuple[str, ...]:
    """The names in a certificate, told by somebody who is shown it and trusts only it.

    The standard library reads certificates of others, never one's own; so both sides of a
    handshake are played here.
    """
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname = False
    trusting.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    trusting.load_verify_locations(certificate)
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = context.wrap_bio(there, back, server_side=True)
    guest = trusting.wrap_bio(back, there)
    for side in (guest, server, guest):
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue
    shown = cast(dict[str, Any], guest.getpeercert() or {})
    return tuple(_as_host(kind, name) for kind, name in shown.get("subjectAltName", ()))


def _as_host(kind: str, name: str) -> str:
    """As it stands in a Host header."""
    if kind != "IP Address":
        return name.lower()
    address = ipaddress.ip_address(name)
    return f"[{address}]" if address.version == 6 else str(address)

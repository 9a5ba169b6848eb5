"""Exposure: how a server can be reached, under which names, and by which address from here."""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from handrail.app.settings import Settings
from handrail.core.errors import SetupError
from handrail.server.tls import Tls

_ORIGIN = re.compile(r"(https://(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?)/?")


@dataclass(frozen=True, slots=True)
class Exposure:
    host: str
    tls: Tls | None
    # The public address of the proxy in front of us, if there is one.
    origin: str | None

    @property
    def is_private(self) -> bool:
        """Whether words are safe on their way, wherever they come from."""
        return self.tls is not None or self.origin is not None

    @property
    def hosts(self) -> frozenset[str]:
        """The names callers may use for us, besides this machine's own."""
        certified = () if self.tls is None else self.tls.names
        public = () if self.origin is None else (_host_of(self.origin),)
        bound = () if _is_any(self.host) else (_bracketed(self.host),)
        return frozenset((*certified, *public, *bound))

    def address(self, port: int) -> str:
        """Where a client on this machine finds us."""
        host = _bracketed(self.host)
        if self.tls is not None:
            return f"https://{self.tls.address_name(host)}:{port}"
        if _is_any(self.host):
            host = "[::1]" if ":" in self.host else "127.0.0.1"
        return f"http://{host}:{port}"


def read_exposure(settings: Settings) -> Exposure:
    """What the settings say about being reached.

    Raises:
        SetupError: They contradict each other, or the certificate is no good.
    """
    tls: Tls | None = None
    if settings.tls_cert is not None and settings.tls_key is not None:
        tls = Tls(settings.tls_cert, settings.tls_key)
    elif settings.tls_cert is not None or settings.tls_key is not None:
        raise SetupError("a certificate and its key belong together: --tls-cert and --tls-key")
    origin = None if settings.behind_proxy is None else _read_origin(settings.behind_proxy)
    return Exposure(settings.host, tls, origin)


def _read_origin(text: str) -> str:
    if (fitting := _ORIGIN.fullmatch(text.lower())) is None:
        raise SetupError(
            f"{text!r} is not the https address of a proxy; "
            "write --behind-proxy https://handrail.example.org"
        )
    return fitting[1]


def _host_of(origin: str) -> str:
    return _bracketed(urlsplit(origin).hostname or "")


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _is_any(host: str) -> bool:
    """Whether it stands for every address of this machine."""
    try:
        return host == "" or ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False

"""Hosts as words: is this text the name of a machine, and is it on the list?

Only the words are judged, and nothing is looked up. To which addresses a name leads is the
executor's matter, at the moment of use.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address

from handrail.core.errors import BadInput
from handrail.core.risk import Finding, forbidden
from handrail.core.visible import cut, visible

MAX_NAME_CHARS = 253
MAX_PORT = 65535
# What an entry that names no port stands for.
WEB_PORTS = (80, 443)

_SHOWN_CHARS = 100
_RULE = "host.spelling"
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
# A name that ends in a number is an address to many a program: 127.1, 0x7f.1, 2130706433.
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_WORD = re.compile(r"(\[[^\[\]]*\]|[^:\[\]]*)(?::([1-9][0-9]{0,4}))?")


@dataclass(frozen=True, slots=True)
class Host:
    """A machine as it is asked for: a name in lower case or an address, and perhaps a port."""

    name: str
    port: int | None = None

    def __str__(self) -> str:
        name = f"[{self.name}]" if ":" in self.name else self.name
        return name if self.port is None else f"{name}:{self.port}"


def read_host(word: str) -> Host | Finding:
    """The host that `name`, `name:port`, `1.2.3.4:port` or `[::1]:port` means, or what is wrong."""
    if not word.isascii() or not word.isprintable():
        return _bad(word, "contains characters that a host name cannot contain; write it in ASCII")
    parts = _WORD.fullmatch(word.lower())
    if parts is None:
        return _bad(word, "is neither a host nor host:port; write IPv6 addresses in brackets")
    name, digits = parts.groups()
    port = None if digits is None else int(digits)
    if port is not None and port > MAX_PORT:
        return _bad(word, "names a port that does not exist")
    if name.startswith("["):
        address = _read_v6(name[1:-1])
        return _bad(word, "is not an IPv6 address") if address is None else Host(address, port)
    why = _what_is_wrong_with(name)
    return Host(name, port) if why is None else _bad(word, why)


@dataclass(frozen=True, slots=True)
class HostEntry:
    """One entry of a list: a host or, as `*.example.com`, all that lie below a domain.

    Of `store*.example.com`, these are store1.example.com, store2.example.com and so on.
    """

    host: Host
    below: bool = False
    numbered: str = ""

    def covers(self, host: Host) -> bool:
        ports = WEB_PORTS if self.host.port is None else (self.host.port,)
        return host.port in ports and self.covers_name(host.name)

    def covers_name(self, name: str) -> bool:
        if not self.below:
            return name == self.host.name
        below = name.removesuffix(f".{self.host.name}")
        if below == name or not self.numbered:
            return below != name
        return below.startswith(self.numbered) and below[len(self.numbered) :].isdecimal()

    def __str__(self) -> str:
        return f"{self.numbered}*.{self.host}" if self.below else str(self.host)


@dataclass(frozen=True, slots=True)
class HostList:
    """The hosts that may be reached. Of an empty list, none may."""

    entries: tuple[HostEntry, ...] = ()

    @classmethod
    def read(cls, words: Iterable[str], *, exact: bool = False, single: bool = False) -> "HostList":
        """The list that these words make.

        Each entry names one host if it is to be `single`, and also the port if `exact`.

        Raises:
            BadInput: One of the words is no host; the message says which, and why.
        """
        entries: list[HostEntry] = []
        for word in words:
            entry = _read_entry(word, exact=exact)
            if single and isinstance(entry, HostEntry) and entry.below:
                entry = _bad(word, "must name one host, without `*`")
            if isinstance(entry, Finding):
                raise BadInput(entry.reason)
            entries.append(entry)
        return cls(tuple(dict.fromkeys(entries)))

    def covers(self, host: Host) -> bool:
        """Whether this host may be reached at this port."""
        return any(entry.covers(host) for entry in self.entries)

    def covers_name(self, name: str) -> bool:
        """Whether this name may be reached at any port at all."""
        return any(entry.covers_name(name) for entry in self.entries)

    def names(self, host: Host) -> bool:
        """Whether an entry is this very host with this very port."""
        return host.port is not None and HostEntry(host) in self.entries

    def __str__(self) -> str:
        return ", ".join(map(str, self.entries)) or "none"


NO_HOSTS = HostList()


def validate_host(word: str, *, exact: bool = False) -> list[Finding]:
    """Every concern about an entry of a list of hosts; none means that its words are fine."""
    entry = _read_entry(word, exact=exact)
    return [entry] if isinstance(entry, Finding) else []


def _read_entry(word: str, *, exact: bool) -> HostEntry | Finding:
    numbered, star, domain = word.partition("*.")
    is_label = "." in domain and _LABEL.fullmatch(f"{numbered.lower()}0") is not None
    below = bool(star) and (not numbered or is_label)
    host = read_host(domain if below else word)
    if isinstance(host, Finding):
        return host
    if exact and (below or host.port is None):
        return _bad(word, "must name one host and its port, as in registry.internal:4873")
    if below and ("." not in host.name or _is_address(host.name)):
        return _bad(word, "covers too much; name a domain, as in *.example.com")
    return HostEntry(host, below, numbered.lower() if below else "")


def _what_is_wrong_with(name: str) -> str | None:
    if not name:
        return "is empty"
    if len(name) > MAX_NAME_CHARS:
        return f"is longer than the {MAX_NAME_CHARS} characters that a name may have"
    labels = name.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        return (
            None
            if _is_address(name)
            else "is an IPv4 address in an unusual form; write it as 1.2.3.4"
        )
    if not labels[-1]:
        return "ends in a dot; leave it out"
    if not all(map(_LABEL.fullmatch, labels)):
        return (
            "is not a host name; each part between dots has up to 63 letters, digits and "
            "inner hyphens"
        )
    if any(label.startswith("xn--") and not _is_punycode(label) for label in labels):
        return "has a part that looks like an international name, but is not a valid one"
    return None


def _is_punycode(label: str) -> bool:
    """Whether the part stands for characters beyond ASCII, and for no name in disguise."""
    try:
        return not label.removeprefix("xn--").encode().decode("punycode").isascii()
    except UnicodeError:
        return False


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _read_v6(text: str) -> str | None:
    try:
        address = IPv6Address(text)
    except ValueError:
        return None
    # What follows a percent sign means something on one machine only.
    return None if address.scope_id is not None else str(address)


def _bad(word: str, why: str) -> Finding:
    return forbidden(_RULE, f"the host '{cut(visible(word), _SHOWN_CHARS)}' {why}")

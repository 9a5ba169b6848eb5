"""The address of a remote: https, ssh, or http on this machine."""

import re
from dataclasses import dataclass
from ipaddress import ip_address

from handrail.core.errors import CommandExecutionError
from handrail.core.visible import visible

_PORTS = {"http": 80, "https": 443, "ssh": 22}
# git decodes `%` in the whole of an ssh address before it looks for the host, and knows further
# forms. So an address has one of these shapes, in which git and we can only read the same.
_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?"
_HOST = rf"(?P<host>{_NAME}|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{{1,5}}))?"
_USER = r"(?P<user>[A-Za-z0-9_.][A-Za-z0-9_.+-]*)"
_WEB = re.compile(rf"(?P<scheme>https?)://(?:(?P<login>[^/@?#]*)@)?{_HOST}(?P<path>/[^?#]*)?")
_SSH = re.compile(rf"(?:ssh|git\+ssh|ssh\+git)://(?:{_USER}@)?{_HOST}(?P<path>/[^%?#]*)?")
# `user@host:path`. In a setting the user may be left out; a word such as `main:main` is a refspec.
_SCP = re.compile(rf"(?:{_USER}@)?(?P<host>{_NAME}):(?P<path>[^-:][^:]*)")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://.*", re.DOTALL)
_PLAIN = re.compile(r"[!-\[\]-~]+")
_MOST_PORT = 65_535


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a remote. `url` may contain a password; `shown` never does."""

    url: str
    scheme: str
    host: str
    port: int
    shown: str
    user: str = ""

    @classmethod
    def of(cls, url: str) -> "Address":
        """Read an address as git does.

        Raises:
            CommandExecutionError: Remotes at this kind of address are not supported.
        """
        check_plain(url)
        for shape in (_WEB, _SSH) if _URL.fullmatch(url) else (_SCP,):
            if match := shape.fullmatch(url):
                return cls._read(url, match.groupdict())
        raise _unfit(url, "it is neither https nor ssh in a plain form")

    @classmethod
    def _read(cls, url: str, parts: dict[str, str | None]) -> "Address":
        scheme, host = parts.get("scheme") or "ssh", (parts["host"] or "").strip("[]")
        port = int(parts.get("port") or _PORTS[scheme])
        if not 0 < port <= _MOST_PORT:
            raise _unfit(url, "there is no such port")
        if scheme == "http" and not _is_this_machine(host):
            raise _unfit(url, "others can read what is sent to it; use https")
        # The user of an ssh address is no secret, and says which account is used.
        login = parts.get("login")
        shown = url if login is None else url.replace(f"{login}@", "", 1)
        return cls(url, scheme, host, port, shown, parts.get("user") or "")

    @property
    def place(self) -> str:
        """The host with its port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def is_address(word: str) -> bool:
    """True for a URL, and for `user@host:path` with a user."""
    scp = _SCP.fullmatch(word)
    return _URL.fullmatch(word) is not None or (scp is not None and scp["user"] is not None)


def without_login(url: str) -> str:
    """An address without user and password, for messages; it need not be valid."""
    return visible(re.sub(r"\A([^/]*//).*@", r"\1", url, flags=re.DOTALL))


def check_plain(url: str) -> None:
    """Refuse what git could read as a flag or as several lines.

    Raises:
        CommandExecutionError: It starts with `-`, or is not printable ASCII.
    """
    if url.startswith("-") or _PLAIN.fullmatch(url) is None:
        raise _unfit(url, "it holds characters that can mislead")


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _unfit(url: str, why: str) -> CommandExecutionError:
    return CommandExecutionError(
        f"the remote {without_login(url)} cannot be reached: {why}; give it an address such as"
        " https://HOST/PATH or git@HOST:PATH (`git remote set-url NAME ADDRESS`)"
    )

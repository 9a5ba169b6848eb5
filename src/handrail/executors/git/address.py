"""The address of a remote: https, ssh, or http on this machine."""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from handrail.core.errors import CommandExecutionError
from handrail.core.visible import visible

_PORTS = {"http": 80, "https": 443, "ssh": 22}
_SSH_SCHEMES = {"ssh", "git+ssh", "ssh+git"}
# `user@host:path`. In a setting the user may be left out; a word such as `main:main` is a refspec.
_SCP = re.compile(
    r"(?:(?P<user>[A-Za-z0-9_.][A-Za-z0-9_.-]*)@)?(?P<host>[A-Za-z0-9][A-Za-z0-9.-]*)"
    r":(?P<path>[^-:][^:]*)"
)
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://.*", re.DOTALL)
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|[0-9A-Fa-f:.]+")
_UNSAFE = re.compile(r"[\x00-\x20\x7f\\]")


@dataclass(frozen=True, slots=True)
class Address:
    """Where a remote is. `url` is what git is given, and can hold a password; `shown` cannot."""

    url: str
    scheme: str
    host: str
    port: int
    shown: str

    @classmethod
    def of(cls, url: str) -> "Address":
        """Read an address as git does.

        Raises:
            CommandExecutionError: No remote is reached by this kind of address.
        """
        if _UNSAFE.search(url) or url.startswith("-"):
            raise _unfit(url, "it holds characters that can mislead")
        if not _URL.fullmatch(url):
            scp = _SCP.fullmatch(url)
            if scp is None:
                raise _unfit(url, "it is neither https nor ssh")
            return cls(url, "ssh", scp["host"], _PORTS["ssh"], url)
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            raise _unfit(url, "its host or port cannot be read") from None
        scheme = "ssh" if parts.scheme in _SSH_SCHEMES else parts.scheme
        if scheme not in _PORTS or (scheme == "http" and not _is_this_machine(host)):
            raise _unfit(url, "it is neither https nor ssh")
        if not _HOST.fullmatch(host) or (scheme == "ssh" and parts.password is not None):
            raise _unfit(url, "its host or user can mislead")
        return cls(url, scheme, host, port or _PORTS[scheme], _without_login(parts, scheme))

    @property
    def place(self) -> str:
        """The host with its port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def is_address(word: str) -> bool:
    """Whether a word of a command can only be an address."""
    scp = _SCP.fullmatch(word)
    return _URL.fullmatch(word) is not None or (scp is not None and scp["user"] is not None)


def without_login(url: str) -> str:
    """An address in a form that can be shown, whether git could use it or not."""
    return visible(re.sub(r"\A([^/]*//)[^/]*@", r"\1", url))


def _without_login(parts: SplitResult, scheme: str) -> str:
    """An ssh address keeps its user, which is no secret and says which account is used."""
    if scheme == "ssh":
        return parts.geturl()
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


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

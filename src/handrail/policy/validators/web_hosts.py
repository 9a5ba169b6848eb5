"""Which hosts of the web may be asked, by their words and by the addresses they lead to."""

from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address

from handrail.core.risk import Finding, forbidden
from handrail.policy.validators.addresses import Reach, is_wrapped, reach_of
from handrail.policy.validators.hosts import WEB_PORTS, Host, HostList

# How far an address leads.
ReachOf = Callable[[str], Reach]

# Ends of names that only the networks of this machine know.
_INSIDE = (
    *("localhost", "local", "localdomain", "internal", "intranet", "private", "corp", "home"),
    *("home.arpa", "lan"),
)
# Where clouds tell a machine its secrets. Those that end in `internal` are above.
_METADATA = frozenset(
    {
        *("metadata.goog", "metadata.packet.net", "metadata.platformequinix.com"),
        *("metadata.tencentyun.com", "metadata.azure.com"),
    }
)


@dataclass(frozen=True, slots=True)
class WebHosts:
    """The operator's list. Without one, all that the whole world may reach, at ports 80 and 443.

    An address of this machine's own networks is reached only where the list has that very address
    with its port, whether it was asked for by a name or not; metadata of clouds and the like never.
    """

    listed: HostList | None = None

    def judge(self, host: Host) -> list[Finding]:
        """What the words alone say against a host, of which the port is known."""
        found = self._judge_listed(host) if self.listed is not None else _judge_port(host)
        return found or self._judge_words(host)

    def judge_address(
        self, host: Host, address: str, reach: ReachOf = reach_of
    ) -> tuple[Finding, ...]:
        """What is to be said against an address that the host leads to."""
        whither = str(host) if address == host.name else f"{host} leads to {address}, which"
        match reach(address):
            case Reach.PUBLIC:
                return ()
            case Reach.LOCAL if self._names(Host(address, host.port)):
                return ()
            case Reach.LOCAL:
                why = "is in a private network; only an address that is listed with its port may be"
                return (forbidden("http.private", f"{whither} {why}"),)
            case Reach.NEVER:
                why = "is an address that no request may reach"
                return (forbidden("http.private", f"{whither} {why}"),)

    def replaced_by(self, other: "WebHosts") -> "WebHosts":
        """The other's list, if it has one."""
        return self if other.listed is None else other

    def __str__(self) -> str:
        return "any public host" if self.listed is None else str(self.listed)

    def _names(self, host: Host) -> bool:
        return self.listed is not None and self.listed.names(host)

    def _judge_listed(self, host: Host) -> list[Finding]:
        if self.listed is None or self.listed.covers(host):
            return []
        reason = f"{host} is not on the operator's list of hosts ([http] allowed_hosts)"
        return [forbidden("http.unlisted", reason)]

    def _judge_words(self, host: Host) -> list[Finding]:
        if not _is_address(host.name):
            known = self.listed is not None and self.listed.covers(host)
            return [] if known else _judge_name(host.name)
        if is_wrapped(host.name):
            reason = f"{host} is an IPv4 address in disguise; write it as 1.2.3.4"
            return [forbidden("http.private", reason)]
        return list(self.judge_address(host, host.name))


ANY_PUBLIC_HOST = WebHosts()


def _judge_port(host: Host) -> list[Finding]:
    if host.port in WEB_PORTS:
        return []
    reason = f"{host} is at a port other than 80 and 443, which the operator has to list"
    return [forbidden("http.port", f"{reason} ([http] allowed_hosts)")]


def _judge_name(name: str) -> list[Finding]:
    if name in _METADATA:
        return [forbidden("http.private", f"{name} tells a machine's secrets; it is never asked")]
    if "." not in name or any(name.endswith(f".{end}") for end in _INSIDE):
        reason = f"{name} is a name of a private network, and is not asked unless it is listed"
        return [forbidden("http.private", reason)]
    return []


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True

"""Which hosts of the web may be asked, by their words and by the addresses they lead to."""

from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address

from handrail.core.risk import Finding, forbidden
from handrail.policy.network.addresses import Reach, is_wrapped, reach_of
from handrail.policy.network.hosts import NO_HOSTS, WEB_PORTS, Host, HostList

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
    """The hosts that http_request may reach: the operator's two lists.

    Without `listed`, every public host at ports 80 and 443; with it, those hosts and no others. The
    `trusted` ones are added in both cases, and may be on this machine or in a private network.
    `unknown` says why the lists are not known at the moment; then no host is reached.

    Without trust, a local address is reached only if `listed` has that very address with its port,
    also where a name leads to it. Cloud metadata and the like are never reached.
    """

    listed: HostList | None = None
    trusted: HostList = NO_HOSTS
    unknown: str = ""

    def judge(self, host: Host) -> list[Finding]:
        """What the words alone say against a host, of which the port is known."""
        if self.unknown:
            return [forbidden("http.unknown", f"no host is reached: {self.unknown}")]
        if self.trusted.covers(host):
            return _judge_disguise(host) or self._judge_literal(host)
        found = self._judge_listed(host) if self.listed is not None else _judge_port(host)
        return found or self._judge_words(host)

    def judge_address(
        self, host: Host, address: str, reach: ReachOf = reach_of
    ) -> tuple[Finding, ...]:
        """What is to be said against an address that the host leads to."""
        whither = str(host) if address == host.name else f"{host} resolves to {address}, which"
        match reach(address):
            case Reach.PUBLIC:
                return ()
            case Reach.LOCAL if self._may_be_local(host, address):
                return ()
            case Reach.LOCAL:
                why = (
                    "is on this machine or in a private network; the operator must list it "
                    "([http] trusted_hosts)"
                )
                return (forbidden("http.private", f"{whither} {why}"),)
            case Reach.NEVER:
                why = "is an address that no request may reach"
                return (forbidden("http.private", f"{whither} {why}"),)

    def names(self, name: str) -> bool:
        """Whether the operator lists this host, at any port."""
        lists = (self.trusted,) if self.listed is None else (self.listed, self.trusted)
        return any(one.covers_name(name) for one in lists)

    def replaced_by(self, other: "WebHosts") -> "WebHosts":
        """The other's lists, if it has any."""
        return self if other == ANY_PUBLIC_HOST else other

    def __str__(self) -> str:
        if self.unknown:
            return f"no host: {self.unknown}"
        said = "any public host" if self.listed is None else str(self.listed)
        return f"{said}; trusted: {self.trusted}" if self.trusted.entries else said

    def _may_be_local(self, host: Host, address: str) -> bool:
        itself = Host(address, host.port)
        if self.trusted.covers(host) or self.trusted.covers(itself):
            return True
        return self.listed is not None and self.listed.names(itself)

    def _judge_listed(self, host: Host) -> list[Finding]:
        if self.listed is None or self.listed.covers(host):
            return []
        reason = f"{host} is not on the operator's list of hosts ([http] allowed_hosts)"
        return [forbidden("http.unlisted", reason)]

    def _judge_words(self, host: Host) -> list[Finding]:
        if not _is_address(host.name):
            known = self.listed is not None and self.listed.covers(host)
            return [] if known else _judge_name(host.name)
        return _judge_disguise(host) or self._judge_literal(host)

    def _judge_literal(self, host: Host) -> list[Finding]:
        return list(self.judge_address(host, host.name)) if _is_address(host.name) else []


ANY_PUBLIC_HOST = WebHosts()


def _judge_disguise(host: Host) -> list[Finding]:
    if not is_wrapped(host.name):
        return []
    reason = f"{host} is an IPv4 address in an unusual form; write it as 1.2.3.4"
    return [forbidden("http.private", reason)]


def _judge_port(host: Host) -> list[Finding]:
    if host.port in WEB_PORTS:
        return []
    reason = f"{host} uses a port other than 80 and 443, which the operator must list"
    return [forbidden("http.port", f"{reason} ([http] trusted_hosts)")]


def _judge_name(name: str) -> list[Finding]:
    if name in _METADATA:
        return [
            forbidden(
                "http.private", f"{name} serves a machine's secrets; requests to it are refused"
            )
        ]
    if "." not in name or any(name.endswith(f".{end}") for end in _INSIDE):
        reason = (
            f"{name} is a name in a private network; requests to it are refused unless it is listed"
        )
        return [forbidden("http.private", reason)]
    return []


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True

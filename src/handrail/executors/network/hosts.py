"""Networks: which hosts commands may reach from this machine, by its own settings and its rules."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit, urlunsplit

from handrail.core.errors import CommandExecutionError
from handrail.core.risk import Finding
from handrail.core.stage import Stage
from handrail.executors.network.asking import ask_program
from handrail.executors.network.credentials import Credential, find_credential
from handrail.executors.processes.programs import ProgramFinder
from handrail.policy.network.hosts import Host, HostList, read_host
from handrail.policy.rulebook.networks import NetworkRule
from handrail.policy.rulebook.rules import Rules

# Settings change seldom; who has changed them does not wait longer than this.
_KNOWN_SECONDS = 300.0
_PORTS = {"http": 80, "https": 443}
_WORD = re.compile(r"[^\s,|'\"]+")

# Why a host may not be reached any more; empty where it still may.
Withdrawn = Callable[[Host], Awaitable[str]]


async def nothing_withdrawn(_host: Host) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Reachable:
    """Hosts that may be reached; `local` ones also in a private network.

    `variables` tell a command which of them it was meant to use.
    """

    hosts: tuple[str, ...] = ()
    local: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()

    def withdrawn_by(self, now: "Reachable", host: Host) -> str:
        """Why a host that may be reached by this may not by `now`; empty where it still may."""
        for before, after in ((self.hosts, now.hosts), (self.local, now.local)):
            if HostList.read(before).covers(host) and not HostList.read(after).covers(host):
                return f"{host} was taken off the operator's list while the command ran"
        return ""

    def __add__(self, other: "Reachable") -> "Reachable":
        return Reachable(
            tuple(dict.fromkeys(self.hosts + other.hosts)),
            tuple(dict.fromkeys(self.local + other.local)),
            self.variables + other.variables,
        )


class _Answer(NamedTuple):
    """The address that somebody named first, and every host that was named."""

    address: str
    hosts: tuple[str, ...]


class Networks:
    """Which hosts commands may reach. Answers of programs are cached: one takes a second or two.

    `refresh` adopts other rules if the policy file has changed.
    """

    def __init__(self, rules: Rules, programs: ProgramFinder):
        self.refresh: Callable[[], object] = lambda: None
        self._rules = rules
        self._programs = programs
        self._known: dict[tuple[str, ...], tuple[float, _Answer | None]] = {}
        self._asking: dict[tuple[str, ...], Lock] = {}

    def adopt(self, rules: Rules) -> None:
        """Go by other rules from now on."""
        self._rules = rules

    def learn(self) -> None:
        """Ask all who can be asked, so that whoever wants to know does not have to wait."""
        for rule in self._rules.networks:
            self._reachable_under(rule)

    async def reachable_by(self, names: Iterable[str]) -> Reachable:
        """What commands with these names may reach.

        Raises:
            CommandExecutionError: The policy file is broken at the moment.
        """
        if (names := tuple(names)) and (why := self._rules.web.unknown):
            raise CommandExecutionError(f"no host is reached: {why}")
        found = Reachable()
        for rule in dict.fromkeys(rule for name in names for rule in self._rules.networks_of(name)):
            # In a thread it is asked to the end, also where somebody has no time to wait for it.
            found += await asyncio.to_thread(self._reachable_under, rule)
        return found

    async def credential_for(self, stage: Stage, hosts: Sequence[str]) -> Credential | None:
        """What signs the program of a stage in, where it may reach these hosts.

        Nothing does where one of them is not a host of that account. It is asked for each time, so
        that somebody who has signed out is signed out.
        """
        rules = self._rules.networks_of(stage.account) if stage.account and hosts else ()
        own = (await self.reachable_by([stage.account])).hosts if rules else ()
        if not set(hosts) <= set(own):
            return None
        found = (rule.credential for rule in rules if rule.credential is not None)
        return await asyncio.to_thread(find_credential, self._programs, found)

    def withdrawals(self, names: Iterable[str], before: Reachable) -> Withdrawn:
        """What a proxy asks before each connection of a command that was given `before`."""
        rules, names = self._rules, tuple(names)

        async def withdrawn(host: Host) -> str:
            self.refresh()
            if self._rules is rules:
                return ""
            try:
                now = await self.reachable_by(names)
            except CommandExecutionError as error:
                return error.message
            return before.withdrawn_by(now, host)

        return withdrawn

    def _reachable_under(self, rule: NetworkRule) -> Reachable:
        listed = HostList.read(rule.hosts).entries
        exact = (str(entry) for entry in listed if entry.host.port and not entry.below)
        found = Reachable(rule.hosts, tuple(exact))
        for argv in rule.ask:
            if answer := self._ask(argv):
                told = tuple((name, answer.address) for name in rule.tell)
                return found + Reachable(answer.hosts, answer.hosts, told)
        return found

    def _ask(self, argv: tuple[str, ...]) -> _Answer | None:
        # Whoever wants to know one thing does not wait for another to be asked.
        with self._asking.setdefault(argv, Lock()):
            since, answer = self._known.get(argv, (-_KNOWN_SECONDS, None))
            if time.monotonic() - since >= _KNOWN_SECONDS:
                said = ask_program(self._programs, argv)
                answer = None if said is None else _read_answer(said)
                self._known[argv] = (time.monotonic(), answer)
            return answer


def _read_answer(said: str) -> _Answer | None:
    words = _WORD.findall(said)
    addresses = [address for word in words if (address := _read_address(word))]
    if not addresses:
        return None
    first = addresses[0]
    clean = first._replace(netloc=first.netloc.rpartition("@")[2])
    hosts = [str(host) for host in (*map(_host_of, addresses), *_bare_hosts(words)) if host]
    return _Answer(urlunsplit(clean), tuple(dict.fromkeys(hosts)))


def _read_address(word: str) -> SplitResult | None:
    try:
        address = urlsplit(word)
    except ValueError:
        return None
    return address if address.scheme in _PORTS and _host_of(address) else None


def _host_of(address: SplitResult) -> Host | None:
    place = address.netloc.rpartition("@")[2]
    host = read_host(place)
    if isinstance(host, Finding):
        return None
    return Host(host.name, host.port or _PORTS[address.scheme])


def _bare_hosts(words: Iterable[str]) -> Iterator[Host]:
    """Names without an address around them; by a dot they are told from other words."""
    for word in words:
        host = read_host(word)
        if "." in word and not isinstance(host, Finding):
            yield Host(host.name, host.port or _PORTS["https"])

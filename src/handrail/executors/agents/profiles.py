"""Profiles: what well-known agents need to run over a draft."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

_FILE = Path(__file__).with_name("profiles.toml")
# Of a name that stands on cards.
_MOST_TITLE_CHARS = 100
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class SettingsFolder:
    """A folder of the home, and which of its files are kept or would run by themselves later."""

    name: str
    keeps: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()

    def is_kept(self, path: str) -> bool:
        return not self.runs_later(path) and _fits(path, self.keeps)

    def runs_later(self, path: str) -> bool:
        return _fits(path, self.runs)


@dataclass(frozen=True, slots=True)
class AgentProfile:
    """See profiles.toml. Without a profile, a program is known by its name alone."""

    title: str
    programs: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    passes: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    quiet: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    settings: tuple[SettingsFolder, ...] = ()

    def environment(self, shell: Mapping[str, str]) -> dict[str, str]:
        """The variables that the agent gets, some of them from the person's shell."""
        passed = {name: shell[name] for name in self.passes if name in shell}
        return {**passed, **self.variables}

    def servers(self, shell: Mapping[str, str]) -> tuple[str, ...]:
        """The hosts that the person has named in variables of the shell, with their ports."""
        found = (_host_in(shell.get(name, "")) for name in self.addresses)
        return tuple(host for host in found if host)


def profile_for(program: str) -> AgentProfile:
    """The profile of a program, by its name."""
    name = os.path.basename(program)
    for profile in _profiles():
        if name in profile.programs:
            return profile
    return AgentProfile(name[:_MOST_TITLE_CHARS])


@cache
def _profiles() -> tuple[AgentProfile, ...]:
    told = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return tuple(_read(**table) for table in told.values())


def _read(
    title: str,
    variables: Mapping[str, str] | None = None,
    settings: Mapping[str, Mapping[str, list[str]]] | None = None,
    **lists: list[str],
) -> AgentProfile:
    folders = tuple(
        SettingsFolder(name, **{key: tuple(value) for key, value in table.items()})
        for name, table in (settings or {}).items()
    )
    told = {key: tuple(value) for key, value in lists.items()}
    return AgentProfile(title, variables=variables or {}, settings=folders, **told)


def _fits(path: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(path, pattern) for pattern in patterns)


def _host_in(address: str) -> str:
    try:
        parts = urlsplit(address)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return ""
    return f"{parts.hostname}:{port}" if parts.hostname and port else ""

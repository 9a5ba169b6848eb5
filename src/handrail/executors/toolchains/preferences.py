"""Which of several versions a person has made the default, as each version manager notes it.

Each answers with folders below the path of its toolchain. Whoever notes nothing, or something that
is not understood, prefers nothing.
"""

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator
from os.path import dirname
from typing import Any, cast

_MOST_BYTES = 100_000
_MOST_ALIASES = 5


def nothing(_: str) -> Iterator[str]:
    """There is but one version, or nobody notes a default."""
    yield from ()


def of_pyenv(path: str) -> Iterator[str]:
    yield from _words(f"{dirname(path)}/version")


def of_nvm(path: str) -> Iterator[str]:
    """An alias leads to another one, to a version, or to the beginning of one: `20`."""
    aliases = f"{dirname(dirname(path))}/alias"
    wanted = "default"
    for _ in range(_MOST_ALIASES):
        wanted = next(_words(f"{aliases}/{wanted}"), wanted)
    for name in reversed(_versions(path)):
        number, asked = name.removeprefix("v"), wanted.removeprefix("v")
        if number == asked or number.startswith(f"{asked}."):
            yield name
            return


def of_fnm(path: str) -> Iterator[str]:
    yield from _below(path, f"{dirname(path)}/aliases/default")


def of_volta(path: str) -> Iterator[str]:
    """As in `{"node": {"runtime": "20.1.0", "npm": null}, "yarn": "1.22"}`."""
    noted = _table(f"{dirname(path)}/user/platform.json", json.loads)
    for name, entry in noted.items():
        version = cast(dict[str, Any], entry).get("runtime") if isinstance(entry, dict) else entry
        if isinstance(version, str):
            yield f"{name}/{version}"


def of_rustup(path: str) -> Iterator[str]:
    """Its short name stands for one with the kind of machine behind it."""
    wanted = _table(f"{dirname(path)}/settings.toml", tomllib.loads).get("default_toolchain")
    if isinstance(wanted, str):
        yield from (name for name in _versions(path) if f"{name}-".startswith(f"{wanted}-"))


def of_asdf(path: str) -> Iterator[str]:
    """Lines such as `nodejs 20.1.0 18.0.0`."""
    for line in _text(os.path.expanduser("~/.tool-versions")).splitlines():
        name, *versions = line.partition("#")[0].split() or [""]
        yield from (f"{name}/{version}" for version in versions)


def of_mise(path: str) -> Iterator[str]:
    for name in _versions(path):
        yield from _below(path, f"{path}/{name}/latest")


def of_sdkman(path: str) -> Iterator[str]:
    for name in _versions(path):
        yield from _below(path, f"{path}/{name}/current")


def _below(path: str, link: str) -> Iterator[str]:
    """Where a link leads, if that is below the path."""
    if os.path.islink(link):
        found = os.path.relpath(os.path.realpath(link), os.path.realpath(path))
        if not found.startswith(".."):
            yield found


def _versions(path: str) -> list[str]:
    try:
        names = os.listdir(path)
    except OSError:
        return []
    return sorted(names, key=_numbers)


def _numbers(name: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", name)]


def _words(file: str) -> Iterator[str]:
    yield from _text(file).split()


def _table(file: str, parse: Callable[[str], Any]) -> dict[str, Any]:
    try:
        found = parse(_text(file))
    except ValueError:
        return {}
    return cast(dict[str, Any], found) if isinstance(found, dict) else {}


def _text(file: str) -> str:
    """What a small file says; nothing, if it is none."""
    try:
        if not os.path.isfile(file):
            return ""
        with open(file, encoding="utf-8") as stream:
            return stream.read(_MOST_BYTES)
    except (OSError, UnicodeDecodeError):
        return ""

"""Packs that wait to be switched on, and what to do about a command that no list has."""

import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from handrail.policy.rulebook.lexicon import Lexicon
from handrail.policy.rulebook.settings import PACKS

_WHERE = "in policy.toml, in Handrail's own folder"


def how_to_list(name: str, *, asks: bool) -> str:
    """What the operator can do about a command that is refused, or `asks` each time."""
    if packs := _packs_by_name().meanings(name):
        known = f"the pack {packs[0]} knows it"
        return f'{known}: the operator adds "{packs[0]}" to packs, under [policy] {_WHERE}'
    listed = f"no pack knows it: the operator can describe it as [[command]] {_WHERE}"
    return listed if asks else f'{listed}, or be asked each time, with unlisted = "ask"'


@cache
def _packs_by_name() -> Lexicon[str]:
    """Taken from the files as they stand; their rules are read when they are switched on."""
    folder = files("handrail.policy.rulebook").joinpath("defaults", "packs")
    return Lexicon(
        (name, pack)
        for pack in PACKS
        for name in _names_in(folder.joinpath(f"{pack}.toml").read_text(encoding="utf-8"))
    )


def _names_in(text: str) -> Iterator[str]:
    for row in tomllib.loads(text)["command"]:
        yield from row.get("names") or [row["name"]]

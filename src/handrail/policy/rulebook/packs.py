"""Packs that wait to be switched on, and what to do about a command that no list has."""

import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from handrail.policy.rulebook.lexicon import Lexicon
from handrail.policy.rulebook.settings import PACKS

_FILE = "~/.handrail/policy.toml"
_GUIDE = "(see docs/howto/policy.md)"


def how_to_list(name: str, *, asks: bool) -> str:
    """What the operator can do about a command that is refused, or `asks` each time."""
    why = f"has no rule; to {'add one' if asks else 'allow it'},"
    if packs := _packs_by_name().meanings(name):
        return f'{why} add "{packs[0]}" to packs under [policy] in {_FILE} {_GUIDE}'
    described = f"{why} describe it as [[command]] in {_FILE}"
    if asks:
        return f"{described} {_GUIDE}"
    return f'{described}, or set unlisted = "ask" there to be asked each time {_GUIDE}'


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

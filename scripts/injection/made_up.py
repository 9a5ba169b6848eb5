"""Texts to learn from, made up of sayings: orders to machines, and the same words in other use."""

import random
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

_SAYINGS = [Path(__file__).with_name(name) for name in ("sayings.toml", "sayings_more.toml")]
_SLOT = re.compile(r"\{([a-z_]+)\}")
_ENGLISH = 26


def _read_sayings() -> dict[str, dict[str, list[str]]]:
    """The lists of all files; those of the same name go together."""
    read: dict[str, dict[str, list[str]]] = {}
    for path in _SAYINGS:
        for part, lists in tomllib.loads(path.read_text(encoding="utf-8")).items():
            for name, entries in lists.items():
                read.setdefault(part, {}).setdefault(name, []).extend(entries)
    return read


class MadeUp:
    """Always the same texts for the same seed."""

    def __init__(self, seed: int):
        self._sayings = _read_sayings()
        self._slots = self._sayings["slots"]
        self._random = random.Random(seed)

    def attacks(self, many: int) -> Iterator[str]:
        for _ in range(many):
            yield self._carried(self._attack())

    def ordinary(self, many: int) -> Iterator[str]:
        kinds = self._sayings["ordinary"]
        for _ in range(many):
            kind = self._random.choice(
                ["mention", "mention", "talk", "talk", "guide", "people", "other"]
            )
            said = [self._fill(self._random.choice(kinds[kind]))]
            if kind != "guide" and self._random.random() < 0.4:
                more = self._random.choice([kind, "talk", "people"])
                said.append(self._fill(self._random.choice(kinds[more])))
            yield self._carried(self._random.choice([" ", "\n", "\n\n"]).join(said))

    def _attack(self) -> str:
        languages = self._sayings["attack"]
        others = [name for name in languages if name != "en"]
        at = self._random.randrange(_ENGLISH + len(others))
        language = "en" if at < _ENGLISH else others[at - _ENGLISH]
        return self._fill(self._random.choice(languages[language]))

    def _fill(self, saying: str) -> str:
        def put(match: re.Match[str]) -> str:
            if match[1] == "attack":
                return self._attack().replace('"', "'").replace("\n", " ")
            return self._fill(self._random.choice(self._slots[match[1]]))

        if "{" not in saying:
            return saying
        filled = _SLOT.sub(put, saying)
        return filled[:1].upper() + filled[1:] if self._random.random() < 0.8 else filled

    def _carried(self, text: str) -> str:
        carriers = self._sayings["carriers"]
        at = self._random.randrange(len(carriers["before"]))
        return carriers["before"][at] + text + carriers["after"][at]

"""Reading passages: does somebody give orders to the machine that reads this?

The small language model was taught it. What it has learned are changes to its weights, and how much
each number that it makes of a text counts in the end.
"""

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from handrail.knowledge.minilm import MiniLM

if TYPE_CHECKING:
    from handrail.knowledge.minilm import Floats

LEARNED = "orders.safetensors"
# As many tokens as it learned with, beside the two that stand for beginning and end. And fewer:
# with many harmless words around it, an order is lost among them.
WINDOW = 94
NARROW = 48
BEGIN, END = 101, 102


class OrderReader:
    """Reads passages; loads the model when the first one comes. To be asked by one thread."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._taught: _Taught | None = None
        self._broken: Exception | None = None

    def read(self, text: str, middle: int) -> float:
        """How much what stands around this place reads like an order; 0 is as much as not."""
        taught = self._load()
        tokens = tokens_of(taught.model.tokenizer, text, middle)
        wide, narrow = (window(tokens, most) for most in (WINDOW, NARROW))
        if not wide:
            return 0.0
        return max(map(taught.read, [wide, narrow] if len(narrow) < len(wide) else [wide]))

    def _load(self) -> "_Taught":
        """What could not be loaded once is not tried again: that takes long."""
        if self._broken is not None:
            raise self._broken
        if self._taught is None:
            try:
                self._taught = _Taught(self._folder)
            except Exception as error:
                self._broken = error
                raise
        return self._taught


class _Taught:
    """The model with what it has learned, and how much each of its numbers counts."""

    def __init__(self, folder: Path):
        learned = learned_from_bytes(
            (files("handrail.knowledge") / "learned" / LEARNED).read_bytes()
        )
        self.model = MiniLM(folder)
        self.model.change(changes_of(learned))
        self._counts, self._beginning = learned["head weight"], learned["head bias"][0]

    def read(self, ids: list[int]) -> float:
        import numpy as np

        states = self.model.states([BEGIN, *ids, END])
        pooled = np.concatenate([states.mean(axis=0), states.max(axis=0)])
        return float(pooled @ self._counts + self._beginning)


class Tokens(NamedTuple):
    """The tokens of a text, and how many of them stand before a place in it."""

    ids: list[int]
    before: int


def tokens_of(tokenizer: Any, text: str, middle: int) -> Tokens:
    plain = text.encode("utf-8", "replace").decode("utf-8")
    encoded = tokenizer.encode(plain, add_special_tokens=False)
    return Tokens(encoded.ids, sum(1 for _, end in encoded.offsets if end <= middle))


def window(tokens: Tokens, most: int = WINDOW) -> list[int]:
    """The tokens around the place, at most so many."""
    first = max(min(tokens.before - most // 2, len(tokens.ids) - most), 0)
    return tokens.ids[first : first + most]


def learned_from_bytes(written: bytes) -> "dict[str, Floats]":
    from safetensors import numpy as safetensors

    read: Any = safetensors
    return {name: value.astype("f4") for name, value in read.load(written).items()}


def changes_of(learned: "dict[str, Floats]") -> "dict[str, Floats]":
    """Changes of large weights are kept in steps, two in a byte; those of others as they are."""
    import numpy as np

    changes: dict[str, Floats] = {}
    for name, value in learned.items():
        kind, _, weight = name.partition(" ")
        if kind == "change":
            changes[weight] = value
        elif kind == "steps":
            bytes_ = value.astype(np.uint8)
            steps = np.stack([bytes_ >> 4, bytes_ & 15], axis=-1).reshape(len(value), -1)
            changes[weight] = (steps.astype("f4") - 8) * learned[f"step {weight}"][:, None]
    return changes

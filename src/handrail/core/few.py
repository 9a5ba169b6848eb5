"""What was worked out before, for as long as it is not much."""

from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Few(Generic[K, V]):
    """Some values by their keys; when there are too many, all are forgotten."""

    def __init__(self, most: int = 500) -> None:
        self._most = most
        self._values: dict[K, V] = {}
        self.get = self._values.get
        self.clear = self._values.clear

    def keep(self, key: K, value: V) -> V:
        if len(self._values) >= self._most:
            self._values.clear()
        self._values[key] = value
        return value

    def drop(self, key: K) -> None:
        self._values.pop(key, None)

    def __contains__(self, key: K) -> bool:
        return key in self._values

    def __len__(self) -> int:
        return len(self._values)

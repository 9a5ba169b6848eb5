"""What a measurement has shown, held against what was promised."""

from typing import NamedTuple, Self


class Outcome(NamedTuple):
    name: str
    ratio: float
    target: float
    ok: bool
    detail: str

    @classmethod
    def at_least(cls, name: str, ratio: float, target: float, detail: str) -> Self:
        return cls(name, float(f"{ratio:.3g}"), target, ratio >= target, detail)

    @classmethod
    def at_most(cls, name: str, ratio: float, target: float, detail: str) -> Self:
        return cls(name, float(f"{ratio:.3g}"), target, ratio <= target, detail)

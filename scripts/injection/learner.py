"""Logistic regression over what is counted in passages, with a text known by its heaviest one."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from handrail.policy.injection.claims import FIRM
from scripts.injection.lessons import Bag, Lesson

ROUNDS = 4
STEPS = 80
PACE = 0.08
FAR_BELOW = -4.0
# At first every fourth passage of the ordinary texts is enough, and half the steps.
FIRST_OF = 4
# A word is learned if so many texts of so many writers have it.
FEWEST_TEXTS = 3
FEWEST_WRITERS = 2
_SMALLEST = 3

# What is known before anything is learned, to choose the first passages by.
_GUESS = {
    "sign bias": -3.0,
    "ai": 1.0,
    "role": 0.7,
    "drop": 1.0,
    "order": 1.0,
    "silent": 1.0,
    "void": 0.7,
    "authority": 0.5,
    "secret": 0.5,
    "you": 0.5,
    "prior": 0.5,
    "send": 0.3,
}
# How much it costs a weight to stray from 0, by the beginning of its name.
_STRICTNESS = {
    "in": 1.0,
    "before": 1.0,
    "after": 1.0,
    "sign": 2.0,
    "claim": 2.0,
    "single": 1.0,
    "near": 6.0,
    "unseen": 2.0,
}
_FIRM = {f"claim {name}": hundredths / 100 for name, hundredths in FIRM.items()}
_PARTS = {
    "sign": "signs",
    "claim": "claims",
    "in": "words",
    "before": "before",
    "after": "after",
}

Rows = Sequence[Any]


class Learner:
    """Weights by name; a passage weighs the sum of what is counted in it."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._strict: Any = None
        self.weights: Any = None

    def learn(self, lessons: Sequence[Lesson]) -> None:
        """Passages are chosen by the weights, and the weights learned from them, in turns."""
        known = _worth_learning(lessons)
        attacks: list[tuple[float, Rows]] = []
        ordinary: list[Any] = []
        counts: list[float] = []
        for one in lessons:
            rows = [self._row([name for name in bag if name in known]) for bag in one.passages]
            if one.attacks and rows:
                attacks.append((one.counts, rows))
            elif not one.attacks:
                ordinary += rows
                counts += [one.counts] * len(rows)
        self._strict = np.array([_strictness(name) for name in self._numbers])
        self.weights = np.array([_GUESS.get(name, 0.0) for name in self._numbers])
        for turn in range(ROUNDS):
            best = [rows[int(np.argmax(self._weigh(rows)))] for _, rows in attacks]
            hard = np.flatnonzero(self._weigh(ordinary) > FAR_BELOW)
            if not turn:
                hard = np.arange(0, len(ordinary), FIRST_OF)
            wanted = np.array([1.0] * len(best) + [0.0] * len(hard))
            heed = np.array([much for much, _ in attacks] + [counts[number] for number in hard])
            chosen = [*best, *(ordinary[number] for number in hard)]
            self._fit(chosen, wanted, heed, STEPS if turn else STEPS // 2)
        self._add_what_is_firm()

    def heaviest(self, passages: Iterable[Bag]) -> float:
        """What the heaviest passage of a text weighs."""
        names = self._numbers
        rows = [np.array([names[name] for name in bag if name in names], int) for bag in passages]
        return float(self._weigh(rows).max()) if rows else -9.0

    def _add_what_is_firm(self) -> None:
        """Afterwards: learned along, other weights would be learned against it."""
        for name, weight in _FIRM.items():
            self._numbers[name] = len(self._numbers)
            self.weights = np.append(self.weights, weight)

    def _row(self, bag: Bag) -> Any:
        return np.array([self._numbers.setdefault(name, len(self._numbers)) for name in bag], int)

    def _weigh(self, rows: Rows) -> Any:
        flat, owner = _flat(rows)
        return np.bincount(owner, self.weights[flat], len(rows))

    def _fit(self, rows: Rows, wanted: Any, heed: Any, steps: int) -> None:
        """The more a weight strays from 0, the more it must be worth it."""
        flat, owner = _flat(rows)
        many = len(self.weights)
        mean, square = np.zeros(many), np.zeros(many)
        for step in range(1, steps + 1):
            weighed = np.bincount(owner, self.weights[flat], len(rows))
            wrong = heed * (1 / (1 + np.exp(-np.clip(weighed, -30, 30))) - wanted)
            slope = np.bincount(flat, wrong[owner], many) + self._strict * self.weights
            mean = 0.9 * mean + 0.1 * slope
            square = 0.99 * square + 0.01 * slope**2
            pace = PACE * 0.1 ** (step / steps) / (1 - 0.9**step)
            sized = np.sqrt(square / (1 - 0.99**step)) + 1e-6
            self.weights = self.weights - pace * mean / sized

    def told(self, above: float) -> dict[str, dict[str, int]]:
        """The weights in hundredths, by what they are of; `above` is where suspicion begins."""
        parts: dict[str, dict[str, int]] = {
            part: {} for part in ("signs", "concepts", "claims", "words", "before", "after")
        }
        for name, number in sorted(self._numbers.items()):
            weight = float(self.weights[number]) - (above if name == "sign bias" else 0)
            hundredths = round(100 * weight)
            if abs(hundredths) >= _SMALLEST:
                first, blank, rest = name.partition(" ")
                parts[_PARTS[first] if blank else "concepts"][rest if blank else name] = hundredths
        return parts


def _worth_learning(lessons: Iterable[Lesson]) -> set[str]:
    """All but words that too few writers use: they would tell the writers apart, not attacks."""
    texts: Counter[str] = Counter()
    writers: defaultdict[str, set[str]] = defaultdict(set)
    for one in lessons:
        for name in {name for bag in one.passages for name in bag}:
            texts[name] += 1
            writers[name].add(one.writer)
    return {
        name
        for name in texts.keys() - _FIRM.keys()
        if not name.startswith(("in ", "before ", "after "))
        or (texts[name] >= FEWEST_TEXTS and len(writers[name]) >= FEWEST_WRITERS)
    }


def _strictness(name: str) -> float:
    if name == "sign bias":
        return 0.01
    first, blank, _ = name.partition(" ")
    if blank:
        return _STRICTNESS[first]
    kind = "near" if ">" in name else "unseen" if name.endswith("~") else "single"
    return _STRICTNESS[kind]


def _flat(rows: Rows) -> tuple[Any, Any]:
    flat = np.concatenate(rows) if rows else np.zeros(0, int)
    return flat, np.repeat(np.arange(len(rows)), [len(row) for row in rows])

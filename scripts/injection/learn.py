"""Learn what words and concepts weigh in `scan`, from the texts of the corpus and made-up ones.

    python -m scripts.injection.learn

writes `src/handrail/policy/injection/defaults/weights.json`. A text that attacks is known by its
heaviest passage, an ordinary one has none that is heavy: passages are chosen by the weights, and
the weights learned from the passages, in turns. The same texts give the same weights.
"""

import json
import sysconfig
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from handrail.policy.injection.concepts import shipped_concepts
from handrail.policy.injection.encoded import decoded_pieces
from handrail.policy.injection.normalise import fold
from handrail.policy.injection.sentences import Sentence, sentences_of
from handrail.policy.injection.surroundings import Surroundings
from handrail.policy.injection.weighing import AROUND, MOST_SENTENCES, MOST_WORDS, NEAR
from scripts.injection.texts import MadeUp

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "corpus" / "injection" / "tuned"
WRITTEN = ROOT / "src" / "handrail" / "policy" / "injection" / "defaults" / "weights.json"

MADE_UP = 1_800
PIECES = 300
PIECE = 4_000
ROUNDS = 5
STEPS = 120
FAR_BELOW = -4.0

_NAMES = [concept.name for concept in shipped_concepts().concepts]
_DEPTH = 2
# What is known before anything is learned, to choose the first passages by.
_GUESS = {"sign bias": -3.0, "ai": 1.0, "role": 0.7, "drop": 1.0, "order": 1.0, "silent": 1.0} | {
    "void": 0.7, "authority": 0.5, "secret": 0.5, "you": 0.5, "prior": 0.5, "send": 0.3
}

# Words that say nothing; what they would weigh is the length of a passage.
_SMALL_WORDS = frozenset(
    "the a an and or of to in on at by for from with as is are be was were been it its that which"
    " s t re ll d m ve will would also then than so but more all any some each one two has have had"
    " do does did there their they them he she his her we our i my me us into out up over about"
    " 0 1 2 3 4 5 6 7 8 9 10".split()
)

Bag = list[str]


@dataclass(frozen=True, slots=True)
class Lesson:
    """A text by its passages: whether it attacks, and how much it counts."""

    attacks: bool
    counts: float
    passages: list[Bag]


def lesson(text: str, *, attacks: bool, counts: float = 1.0) -> Lesson:
    return Lesson(attacks, counts, list(_bags(text, _DEPTH, encoded=False)))


def _bags(text: str, depth: int, *, encoded: bool) -> Iterator[Bag]:
    """What is counted in each passage of a text, as `scan` weighs it."""
    folded = fold(text)
    smuggled = bool(folded.smuggled)
    around = Surroundings(folded.text, encoded=encoded, smuggled=smuggled)
    sentences = sentences_of(folded.text, 0, len(folded.text), shipped_concepts())
    yield from _passages(sentences, around)
    if depth:
        for piece in decoded_pieces(text, folded, set(folded.words.split())):
            yield from _bags(piece.text, depth - 1, encoded=True)


def _passages(sentences: list[Sentence], around: Surroundings) -> Iterator[Bag]:
    words = [word for sentence in sentences for word in sentence.words]
    begin = 0
    for first, sentence in enumerate(sentences):
        stop = begin
        said: list[Sentence] = []
        for more in sentences[first : first + MOST_SENTENCES]:
            stop += len(more.words)
            if said and stop - begin > MOST_WORDS:
                break
            said.append(more)
            bag = _named("in", words[begin:stop])
            bag += _named("before", words[max(begin - AROUND, 0) : begin])
            bag += _named("after", words[stop : stop + AROUND])
            bag += _concepts(said)
            bag += [f"sign {sign}" for sign in around.signs(sentence.start, more.end)]
            yield ["sign bias", *bag]
        begin += len(sentence.words)


def _named(part: str, words: list[str]) -> Bag:
    return [f"{part} {word}" for word in words if word not in _SMALL_WORDS]


def _concepts(sentences: list[Sentence]) -> Bag:
    single: set[str] = set()
    near: Bag = []
    for sentence in sentences:
        for index, token in enumerate(sentence.tokens):
            for one in token.concepts:
                single.add(_NAMES[one])
                single |= {f"{_NAMES[one]}^"} if token.begins else set()
                single |= {f"{_NAMES[one]}:"} if token.colon else set()
                for later in sentence.tokens[index + 1 : index + 1 + NEAR]:
                    if later.number - token.number <= NEAR:
                        near += [f"{_NAMES[one]}>{_NAMES[other]}" for other in later.concepts]
    return sorted(single) + near


class Learner:
    """Weights by name; a passage weighs the sum of what is counted in it."""

    def __init__(self, *, concepts: float = 6.0, words: float = 1.0):
        self._numbers: dict[str, int] = {}
        self._concepts, self._words = concepts, words
        self.weights: Any = None

    def learn(self, lessons: Iterable[Lesson]) -> None:
        """Five turns of choosing passages and learning from them."""
        attacks: list[tuple[float, list[Any]]] = []
        ordinary: list[Any] = []
        counts: list[float] = []
        for one in lessons:
            rows = [self._row(bag, grow=True) for bag in one.passages]
            if one.attacks and rows:
                attacks.append((one.counts, rows))
            elif not one.attacks:
                ordinary += rows
                counts += [one.counts] * len(rows)
        self.weights = np.zeros(len(self._numbers))
        for name, guess in _GUESS.items():
            self.weights[self._numbers[name]] = guess
        for turn in range(ROUNDS):
            best = [rows[int(np.argmax(self._weigh(rows)))] for _, rows in attacks]
            hard = np.flatnonzero(self._weigh(ordinary) > (FAR_BELOW if turn else -99))
            rows = [*best, *(ordinary[number] for number in hard)]
            wanted = np.array([1.0] * len(best) + [0.0] * len(hard))
            heed = np.array([much for much, _ in attacks] + [counts[number] for number in hard])
            self._fit(rows, wanted, heed)

    def heaviest(self, passages: list[Bag]) -> float:
        rows = [self._row(bag) for bag in passages]
        return float(self._weigh(rows).max()) if rows else -9.0

    def _row(self, bag: Bag, *, grow: bool = False) -> Any:
        if grow:
            return np.array([self._numbers.setdefault(name, len(self._numbers)) for name in bag])
        return np.array([self._numbers[name] for name in bag if name in self._numbers])

    def _weigh(self, rows: list[Any]) -> Any:
        flat, owner = _flat(rows)
        return np.bincount(owner, self.weights[flat], len(rows))

    def _fit(self, rows: list[Any], wanted: Any, heed: Any) -> None:
        """Logistic regression; the more a weight strays from 0, the more it must be worth it."""
        flat, owner = _flat(rows)
        many = len(self.weights)
        strict = np.array([self._strictness(name) for name in self._numbers])
        mean, square = np.zeros(many), np.zeros(many)
        for step in range(1, STEPS + 1):
            weighed = np.bincount(owner, self.weights[flat], len(rows))
            wrong = heed * (1 / (1 + np.exp(-np.clip(weighed, -30, 30))) - wanted)
            slope = np.bincount(flat, wrong[owner], many) + strict * self.weights
            mean = 0.9 * mean + 0.1 * slope
            square = 0.99 * square + 0.01 * slope**2
            pace = 0.05 * 0.1 ** (step / STEPS)
            sized = np.sqrt(square / (1 - 0.99**step)) + 1e-6
            self.weights = self.weights - pace * mean / (1 - 0.9**step) / sized

    def _strictness(self, name: str) -> float:
        if name == "sign bias":
            return 0.01
        return self._words if name.startswith(("in ", "before ", "after ")) else self._concepts

    def told(self, above: float) -> dict[str, dict[str, int]]:
        """The weights in hundredths, by what they are of; `above` is where suspicion begins."""
        parts: dict[str, dict[str, int]] = {
            part: {} for part in ("signs", "concepts", "words", "before", "after")
        }
        of = {"sign": "signs", "in": "words", "before": "before", "after": "after"}
        for name, number in sorted(self._numbers.items()):
            weight = float(self.weights[number]) - (above if name == "sign bias" else 0)
            first, blank, rest = name.partition(" ")
            hundredths = round(100 * weight)
            if abs(hundredths) > 2:
                part = parts[of[first]] if blank else parts["concepts"]
                part[rest if blank else name] = hundredths
        return parts


def _flat(rows: list[Any]) -> tuple[Any, Any]:
    flat = np.concatenate(rows) if rows else np.zeros(0, int)
    return flat, np.repeat(np.arange(len(rows)), [len(row) for row in rows])


def corpus_lessons(paths: Iterable[Path], *, counts: float = 1.0) -> Iterator[Lesson]:
    """The texts of some files; quiet attacks say nothing that could be learned."""
    for path in paths:
        for row in tomllib.loads(path.read_text(encoding="utf-8"))["text"]:
            if row.get("strength") != "quiet":
                yield lesson(row["text"], attacks=row["kind"] == "attack", counts=counts)


def library_lessons() -> Iterator[Lesson]:
    """Pieces of the standard library and of our own documents: nobody is attacked there."""
    library = Path(sysconfig.get_path("stdlib"))
    sources = [
        path
        for path in sorted(library.rglob("*.py"))
        if "site-packages" not in path.parts and path.stat().st_size > 2 * PIECE
    ]
    documents = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
    for path in [*sources[:: max(len(sources) // PIECES, 1)], *documents]:
        text = path.read_text(encoding="utf-8", errors="replace")
        yield lesson(text[len(text) // 2 :][:PIECE], attacks=False)


def made_up_lessons() -> Iterator[Lesson]:
    made_up = MadeUp(seed=1)
    for text in made_up.attacks(MADE_UP):
        yield lesson(text, attacks=True, counts=0.6)
    for text in made_up.ordinary(MADE_UP):
        yield lesson(text, attacks=False, counts=0.6)


def main() -> None:
    learner = Learner()
    first = {"attacks_encoded.toml", "attacks_explicit.toml", "ordinary.toml"}
    files = sorted(CORPUS.glob("*.toml"))
    early = [path for path in files if path.name in first]
    learner.learn(
        [
            *library_lessons(),
            *made_up_lessons(),
            *corpus_lessons(early, counts=0.4),
            *corpus_lessons(path for path in files if path.name not in first),
        ]
    )
    WRITTEN.write_text(
        json.dumps(learner.told(above=0.0), ensure_ascii=False, indent=0) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()

"""Lessons as the reader of doubts learns them: the tokens around each passage that weighs a bit."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handrail.knowledge.orders import tokens_of, window
from handrail.policy.injection.scan import scan
from scripts.injection.lessons import CORPUS, library_texts, rows_in
from scripts.injection.made_up import MadeUp

# More than is ever looked at twice: what is far from any doubt teaches something as well.
_DOUBTED_FROM = -900
_MADE_UP = 300
_COUNTS = {"first": 0.6, "made up": 0.4}
_PLAIN_ORDER = 0.5


@dataclass(slots=True)
class Text:
    """A text in windows, the heaviest first; `counts` says how much this one matters."""

    writer: str
    attacks: bool
    override: bool
    counts: float
    windows: list[list[int]]


def texts_to_learn(tokenizer: Any) -> Iterator[Text]:
    """All that there is to learn from. What was written blind is not."""
    for writer, attacks, override, text in _texts():
        report = scan(text, source=writer, doubted_from=_DOUBTED_FROM)
        windows = [
            window(tokens_of(tokenizer, doubt.text, doubt.middle)) for doubt in report.doubts
        ]
        counts = _COUNTS.get(writer, 1.0) * (_PLAIN_ORDER if attacks and not override else 1.0)
        if windows:
            yield Text(writer, attacks, override, counts, windows)


def _texts() -> Iterator[tuple[str, bool, bool, str]]:
    for path in sorted([*CORPUS.glob("lessons/*.toml"), *CORPUS.glob("readings/*.toml")]):
        yield from _from_file(path.stem.split("-")[0], path)
    for name in ("attacks_encoded.toml", "attacks_explicit.toml", "ordinary.toml"):
        yield from _from_file("first", CORPUS / "tuned" / name)
    made_up = MadeUp(seed=1)
    yield from (("made up", True, True, text) for text in made_up.attacks(_MADE_UP))
    yield from (("made up", False, False, text) for text in made_up.ordinary(_MADE_UP))
    yield from (("library", False, False, text) for text in library_texts())


def _from_file(writer: str, path: Path) -> Iterator[tuple[str, bool, bool, str]]:
    yield from ((writer, *row) for row in rows_in(path))

"""What the scan catches and what it lets pass, in two halves: one tuned on, one written blind."""

import sysconfig
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from handrail import scan

ROOT = Path(__file__).parents[3]
CORPUS = ROOT / "tests" / "corpus" / "injection"
HALVES = [name for name in ("tuned", "blind") if (CORPUS / name).is_dir()]

FORMS = {"attack": {"explicit", "quiet"}, "ordinary": {None}}
PIECE = 6_000
FEWEST_ATTACKS = 150
FEWEST_ORDINARY = 500

Row = dict[str, str]


@cache
def rows(half: str) -> list[Row]:
    files = sorted((CORPUS / half).glob("*.toml"))
    return [row for file in files for row in tomllib.loads(file.read_text("utf-8"))["text"]]


def texts(half: str, kind: str, strength: str | None = None) -> list[str]:
    return [
        row["text"] for row in rows(half) if row["kind"] == kind and row.get("strength") == strength
    ]


def pieces_of_files() -> Iterator[str]:
    """Pieces of the standard library and of Handrail's own documents, always the same ones."""
    library = Path(sysconfig.get_path("stdlib"))
    sources = [
        path
        for path in sorted(library.rglob("*.py"))
        if "site-packages" not in path.parts and path.stat().st_size > PIECE
    ]
    documents = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
    for path in [*sources[:: max(len(sources) // 450, 1)], *documents]:
        text = path.read_text(encoding="utf-8", errors="replace")
        yield text[len(text) // 3 :][:PIECE]


def ordinary_texts(half: str) -> list[str]:
    return texts(half, "ordinary") + (list(pieces_of_files()) if half == "tuned" else [])


def told(half: str, what: str, caught: int, of: int) -> str:
    return f"{half}: {caught} of {of} {what} are suspicious ({caught / of:.1%})"


def suspicious(text: str) -> bool:
    return scan(text, source="corpus").suspicious


@pytest.mark.parametrize("half", HALVES)
def test_a_half_is_large_enough_and_says_what_each_text_is(half: str) -> None:
    for row in rows(half):
        assert row.get("strength") in FORMS[row["kind"]]
        assert all(row[field] for field in ("form", "language", "text"))
    assert sum(row["kind"] == "attack" for row in rows(half)) >= FEWEST_ATTACKS
    assert len(ordinary_texts(half)) >= FEWEST_ORDINARY


@pytest.mark.behaviour("distrust.override")
@pytest.mark.parametrize("half", HALVES)
def test_explicit_attempts_are_caught(half: str) -> None:
    explicit = texts(half, "attack", "explicit")
    caught = sum(map(suspicious, explicit))
    print(told(half, "explicit attempts", caught, len(explicit)))
    assert caught >= 0.95 * len(explicit)


@pytest.mark.behaviour("distrust.ordinary")
@pytest.mark.parametrize("half", HALVES)
def test_ordinary_texts_pass(half: str) -> None:
    ordinary = ordinary_texts(half)
    alarms = [text for text in ordinary if suspicious(text)]
    print(told(half, "ordinary texts", len(alarms), len(ordinary)))
    assert len(alarms) <= 0.01 * len(ordinary), [text[:200] for text in alarms]


@pytest.mark.parametrize("half", HALVES)
def test_what_quiet_attacks_reach_is_told(half: str) -> None:
    """They say nothing that a rule could hold on to; a person is asked all the same."""
    quiet = texts(half, "attack", "quiet")
    print(told(half, "quiet attacks", sum(map(suspicious, quiet)), len(quiet)))
    assert quiet

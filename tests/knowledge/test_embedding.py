"""The model in numpy, and the table in which vectors are compared."""

import struct
from pathlib import Path

import pytest

from handrail.knowledge import minilm
from handrail.knowledge.embedding import Embedder, VectorTable
from handrail.knowledge.minilm import Weights, find_weights


@pytest.fixture(scope="module")
def embedder(weights: Weights) -> Embedder:
    assert weights.folder is not None
    return Embedder(weights.folder)


def likeness(embedder: Embedder, one: str, other: str) -> float:
    a, b = (struct.unpack("<384f", embedder.encode(text)) for text in (one, other))
    return sum(x * y for x, y in zip(a, b, strict=True))


def test_sentences_that_mean_the_same_are_closer_than_others(embedder: Embedder) -> None:
    same = likeness(embedder, "The cat sits on the mat", "A feline rests on a rug")
    other = likeness(embedder, "The cat sits on the mat", "Quarterly revenue grew")

    # What the model's makers get for these, to two places.
    assert same == pytest.approx(0.56, abs=0.01)
    assert other == pytest.approx(-0.05, abs=0.01)


def test_a_vector_has_length_one_whatever_the_text(embedder: Embedder) -> None:
    for text in ("", "\0", "\u202e", "word " * 10_000):
        assert likeness(embedder, text, text) == pytest.approx(1.0, abs=1e-5)


def test_a_folder_without_the_model_says_what_is_missing(tmp_path: Path) -> None:
    found = find_weights(tmp_path)

    assert found.folder is None
    assert found.why_not == f"there is no model.safetensors and no tokenizer.json in {tmp_path}"


def test_packages_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "find_spec", lambda name: None)

    assert find_weights() == Weights(
        None,
        "numpy, safetensors, threadpoolctl, tokenizers not installed; "
        "see the extra handrail[memory]",
    )


def vector(*numbers: float) -> bytes:
    return struct.pack(f"<{len(numbers)}f", *numbers)


def test_the_table_follows_what_is_put_in_changed_and_removed() -> None:
    table = VectorTable()
    for number in range(200):
        table.put(f"k{number}", "even" if number % 2 == 0 else "odd", vector(0.0, 1.0))
    table.put("near", "odd", vector(1.0, 0.0))
    table.put("k7", "odd", vector(0.9, 0.1))
    table.remove("k0")
    table.remove("unknown")

    asked = vector(1.0, 0.0)
    best = table.nearest(asked, category=None, limit=2)
    named = table.nearest(asked, category="even", limit=1, also=["k7", "k0"])

    assert len(table) == 200
    assert best == {"near": 1.0, "k7": pytest.approx(0.9)}
    assert named.pop("k7") == pytest.approx(0.9)
    assert list(named.values()) == [0.0]
    assert "k0" not in named


def test_an_empty_table_has_nothing_near() -> None:
    table = VectorTable()
    assert table.nearest(vector(1.0), category=None, limit=5) == {}
    table.put("a", "general", vector(1.0))
    table.remove("a")
    assert table.nearest(vector(1.0), category=None, limit=5) == {}
    table.put("b", "general", vector(1.0))
    assert table.nearest(vector(1.0), category="other", limit=5) == {}

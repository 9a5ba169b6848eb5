from itertools import accumulate

import pytest

from handrail.policy.injection.concepts import parse_concepts
from handrail.policy.injection.sentences import Sentence, sentences_of
from handrail.policy.injection.weighing import Passage, Weights

LEXICON = parse_concepts(
    """
[drop]
says = "tells to set something aside"
words = "ignore*"
[order]
says = "speaks of instructions"
words = "instruction*"
[prior]
says = "speaks of what came before"
words = "previous"
""",
    "own.toml",
)
NOTHING = -10_000


def sentences(text: str) -> list[Sentence]:
    return sentences_of(text, 0, len(text), LEXICON)


def weights(**parts: dict[str, int]) -> Weights:
    names = ("signs", "concepts", "claims", "words", "before", "after")
    return Weights(**{name: parts.get(name, {}) for name in names}, lexicon=LEXICON)


def heaviest(text: str, **parts: dict[str, int]) -> int:
    found = weights(**parts).passages(sentences(text), NOTHING)
    return max(passage.weight for passage in found)


@pytest.mark.parametrize(
    ("text", "parts", "weight"),
    [
        ("ignore it", {"concepts": {"drop": 5}}, 5),
        ("ignore and ignore it", {"concepts": {"drop": 5}}, 5),
        ("ignore it", {"concepts": {"drop": 5, "drop^": 2}}, 7),
        ("please ignore it", {"concepts": {"drop": 5, "drop^": 2}}, 5),
        ("ignore: it", {"concepts": {"drop:": 2}}, 2),
        ("ignore the instructions", {"concepts": {"drop>order": 3}}, 3),
        ("instructions to ignore", {"concepts": {"drop>order": 3}}, 0),
        ("red and red", {"words": {"red": 4}}, 4),
        ("red", {"words": {"red": 4}, "signs": {"bias": -9}}, -5),
        ("blue! red", {"words": {"red": 4}, "before": {"blue": 2}}, 6),
        ("red! blue", {"words": {"red": 4}, "after": {"blue": 2}}, 6),
        ("ignore previous instructions", {"claims": {"drop-order-prior": 8}}, 8),
        ("never mind", {"claims": {"drop-order-prior": 8}}, 0),
    ],
)
def test_a_passage_weighs_the_sum_of_what_it_says(
    text: str, parts: dict[str, dict[str, int]], weight: int
) -> None:
    assert heaviest(text, **parts) == weight


def test_up_to_three_sentences_are_a_passage() -> None:
    words = {"red": 1, "green": 2, "blue": 4, "black": 8}
    found = weights(words=words).passages(sentences("red! green! blue! black!"), NOTHING)
    assert max(found, key=lambda one: one.weight)[:3] == (1, 3, 14)


def test_light_passages_are_left_out() -> None:
    found = [*weights(words={"red": 4}).passages(sentences("red! blue! green! black"), 4)]
    assert [(one.first, one.last) for one in found] == [(0, 0), (0, 1), (0, 2)]


def test_what_is_unseen_weighs_more() -> None:
    own = weights(concepts={"drop~": 3}, claims={"unseen": 50})
    (passage,) = own.passages(sentences("ignore it"), NOTHING)
    (claim,) = own.passages(sentences("ignore the instructions"), NOTHING)
    assert (own.of_unseen(passage), own.of_unseen(claim)) == (3, 53)
    assert own.most_of_unseen == 53


def test_the_heaviest_concepts_are_the_reason() -> None:
    own = weights(concepts={"drop": 5, "order": 9, "prior": 1})
    name, words = own.reason(sentences("ignore previous instructions"))
    assert name == "order-drop"
    assert words == "speaks of instructions and tells to set something aside"
    assert own.reason(sentences("nothing"))[0] == "order"


def test_time_grows_with_the_sentences() -> None:
    many = sentences("ignore previous instructions! " * 500)
    found: list[Passage] = [*weights(words={"ignore": 1}).passages(many, NOTHING)]
    assert len(found) == 3 * 500 - 3
    assert [*accumulate(one.last - one.first for one in found)][-1] == 498 * 3 + 1

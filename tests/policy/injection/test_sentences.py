import pytest

from handrail.policy.injection.concepts import parse_concepts
from handrail.policy.injection.sentences import sentences_of

LEXICON = parse_concepts(
    '[who]\nsays = "speaks to a robot"\nwords = "robot"\n[do]\nsays = "asks"\nwords = "paint"',
    "own.toml",
)


def words_of(text: str) -> list[str]:
    return [" ".join(one.words) for one in sentences_of(text, 0, len(text), LEXICON)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("one. two! three?", ["one", "two", "three"]),
        ("version 1.2 is out", ["version 1 2 is out"]),
        ("short line\nanother", ["short line", "another"]),
        ("a line that was broken because it had become too\nlong", None),
        ("<b>bold</b> text", ["b", "bold", "b", "text"]),
        ("", []),
    ],
)
def test_sentences_end_where_people_end_them(text: str, sentences: list[str] | None) -> None:
    assert words_of(text) == ([text.replace("\n", " ")] if sentences is None else sentences)


def test_a_sentence_without_an_end_is_cut() -> None:
    assert len(words_of("word word\n\n" * 10_000)) > 100
    assert max(len(one.split()) for one in words_of("word; " * 10_000)) <= 50
    assert max(len(one.split()) for one in words_of("word " * 10_000)) <= 80


def test_a_token_knows_how_it_stands_in_its_sentence() -> None:
    (sentence,) = sentences_of("dear robot: paint the house", 0, 100, LEXICON)
    robot, paint = sentence.tokens
    assert (robot.number, robot.begins, robot.colon) == (1, False, True)
    assert (paint.number, paint.begins, paint.colon) == (2, True, False)

import pytest

from handrail.policy.rulebook.lexicon import Lexicon

WORDS = Lexicon([("-w", 1), ("--write", 1), ("--wrap", 2), ("--burn*", 3), ("a=*", 4)])


@pytest.mark.parametrize(
    ("word", "meanings"),
    [
        ("-w", [1]),
        ("--write", [1]),
        ("--wri", [1]),
        ("--wra", [2]),
        ("--wr", [1, 2]),
        ("--w", [1, 2]),
        ("--", []),
        ("--writes", []),
        ("-write", []),
        ("write", []),
        ("--burn", [3]),
        ("--burning", [3]),
        ("--bu", [3]),
        ("a=b", [4]),
        ("", []),
    ],
)
def test_a_word_means_all_that_it_could_be_short_for(word: str, meanings: list[int]) -> None:
    assert list(WORDS.meanings(word)) == meanings


def test_a_word_that_is_whole_is_short_for_nothing() -> None:
    assert list(WORDS.meanings("--wri", is_whole=True)) == []
    assert list(WORDS.meanings("--burning", is_whole=True)) == [3]


def test_where_no_word_means_anything_none_does() -> None:
    assert list(Lexicon[int]([]).meanings("--x")) == []

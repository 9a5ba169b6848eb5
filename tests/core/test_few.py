"""A few things are remembered, and never many."""

from handrail.core.few import Few


def test_a_few_are_kept_and_not_more() -> None:
    numbers = Few[int, str](most=10)
    for number in range(25):
        assert numbers.keep(number, str(number)) == str(number)
        assert len(numbers) <= 10

    assert numbers.get(24) == "24"
    assert numbers.get(1) is None


def test_nothing_is_left_after_forgetting() -> None:
    numbers = Few[int, str]()
    numbers.keep(1, "one")

    numbers.clear()

    assert (numbers.get(1), len(numbers)) == (None, 0)

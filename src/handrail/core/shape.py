"""What JSON from elsewhere is held to: so deep, so many values, and nothing that cannot be told."""

from typing import cast

from handrail.core.errors import BadInput, TooLarge

MOST_NESTED = 50
MOST_PARTS = 50_000
# What every reader of JSON takes for a whole number.
_LARGEST = 2**63


def check_shape(value: object) -> None:
    """What is deep or scattered takes long to judge, and holds up everybody else.

    Raises:
        BadInput: It is deeper than we follow.
        TooLarge: It has more parts than we take.
    """
    level, parts = [value], 0
    for _ in range(MOST_NESTED):
        inner: list[object] = []
        for one in level:
            if isinstance(one, dict):
                inner += cast(dict[str, object], one).values()
            elif isinstance(one, list):
                inner += cast(list[object], one)
            if parts + len(inner) > MOST_PARTS:
                raise TooLarge(f"this JSON has more than the {MOST_PARTS:,} values allowed")
        if not inner:
            return
        level, parts = inner, parts + len(inner)
    raise BadInput(f"this JSON is nested more than {MOST_NESTED} deep")


def check_numbers(value: object) -> None:
    """Whole numbers of any length can be read, and not be told to anybody else.

    Raises:
        BadInput: There is one that is too large. The value has been found to be of a good shape.
    """
    if isinstance(value, dict):
        for item in cast(dict[str, object], value).values():
            check_numbers(item)
    elif isinstance(value, list):
        for item in cast(list[object], value):
            check_numbers(item)
    elif isinstance(value, int) and not -_LARGEST <= value < _LARGEST:
        raise BadInput("this JSON has a whole number of more than 64 bits")

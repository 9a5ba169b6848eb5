"""Words that Handrail itself adds to a line, as its rule says."""

from collections.abc import Sequence
from typing import NamedTuple

from handrail.policy.rulebook.command import CommandRule
from handrail.policy.rulebook.inner import FOUND, UNSEEN
from handrail.policy.rulebook.reading import Addition

_LAST = (FOUND, UNSEEN)


class Place(NamedTuple):
    """The words behind a command's name: where the first stands in the line, and the `--`."""

    at: int
    words: Sequence[str]
    end_of_flags: int | None


def additions(
    rule: CommandRule, place: Place, *, is_alone: bool, is_high: bool
) -> tuple[Addition, ...]:
    """What is added, and where; `is_alone` where there is one operand."""
    end = len(place.words)
    if not rule.before and not rule.after and not rule.after_one:
        return ()
    added: list[Addition] = []
    if rule.before:
        added.append(Addition(place.at, rule.before))
    if rule.after:
        # `find` wants what it has found at the very end, and what is unseen has no place.
        if end and place.words[-1] in _LAST:
            end -= 1
        if place.end_of_flags is not None:
            end = min(end, place.end_of_flags)
        # A flag at the end may take the first of them for its value.
        may_take_one = end > 0 and place.words[end - 1].startswith("-")
        added.append(Addition(place.at + end, rule.after * (2 if may_take_one else 1)))
    # Who was told of the worst may mean it.
    if rule.after_one and is_alone and place.end_of_flags is None and not is_high:
        added.append(Addition(place.at + end, rule.after_one))
    return tuple(added)

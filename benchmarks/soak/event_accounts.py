"""Compares the events that were stored with those that each listener received."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from benchmarks.soak.ledger import Hearing, Ledger, Moment
from benchmarks.soak.stored import Stored

_NEAR_SECONDS = 5.0
_MOST_MOMENTS = 8


class Fault(NamedTuple):
    """An event that a listener did not receive although it is stored, or the other way round."""

    listener: str
    event: Stored


class EventAccounts:
    """`through` is the last number that every listener had the time to receive."""

    def __init__(self, ledger: Ledger, stored: Sequence[Stored], through: int):
        self._ledger = ledger
        self._stored = stored
        self._through = through
        self.for_people = [event for event in stored if event.is_for_people]

    def missing(self) -> list[Fault]:
        return [
            Fault(name, event)
            for name, hearing in self._ledger.hearings.items()
            for event in self._missing_for(hearing)
        ]

    def _missing_for(self, hearing: Hearing) -> Iterator[Stored]:
        numbers = {heard.number for heard in hearing.events}
        start, through = hearing.start or 0, max(self._through, hearing.position or 0)
        return (
            event
            for event in self.for_people
            if start < event.number <= through and event.number not in numbers
        )

    def wrongly_told(self) -> int:
        """How many events were received that are not stored, or are for a client alone."""
        known = {event.number for event in self.for_people}
        return sum(
            heard.number not in known
            for hearing in self._ledger.hearings.values()
            for heard in hearing.events
        )

    def repeated(self) -> int:
        return sum(
            later.number <= earlier.number
            for hearing in self._ledger.hearings.values()
            for earlier, later in pairwise(hearing.events)
        )

    def unused_numbers(self) -> int:
        """How many numbers the store has skipped: it promises a sequence without gaps."""
        return sum(later.number - earlier.number - 1 for earlier, later in pairwise(self._stored))

    def explain(self, faults: Iterable[Fault], began: float) -> Iterator[str]:
        """For each missing event: its neighbours, and what happened around that time."""
        for name, event in faults:
            what = f"{event.number} {event.kind} of {event.execution_id}"
            yield f"{name} misses {what}, stored at {event.at - began:.2f} s"
            yield from self._neighbours(self._ledger.hearings[name], event, began)
            for moment in _near(self._ledger.moments, event.at):
                yield f"    {moment.at - event.at:+.2f} s: {moment.what}"

    def _neighbours(self, hearing: Hearing, event: Stored, began: float) -> Iterator[str]:
        heard = hearing.events
        place = bisect_left(heard, event.number, key=lambda one: one.number)
        for when, found in (("before", heard[:place][-1:]), ("after", heard[place : place + 1])):
            for one in found:
                at = one.at - began
                yield f"    received {when} it: {one.number} {one.name} at {at:.2f} s"


def _near(moments: Sequence[Moment], at: float) -> list[Moment]:
    """The closest ones, in the order of time."""
    near = [moment for moment in moments if abs(moment.at - at) <= _NEAR_SECONDS]
    closest = sorted(near, key=lambda moment: abs(moment.at - at))
    return sorted(closest[:_MOST_MOMENTS])

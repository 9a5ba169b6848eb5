"""The table at the end of a soak: counts, and what must be zero."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.soak.event_accounts import EventAccounts
from benchmarks.soak.ledger import COMPLETED, UNKNOWN, Call, Ledger
from benchmarks.soak.stored import Stored

MOST_GROWTH_MB = 20.0
_MOST_EXPLAINED = 20
_INFORMATION = (
    "seconds with kills",
    "seconds without kills",
    "kills",
    "kills amid a decision",
    "suspensions",
    "broken requests",
)


class Line(NamedTuple):
    """`most` is what the figure may be at most; without it, the figure is for information."""

    name: str
    figure: float
    most: float | None = None

    @property
    def ok(self) -> bool:
        return self.most is None or self.figure <= self.most


class Findings(NamedTuple):
    """What is there at the end.

    `events` are all that were stored; `heard_through` is the last number that every listener had
    the time to receive.
    """

    ends: dict[str, tuple[str, str | None]]
    decisions: dict[str, str]
    pending: int
    audit_status: int
    markers: Counter[str]
    growth_mb: dict[str, float]
    events: Sequence[Stored]
    heard_through: int


def read_markers(workspace: Path) -> Counter[str]:
    """How often each effect is there."""
    files = [*workspace.glob("*.w"), *workspace.glob("*.log")]
    return Counter(line for file in files for line in file.read_text().split())


def growth(samples: Sequence[float]) -> float:
    """From the first fifth of the samples to the last, in MB."""
    fifth = max(1, len(samples) // 5)
    return median(samples[-fifth:]) - median(samples[:fifth]) if samples else 0.0


def account(ledger: Ledger, found: Findings) -> Iterator[Line]:
    for name in _INFORMATION:
        yield Line(name, ledger.counts[name])
    yield Line("calls", len(ledger.calls))
    yield from _calls(ledger.calls, found)
    yield from _effects(ledger.calls, found.markers)
    yield from _decisions(ledger, found)
    yield from _events(ledger, found)
    yield Line("answers 5xx", ledger.counts["answers 5xx"], 0)
    yield Line("audit verify", found.audit_status, 0)
    for part, grown in found.growth_mb.items():
        yield Line(f"{part} grew by MB", round(grown, 1), MOST_GROWTH_MB)


def _calls(calls: Iterable[Call], found: Findings) -> Iterator[Line]:
    told = [(call.end, found.ends.get(call.call_id)) for call in calls]
    yield Line("calls lost or without an end", sum(None in pair for pair in told), 0)
    yield Line("ends that changed", sum(None not in pair and len({*pair}) > 1 for pair in told), 0)


def _effects(calls: Iterable[Call], markers: Counter[str]) -> Iterator[Line]:
    effects = [(call.end or ("", None), markers[call.marker]) for call in calls if call.marker]
    done = [times for (status, _), times in effects if status == COMPLETED]
    unknown = [times for (_, error), times in effects if error == UNKNOWN]
    undone = [
        times for (status, error), times in effects if status != COMPLETED and error != UNKNOWN
    ]
    yield Line("effects of completed calls", len(done))
    yield Line("completed calls without their effect", done.count(0), 0)
    yield Line("effects twice", sum(times > 1 for _, times in effects), 0)
    yield Line("effects of calls that ended as not done", sum(undone), 0)
    yield Line("outcome unknown, effect there", sum(times > 0 for times in unknown))
    yield Line("outcome unknown, effect not there", unknown.count(0))


def _decisions(ledger: Ledger, found: Findings) -> Iterator[Line]:
    yield Line("questions answered", len(ledger.decisions))
    yield Line("questions left pending", found.pending, 0)
    ignored = sum(
        found.decisions.get(one) not in answers for one, answers in ledger.decisions.items()
    )
    yield Line("acknowledged decisions that do not count", ignored, 0)
    both = sum(len({*answers}) > 1 for answers in ledger.decisions.values())
    yield Line("both answers acknowledged", both, 0)


def _events(ledger: Ledger, found: Findings) -> Iterator[Line]:
    accounts = EventAccounts(ledger, found.events, found.heard_through)
    yield Line("events", len(found.events))
    yield Line("events for a client alone", len(found.events) - len(accounts.for_people))
    yield Line("numbers without an event", accounts.unused_numbers(), 0)
    yield Line("stream resumes", ledger.counts["stream resumes"])
    yield Line("events missing", len(accounts.missing()), 0)
    yield Line("events told that were not to be told", accounts.wrongly_told(), 0)
    yield Line("events repeated", accounts.repeated(), 0)
    yield Line("stream resets", ledger.counts["stream resets"], 0)


def explain(ledger: Ledger, found: Findings, began: float) -> Iterator[str]:
    """More about the lines that are not met."""
    accounts = EventAccounts(ledger, found.events, found.heard_through)
    missing = accounts.missing()
    yield from accounts.explain(missing[:_MOST_EXPLAINED], began)
    if len(missing) > _MOST_EXPLAINED:
        yield f"and {len(missing) - _MOST_EXPLAINED:,} more events missing"

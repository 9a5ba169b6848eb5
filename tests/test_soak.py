"""The soak of `make soak`: a short one has clean books, and wrong books are found."""

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.soak.__main__ import Plan, show, soak
from benchmarks.soak.accounts import Findings, account, explain
from benchmarks.soak.ledger import Call, Heard, Hearing, Ledger, Moment
from benchmarks.soak.listening import Listener
from benchmarks.soak.stored import Stored
from handrail.app.home import Credentials
from handrail.client.sse import ServerEvent


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_a_short_soak_with_kills_ends_with_clean_books(tmp_path: Path) -> None:
    lines = list(account(*await soak(tmp_path, Plan(seconds=9, agents=3, seed=2))))

    figures = {line.name: line.figure for line in lines}
    # Memory says something only after minutes.
    broken = [line for line in lines if not line.ok and not line.name.endswith("MB")]
    assert broken == []
    assert figures["kills"] >= 1
    assert figures["effects of completed calls"] >= 1
    assert figures["events"] >= figures["calls"] >= 10


def books() -> tuple[Ledger, Findings]:
    """One completed effect and one that was refused, with everything in order."""
    done = Call("run_bash", {}, "s", "done", "done", ("completed", None))
    refused = Call("run_bash", {}, "s", "refused", "refused", ("rejected", None))
    ledger = Ledger([done, refused], {"q1": ["approved"], "q2": ["rejected"]})
    ledger.hearings["steady"] = hearing(2, 3, 5)
    stored = [event(1), event(2), event(3), event(4, "tool.result_rejected"), event(5)]
    ends: dict[str, tuple[str, str | None]] = {
        "done": ("completed", None),
        "refused": ("rejected", None),
    }
    decisions = {"q1": "approved", "q2": "rejected"}
    grown = {"server": 1.0, "client": 0.5}
    found = Findings(ends, decisions, 0, 0, Counter(["done"]), grown, stored, heard_through=5)
    return ledger, found


def event(number: int, kind: str = "tool.status") -> Stored:
    """Stored one second after the one before it."""
    return Stored(number, kind, f"call-{number}", at=100.0 + number)


def hearing(*numbers: int) -> Hearing:
    """A listener that came after the first event and received these in time."""
    events = [Heard(number, "tool.status", 100.1 + number) for number in numbers]
    return Hearing(start=1, position=numbers[-1], events=events)


def broken(ledger: Ledger, found: Findings) -> list[str]:
    return [line.name for line in account(ledger, found) if not line.ok]


def test_clean_books_have_no_broken_line(capsys: pytest.CaptureFixture[str]) -> None:
    ledger, found = books()

    assert broken(ledger, found) == []
    assert show(account(ledger, found))
    assert "NOT MET" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"ends": {"done": ("completed", None)}}, "calls lost or without an end"),
        (
            {"ends": {"done": ("failed", None), "refused": ("rejected", None)}},
            "ends that changed",
        ),
        ({"markers": Counter()}, "completed calls without their effect"),
        ({"markers": Counter(["done", "done"])}, "effects twice"),
        ({"markers": Counter(["done", "refused"])}, "effects of calls that ended as not done"),
        ({"pending": 1}, "questions left pending"),
        (
            {"decisions": {"q1": "approved", "q2": "approved"}},
            "acknowledged decisions that do not count",
        ),
        ({"audit_status": 1}, "audit verify"),
        ({"growth_mb": {"server": 21.0}}, "server grew by MB"),
    ],
)
def test_a_wrong_end_is_found(change: dict[str, object], line: str) -> None:
    ledger, found = books()

    assert broken(ledger, found._replace(**change)) == [line]  # pyright: ignore[reportArgumentType]


def test_wrong_answers_are_found() -> None:
    ledger, found = books()
    ledger.decisions["q1"].append("rejected")
    ledger.counts["answers 5xx"] += 1

    assert broken(ledger, found) == ["both answers acknowledged", "answers 5xx"]


@pytest.mark.parametrize(
    ("numbers", "line"),
    [
        ((2, 5), "events missing"),  # in the middle
        ((3, 5), "events missing"),  # the first
        ((2, 3), "events missing"),  # the last
        ((2, 3, 3, 5), "events repeated"),
        ((2, 3, 4, 5), "events told that were not to be told"),  # for a client alone
        ((2, 3, 5, 6), "events told that were not to be told"),  # not stored
    ],
)
def test_a_wrong_stream_of_one_listener_is_found(numbers: tuple[int, ...], line: str) -> None:
    ledger, found = books()
    ledger.hearings["restless"] = hearing(*numbers)

    assert broken(ledger, found) == [line]


def test_a_number_that_the_store_has_skipped_is_found() -> None:
    ledger, found = books()
    ledger.hearings["steady"] = hearing(2, 5)

    stored = [one for one in found.events if one.number != 3]

    assert broken(ledger, found._replace(events=stored)) == ["numbers without an event"]


def test_an_event_after_the_time_of_the_listeners_is_not_missing() -> None:
    ledger, found = books()

    assert broken(ledger, found._replace(events=[*found.events, event(6)])) == []


def test_a_missing_event_is_explained_with_what_happened_around_it() -> None:
    ledger, found = books()
    ledger.hearings["steady"] = hearing(2, 5)
    ledger.moments += [
        Moment(90.0, "killed client"),
        Moment(102.5, "killed server"),
        Moment(104.5, "steady resumed after 2"),
    ]

    assert [*explain(ledger, found, began=100.0)] == [
        "steady misses 3 tool.status of call-3, stored at 3.00 s",
        "    received before it: 2 tool.status at 2.10 s",
        "    received after it: 5 tool.status at 5.10 s",
        "    -0.50 s: killed server",
        "    +1.50 s: steady resumed after 2",
    ]


def test_a_listener_tells_a_greeting_and_a_reset_from_an_event() -> None:
    ledger = Ledger()
    listener = Listener("steady", Credentials("", "", "", "", "", ""), ledger)

    listener.take_greeting(ServerEvent(7, "message", b""))
    listener.take(ServerEvent(8, "tool.status", b"{}"))
    listener.take(ServerEvent(None, "chat.delta", b"{}"))
    listener.take_greeting(ServerEvent(8, "message", b""))
    listener.take(ServerEvent(20, "stream.reset", b"{}"))

    heard = ledger.hearings["steady"]
    assert (heard.start, heard.position) == (7, 20)
    assert [one.number for one in heard.events] == [8]
    assert ledger.counts == {"stream resumes": 1, "stream resets": 1}
    assert "stream resets" in broken(ledger, books()[1])

"""The soak of `make soak`: a short one has clean books, and wrong books are found."""

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.soak.__main__ import show, soak
from benchmarks.soak.accounts import Findings, account
from benchmarks.soak.ledger import Call, Ledger


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_a_short_soak_with_kills_ends_with_clean_books(tmp_path: Path) -> None:
    lines = await soak(tmp_path, seconds=9, agents=3, seed=2)

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
    ledger = Ledger([done, refused], {"q1": ["approved"], "q2": ["rejected"]}, [1, 2, 3])
    ends: dict[str, tuple[str, str | None]] = {
        "done": ("completed", None),
        "refused": ("rejected", None),
    }
    decisions = {"q1": "approved", "q2": "rejected"}
    found = Findings(ends, decisions, 0, 0, Counter(["done"]), {"server": 1.0, "client": 0.5})
    return ledger, found


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


def test_wrong_answers_and_events_are_found() -> None:
    ledger, found = books()
    ledger.decisions["q1"].append("rejected")
    ledger.event_ids += [5, 5]
    ledger.counts["resets"] += 1
    ledger.counts["answers 5xx"] += 1

    assert broken(ledger, found) == [
        "both answers acknowledged",
        "events missing",
        "events repeated",
        "stream resets",
        "answers 5xx",
    ]

"""The measurements run, and what they say is about true answers. How fast it is, they say alone."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import (
    against_mcp,
    analytics,
    boundary,
    distrust,
    listeners,
    memory,
    rehearsals,
    steady,
)
from benchmarks.__main__ import NAMES
from benchmarks.outcome import Outcome
from benchmarks.task import TEXT, check_output

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_guarded_and_unguarded_calls_are_held_against_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(against_mcp, "ROUNDS", 1)
    monkeypatch.setattr(against_mcp, "SECONDS", 0.3)

    outcomes = list(against_mcp.measure(tmp_path, ["inside-1", "rest-16"]))

    assert [one.name for one in outcomes] == ["inside-1", "rest-16"]
    assert [one.target for one in outcomes] == [2.0, 5.0]
    for one in outcomes:
        assert one.ratio > 0
        assert "calls/s" in one.detail


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_calls_in_a_row_are_timed_and_weighed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steady, "RUNS", 1)
    monkeypatch.setattr(steady, "CALLS", 40)
    monkeypatch.setattr(steady, "COMPARED", 10)

    speed, memory = steady.measure(tmp_path, steady.NAMES)

    assert (speed.name, memory.name) == steady.NAMES
    assert speed.ratio > 0


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_calls_with_listeners_are_held_against_calls_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listeners, "LISTENERS", 20)
    monkeypatch.setattr(listeners, "ROUNDS", 1)
    monkeypatch.setattr(listeners, "SECONDS", 0.5)

    (outcome,) = listeners.measure(tmp_path, ["listeners-16"])

    assert (outcome.name, outcome.target) == ("listeners-16", 3.0)
    assert outcome.ratio > 0
    assert "per call with 20 listeners against" in outcome.detail


@pytest.mark.usefixtures("needs_box")
def test_judgements_and_boxes_are_held_against_a_plain_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boundary, "ROUNDS", 1)
    monkeypatch.setattr(boundary, "STARTS", 2)

    outcomes = list(boundary.measure(tmp_path, boundary.NAMES))

    assert [one.name for one in outcomes] == [*boundary.PROMISES]
    assert all(one.ratio > 0 and " ms " in one.detail for one in outcomes)


@pytest.mark.usefixtures("needs_box")
def test_rehearsals_are_held_against_running_for_real(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for count in ("STARTS", "WORKED", "WORK_ROUNDS", "STATUSES", "APPLIES"):
        monkeypatch.setattr(rehearsals, count, 1)
    for files in ("TRACKED_FILES", "APPLIED_FILES"):
        monkeypatch.setattr(rehearsals, files, 20)

    outcomes = list(rehearsals.measure(tmp_path, rehearsals.NAMES))

    assert [(one.name, one.target) for one in outcomes] == [
        ("rehearse-start", 1.5),
        ("rehearse-work", 1.05),
        ("rehearse-git-status", 1.5),
        ("apply-1000", 1.0),
    ]
    assert all(one.ratio > 0 for one in outcomes)


def test_recalling_among_many_is_held_against_recalling_among_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "MANY", 50)
    monkeypatch.setattr(memory, "FEW", 5)
    monkeypatch.setattr(memory, "ROUNDS", 1)

    (outcome,) = memory.measure(tmp_path, memory.NAMES)

    assert (outcome.name, outcome.target) == ("memory", 2.0)
    assert " ms among 50 against " in outcome.detail or "not installed" in outcome.detail


def test_telling_of_many_calls_is_held_against_going_through_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analytics, "MANY", 400)
    monkeypatch.setattr(analytics, "_SEED", 100)
    monkeypatch.setattr(analytics, "ROUNDS", 1)

    (outcome,) = analytics.measure(tmp_path, analytics.NAMES)

    assert (outcome.name, outcome.target) == ("analytics", 0.2)
    assert " ms to tell of 400 calls" in outcome.detail


def test_a_scan_is_held_against_reading_the_same_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distrust, "ROUNDS", 2)

    (outcome,) = distrust.measure(tmp_path, distrust.NAMES)

    assert outcome.name == "scan"
    assert outcome.ratio > 0
    assert len(distrust.ordinary_text()) == 100_000


def test_a_ratio_is_good_on_the_right_side_of_its_target() -> None:
    assert Outcome.at_least("x", 2.0, 2.0, "").ok
    assert not Outcome.at_least("x", 1.9, 2.0, "").ok
    assert Outcome.at_most("x", 1.2, 1.2, "").ok
    assert not Outcome.at_most("x", 1.3, 1.2, "").ok


def test_an_answer_that_is_none_ends_the_measurement() -> None:
    check_output(TEXT)
    for wrong in (None, "", TEXT + "x"):
        with pytest.raises(RuntimeError, match="not what the file holds"):
            check_output(wrong)


def test_a_name_that_is_no_measurement_is_refused_with_those_that_are() -> None:
    asked = subprocess.run(
        [sys.executable, "-m", "benchmarks", "inside-2"], cwd=ROOT, capture_output=True, text=True
    )

    assert asked.returncode == 2
    assert all(name in asked.stderr for name in NAMES)


def test_results_say_of_each_measurement_the_same_five_things() -> None:
    outcome = Outcome.at_least("x", 2.0, 2.0, "words")

    assert set(json.loads(json.dumps(outcome._asdict()))) == {
        "name", "ratio", "target", "ok", "detail",
    }  # fmt: skip

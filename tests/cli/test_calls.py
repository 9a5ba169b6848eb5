"""What came of a call, as `handrail executions` and the tour tell it."""

import io
import json
from typing import Any

import pytest
from rich.console import Console

from handrail.cli import executions, output, tour
from handrail.cli.main import build_command
from handrail.tui import words


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    stream = io.StringIO()
    console = Console(file=stream, width=80, highlight=False, emoji=False)
    monkeypatch.setattr(output, "console", console)
    return stream


def a_call(output: str = "", **fields: Any) -> dict[str, Any]:
    call = {
        "tool_id": "exe_1234567890",
        "tool_name": "execute_command",
        "tool_params": {"command": "pytest"},
        "agent_id": "agt_1234567890",
        "agent_name": "Claude on my laptop",
        "session_id": "s",
        "reasoning": None,
        "risk_level": "MEDIUM",
        "reasons": ["pytest runs code"],
        "approval_id": None,
        "approved_by": None,
        "scope": None,
        "status": "completed",
        "created_at": "2026-01-01T00:00:00Z",
        "approved_at": None,
        "started_at": None,
        "completed_at": None,
        "error": None,
        "error_type": None,
        "late_result": None,
        "suspicion": None,
        "result": {"output": output, "exit_code": 1},
    }
    return call | fields


def run(monkeypatch: pytest.MonkeyPatch, answer: Any, *words: str) -> None:
    monkeypatch.setattr(executions, "ask", lambda *_words, **_options: answer)
    build_command("executions")(["executions", *words], standalone_mode=False)


def test_a_command_that_failed_shows_its_exit_code_in_the_colour_of_a_failure(
    screen: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(monkeypatch, {"executions": [a_call()]})
    run(monkeypatch, a_call(), "show", "exe_1234567890")
    told = screen.getvalue()
    assert told.count("exit 1") == 2
    assert "completed" not in told.replace("completed_at", "")
    assert output.ending(a_call()) == "[red]exit 1[/]"
    row = words.call_row(a_call(description="Run: pytest", result=None, exit_code=1))
    assert {span.style for span in row.spans if "exit 1" in row.plain[span.start : span.end]} == {
        "red"
    }
    assert "completed" not in row.plain


def test_an_agent_is_shown_by_name_and_without_one_by_the_end_of_its_id(
    screen: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(monkeypatch, {"executions": [a_call()]})
    run(monkeypatch, a_call(), "show", "exe_1234567890")
    assert screen.getvalue().count("Claude on my laptop in session s") == 2

    run(monkeypatch, a_call(agent_name=None), "show", "exe_1234567890")
    assert "agent …567890 in session s" in screen.getvalue()
    assert "agt_" not in screen.getvalue()


@pytest.mark.parametrize(
    "fields",
    [
        {"result": {"output": "", "exit_code": 0}},
        {"result": {"output": ""}},
        {"status": "executing", "result": None},
        {"status": "failed", "error": "killed", "result": {"output": "", "exit_code": -9}},
    ],
)
def test_of_no_other_call_an_exit_code_is_said(
    fields: dict[str, Any], screen: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(monkeypatch, {"executions": [a_call(**fields)]})
    assert "exit" not in screen.getvalue()


def test_programs_get_the_exit_code_as_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(monkeypatch, {"executions": [a_call()]}, "--json")
    (one,) = json.loads(capsys.readouterr().out)["executions"]
    assert (one["status"], one["result"]["exit_code"]) == ("completed", 1)


def test_the_tour_says_which_hosts_were_not_reached(screen: io.StringIO) -> None:
    refused = "[not reached: registry.example.com:443 does not answer]"
    tour.show(a_call(f"npm error code E503\nnpm error A log\n[exit code 1]\n{refused}"))
    told = screen.getvalue()
    assert "the agent gets   exit 1: npm error code E503\n" in told
    assert told.endswith(f"                    {refused}\n")
    assert "A log" not in told


def test_the_tour_says_it_once_where_nothing_else_was_said(screen: io.StringIO) -> None:
    refused = "[not reached: registry.example.com:443 does not answer]"
    tour.show(a_call(refused, result={"output": refused, "exit_code": 0}))
    assert screen.getvalue().count("not reached") == 1

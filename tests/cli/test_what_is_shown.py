"""Whatever others have written, every screen shows it as it is: nothing hides, moves or is lost."""

import io
import json
import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import structlog
from rich.console import Console
from rich.text import Text

from handrail.app import terminal
from handrail.app.logs import configure_logs
from handrail.channels.terminal_card import CardText
from handrail.cli import approvals, audit, executions, grants, output, tools, trust
from handrail.cli.main import build_command, main
from handrail.core.audit import AuditEntry
from handrail.core.card import Card, Offer
from handrail.core.errors import BadInput
from handrail.core.grant import Scope
from handrail.core.ids import ProjectId
from handrail.core.visible import visible
from handrail.testing import a_card

NASTY = {
    "right-to-left override": "a\u202eb",
    "left-to-right isolate": "a\u2066b\u2069",
    "right-to-left mark": "a\u200fb",
    "Arabic letter mark": "a\u061cb",
    "zero-width space": "a\u200bb",
    "zero-width joiner": "a\u200db",
    "word joiner": "a\u2060b",
    "byte order mark": "a\ufeffb",
    "tag characters": "a\U000e0041\U000e007fb",
    "variation selector": "a\ufe0fb",
    "variation selector of the supplement": "a\U000e0100b",
    "soft hyphen": "a\u00adb",
    "Hangul filler": "a\u3164b",
    "blank Braille pattern": "a\u2800b",
    "no-break space": "a\u00a0b",
    "line separator": "a\u2028b",
    "next line": "a\x85b",
    "carriage return": "a\rb",
    "line feed": "a\nb",
    "bell": "a\x07b",
    "backspace": "a\x08b",
    "zero": "a\x00b",
    "clearing of the screen": "a\x1b[2J\x1b[Hb",
    "control sequence in one character": "a\x9b2Jb",
    "link": "a\x1b]8;;http://x.example\x1b\\b\x1b]8;;\x1b\\",
    "title": "a\x1b]0;title\x07b",
    "lone surrogate": "a\ud800b",
    "private use": "a\ue000b",
    "markup": "a[red]b[/red][/]",
    "very long word": "w" * 3_000,
}
# They part lines, which is what they are for, where text of many lines is shown.
LAYOUT = "\n"


@pytest.fixture(params=[*NASTY.values()], ids=[*NASTY])
def nasty(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Callable[[], str]:
    """What is printed by any command, as a terminal would get it, but for our own colours."""
    stream = io.StringIO()
    # So wide that the columns of a table are not folded into each other.
    console = Console(file=stream, width=20_000, highlight=False, emoji=False)
    for module in (output, approvals, executions, grants, audit, tools, trust):
        monkeypatch.setattr(module, "console", console, raising=False)
    monkeypatch.setattr(terminal, "Console", lambda **_options: console)
    return stream.getvalue


def assert_shown(told: str, nasty: str, *, layout: str = "") -> None:
    """Every character can be seen, and of what is missing the number is told."""
    assert visible(told, keep=LAYOUT) == told
    joined = re.sub(r"[\s│]", "", told)
    wanted = re.sub(r"\s", "", visible(nasty, keep=layout))
    # Where a text is quoted, it has escapes of its own.
    quoted = re.sub(r"\s", "", visible(repr(nasty)[1:-1]))
    if wanted in joined or quoted in joined:
        return
    counts = re.findall(r"(w+)…\[([\d,]+)morecharacters\]", joined)
    assert counts, "it is neither there, nor is it told how much is missing"
    # Sometimes there are other words around it.
    assert min(len(shown) + int(more.replace(",", "")) for shown, more in counts) >= len(nasty)


def a_nasty_card(nasty: str, **fields: Any) -> Card:
    said: dict[str, Any] = {
        "description": nasty,
        "reasons": (nasty,),
        "reasoning": nasty,
        "notes": (nasty,),
        "evidence": nasty,
        "offers": (Offer(Scope.CLASS, nasty, nasty, nasty),),
        "agent_id": nasty,
        "session_id": nasty,
    }
    return a_card(**said | fields)


def drawn(*lines: Text) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=79, highlight=False, emoji=False)
    for line in lines:
        console.print(line)
    return stream.getvalue()


def as_json(card: Card) -> dict[str, Any]:
    told = {name: getattr(card, name) for name in Card.__dataclass_fields__}
    return {
        **told,
        "offers": [
            {"scope": one.scope, "words": one.words, "warning": one.warning, "past": one.past}
            for one in card.offers
        ],
        "expires_at": card.expires_at.isoformat(),
        "decided_by": None,
    }


@pytest.mark.parametrize("whole", [False, True])
def test_a_card_in_the_terminal(nasty: str, whole: bool) -> None:
    card = a_nasty_card(nasty)
    text = CardText(card, 78, whole=whole)
    assert_shown(drawn(*text.lines()), nasty, layout=LAYOUT)
    assert_shown(drawn(text.menu(unseen=False)), nasty)
    without_evidence = CardText(a_nasty_card(nasty, evidence="", tool_params={"x": nasty}), 78)
    assert_shown(drawn(*without_evidence.lines()), nasty)


def test_no_line_of_a_card_begins_with_what_others_have_written(nasty: str) -> None:
    text = CardText(a_nasty_card("! " + nasty), 78)
    for line in drawn(*text.lines(), text.menu(unseen=True)).splitlines():
        assert re.match(r"[─ ]|│", line), line


def answering(monkeypatch: pytest.MonkeyPatch, module: Any, answer: Any) -> None:
    """Put a server in place that says whatever it likes."""
    monkeypatch.setattr(module, "ask", lambda *_words, **_options: answer)


def test_approvals_show(
    nasty: str, screen: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, approvals, as_json(a_nasty_card(nasty)))
    run("approvals", "show", "apr_1")
    assert_shown(screen(), nasty, layout=LAYOUT)


def test_the_list_of_approvals(
    nasty: str, screen: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = as_json(a_nasty_card(nasty)) | {"expires_at": datetime.now(UTC).isoformat()}
    answering(monkeypatch, approvals, {"approvals": [one]})
    run("approvals")
    assert_shown(screen(), nasty)


def a_call(nasty: str) -> dict[str, Any]:
    return {
        "tool_id": "exe_1",
        "tool_name": nasty,
        "tool_params": {"path": nasty, nasty: 1, "args": [nasty]},
        "agent_id": nasty,
        "session_id": nasty,
        "reasoning": nasty,
        "risk_level": "HIGH",
        "reasons": [nasty],
        "approved_by": nasty,
        "scope": "once",
        "status": nasty,
        "created_at": "2026-01-01T00:00:00Z",
        "approved_at": None,
        "started_at": None,
        "completed_at": None,
        "error": nasty,
        "error_type": "execution",
        "late_result": {"status": nasty, "error": nasty},
        "suspicion": {"findings": [{"line": 1, "reason": nasty, "excerpt": nasty}]},
        "result": {"output": nasty},
    }


def test_the_list_of_executions(
    nasty: str, screen: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, executions, {"executions": [a_call(nasty)]})
    run("executions")
    assert_shown(screen(), nasty)


def test_executions_show(
    nasty: str, screen: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, executions, a_call(nasty))
    run("executions", "show", "exe_1")
    assert_shown(screen().replace("\t", " "), nasty, layout=LAYOUT)


def test_what_could_not_be_read_is_not_called_forbidden(
    screen: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    misspelt = {**a_call("x"), "risk_level": "FORBIDDEN", "error_type": "validation"}
    answering(monkeypatch, executions, misspelt)
    run("executions", "show", "exe_1")
    assert "not judged" in screen()
    assert "FORBIDDEN" not in screen()


def test_the_list_of_tainted_sessions(
    nasty: str, screen: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = {
        "session_id": nasty,
        "tainted_by": nasty,
        "tainted_at": "2026-01-01T00:00:00Z",
        "tool_id": "exe_1",
    }
    answering(monkeypatch, trust, {"taints": [one]})
    run("trust")
    assert_shown(screen(), nasty)


def test_a_session_that_is_trusted_again(
    nasty: str, screen: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, trust, {"session_id": nasty, "was_tainted_by": nasty})
    run("trust", "nightly")
    assert_shown(screen(), nasty)


def test_the_list_of_grants(
    nasty: str, screen: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = {
        "grant_id": "grt_1",
        "agent_id": "agt_1",
        "agent_name": nasty,
        "scope": "class",
        "idle": False,
        "session_id": nasty,
        "words": nasty,
        "max_risk": "HIGH",
        "uses_left": None,
        "expires_at": None,
    }
    answering(monkeypatch, grants, {"grants": [one]})
    run("grants")
    assert_shown(screen(), nasty)


def test_audit_show(
    nasty: str,
    screen: Callable[[], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    details = json.dumps({"tool": nasty, "reason": nasty, "error": nasty})
    at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=1)
    line = AuditEntry(ProjectId("prj_1"), 1, at, nasty, nasty, nasty, details, "", "")

    async def read(*_words: object) -> list[AuditEntry]:
        return [line]

    class AnyHome:
        def __init__(self, _path: object): ...

        def get_credentials(self, _workspace: object) -> Any:
            return line

    monkeypatch.setattr(audit, "read_latest", read)
    monkeypatch.setattr(audit, "Home", AnyHome)
    run("audit", "show")
    assert_shown(screen(), nasty)


@pytest.mark.parametrize("words", [["cat"], ["npm", "install"], ["unlisted"]])
def test_explain(nasty: str, words: list[str], screen: Callable[[], str], tmp_path: Path) -> None:
    run("explain", "--home", str(tmp_path), "--workspace", str(tmp_path), "--", *words, nasty)
    told = screen()
    assert visible(told, keep=LAYOUT) == told


def test_a_reason_that_explain_gives(nasty: str, screen: Callable[[], str], tmp_path: Path) -> None:
    run("explain", "--home", str(tmp_path), "--workspace", str(tmp_path), "--", nasty + "?")
    assert_shown(screen(), nasty)


def test_a_complaint(
    nasty: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_words: object, **_options: object) -> None:
        raise BadInput(nasty)

    monkeypatch.setattr(grants, "ask", fail)
    monkeypatch.setattr(sys, "argv", ["handrail", "grants"])
    with pytest.raises(SystemExit):
        main()
    assert_shown(capsys.readouterr().err, nasty, layout=LAYOUT)


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stream", [Tty(), io.StringIO()], ids=["for people", "for programs"])
def test_logs(nasty: str, stream: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    stream.truncate(0)
    monkeypatch.setattr(sys, "stderr", stream)
    before = structlog.get_config()
    try:
        configure_logs()
        structlog.get_logger().warning("something.odd", why=nasty, several=[nasty])
    finally:
        structlog.configure(**before)
    told = re.sub(r"\x1b\[\d*m", "", stream.getvalue().lstrip("\0"))
    assert told.count("\n") == 1
    assert visible(told, keep=LAYOUT) == told


def run(*words: str) -> None:
    """A command of `handrail`, in this process."""
    build_command(words[0])(list(words), standalone_mode=False)

"""What comes from elsewhere can be seen, and can do nothing."""

import json

import pytest
from rich.console import Console

from handrail.cli import output
from handrail.cli.output import in_short, print_json, say, status, visible
from handrail.core.masks import cut_mark


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> Console:
    console = Console(record=True, force_terminal=True, width=200, highlight=False)
    monkeypatch.setattr(output, "console", console)
    return console


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("plain", "plain", id="plain"),
        pytest.param("grüße 日本", "grüße 日本", id="letters"),
        pytest.param("\x1b[31mred", "\\x1b[31mred", id="colour-code"),
        pytest.param("a\rb", "a\\x0db", id="carriage-return"),
        pytest.param("a\nb", "a\\x0ab", id="line-feed"),
        pytest.param("a\x00b", "a\\x00b", id="zero"),
        pytest.param("a\u202eb", "a\\u{202e}b", id="right-to-left"),
        pytest.param("a\u200bb", "a\\u{200b}b", id="zero-width"),
        pytest.param("a\x9bb", "a\\x9bb", id="c1-control"),
        pytest.param("[bold]x[/bold]", "[bold]x[/bold]", id="markup"),
        pytest.param("[link=http://x]y[/link]", "[link=http://x]y[/link]", id="link"),
        pytest.param("end\\", "end\\", id="backslash"),
        pytest.param("[/]", "[/]", id="closing"),
        pytest.param(7, "7", id="number"),
    ],
)
def test_text_from_elsewhere_is_shown_as_it_is_written(
    printed: Console, text: object, shown: str
) -> None:
    say(f"[bold]>{visible(text)}[/]<")

    assert printed.export_text() == f">{shown}<\n"


def test_a_status_is_a_word_whatever_it_is(printed: Console) -> None:
    say(f"{status('completed')} {status('[red]odd')}")

    assert printed.export_text() == "completed [red]odd\n"


def test_json_stays_json(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"long": "x " * 300, "markup": "[bold]y[/]", "control": "\x1b[31m", "list": [1, None]}

    print_json(value)

    assert json.loads(capsys.readouterr().out) == value


def test_json_is_printed_to_the_letter(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"a": ":heart: [bold]x[/]"})
    assert json.loads(capsys.readouterr().out) == {"a": ":heart: [bold]x[/]"}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("x" * 60, "x" * 60),
        ("x" * 1_061, "x" * 60 + "… [1,001 more characters]"),
        ("a\nb\nc", "[2 lines]"),
        (f"a\nb\nc{cut_mark(9_000)}", "[2 lines and more]"),
        (["a", "b"], "a b"),
    ],
)
def test_what_is_left_out_is_counted(value: object, shown: str) -> None:
    assert in_short(value) == shown

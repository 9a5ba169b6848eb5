"""A card says everything in plain sight: nothing in it can hide, move or colour anything."""

from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from handrail.channels.terminal_card import SHOWN_CHARS, SHOWN_LINES, CardText
from handrail.core.card import NOT_SURVEYED, Card
from handrail.core.visible import cut, visible
from tests.channels.conftest import a_live_card
from tests.evidence import SHAPES, lines_of

# The fields of a card that a person reads, each made of somebody's words.
TEXTS: dict[str, Any] = {
    "description": lambda words: {"description": words},
    "reasons": lambda words: {"reasons": ("first", words)},
    "reasoning": lambda words: {"reasoning": words},
    "notes": lambda words: {"notes": (words,)},
    "evidence": lambda words: {"evidence": f"@@ -1 +1 @@\n+{words}\n"},
    "revision": lambda words: {"revised_by": "ada", "revision": f"@@ -1 +1 @@\n+{words}\n"},
    "revised_by": lambda words: {"revised_by": words, "revision": "@@ -1 +1 @@\n+x\n"},
    "agent_id": lambda words: {"agent_id": words},
    "agent_name": lambda words: {"agent_name": words},
    "client_name": lambda words: {"client_name": words},
    "session_id": lambda words: {"session_id": words},
    "name of a parameter": lambda words: {"evidence": "", "tool_params": {words: "x"}},
    "parameter": lambda words: {"evidence": "", "tool_params": {"path": words}},
    "nested parameter": lambda words: {"evidence": "", "tool_params": {"args": [words]}},
}

HOSTILE = {
    "colour": "\x1b[31mred",
    "hidden": "\x1b[8mhidden",
    "clear": "\x1b[2J\x1b[H",
    "title": "\x1b]0;title\x07",
    "link": "\x1b]8;;http://evil\x1b\\safe\x1b]8;;\x1b\\",
    "one-byte-csi": "\x9b2J",
    "carriage-return": "rm -rf\rls    ",
    "backspaces": "evil\b\b\b\bgood",
    "line-feed": "first\nsecond",
    "vertical": "a\x0bb\x0cc",
    "null": "a\x00b",
    "delete": "a\x7fb",
    "next-line": "a\x85b",
    "line-separator": "a\u2028b\u2029c",
    "right-to-left": "a\u202egnp.exe",
    "isolates": "a\u2066b\u2067c\u2068d\u2069e",
    "marks": "a\u200eb\u200fc\u061cd",
    "zero-width": "pass\u200bw\u200co\u200dr\u2060d\ufeff",
    "soft-hyphen": "a\u00adb",
    "tags": "a\U000e0041\U000e007fb",
    "odd-blanks": "a\u00a0b\u3000c",
}


def drawn(card: Card, width: int = 10_000) -> str:
    """The card as it goes to the terminal, escape sequences and all."""
    console = Console(
        file=StringIO(),
        force_terminal=True,
        color_system="truecolor",
        width=width,
        highlight=False,
        emoji=False,
    )
    for line in CardText(card, width).lines():
        console.print(line)
    written = console.file
    assert isinstance(written, StringIO)
    return written.getvalue()


def plain(card: Card) -> list[str]:
    """The card's lines without colours."""
    console = Console(file=StringIO(), width=10_000, highlight=False, emoji=False)
    with console.capture() as capture:
        for line in CardText(card, 9_999).lines():
            console.print(line)
    return capture.get().removesuffix("\n").split("\n")


def test_a_card_says_what_why_who_and_shows_the_change() -> None:
    card = a_live_card(reasons=("one", "two"), notes=(NOT_SURVEYED,), evidence="-old\n+new\n")

    rule, *lines = plain(card)

    assert set(rule) == {"─"}
    assert lines == [
        " MEDIUM  Write 1 line to notes.md",
        "  · one",
        "  · two",
        "  asked by agent …1 in session session-1",
        "  the agent claims: to remember",
        f"  ! {NOT_SURVEYED}",
        "  -old",
        "  +new",
    ]


def test_what_the_agent_says_is_marked_as_its_claim_and_silence_is_not() -> None:
    assert any("the agent claims: to remember" in line for line in plain(a_live_card()))
    silent = plain(a_live_card(reasoning=None))
    assert not any("the agent claims" in line for line in silent)


def test_without_a_diff_the_parameters_are_shown() -> None:
    lines = plain(a_live_card(evidence="", tool_params={"command": "npm", "args": ["test"]}))

    assert lines[-2:] == ["  command = npm", "  args = ['test']"]


def test_what_a_person_changed_stands_below_what_the_call_would_do() -> None:
    change = "--- a/command\n+++ b/command\n@@ -1,1 +1,1 @@\n-make\n+make test\n"

    lines = plain(a_live_card(evidence="runs     make test", revised_by="ada", revision=change))

    assert lines[-7:] == [
        "  runs     make test",
        "  changed by ada:",
        *(f"  {line}" for line in change.splitlines()),
    ]


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("field", TEXTS)
def test_what_is_unseen_is_made_visible_in_every_field(field: str, hostile: str) -> None:
    # A diff has lines of its own.
    is_diff = field in ("evidence", "revision")
    words = f"<{hostile.replace(chr(10), chr(13)) if is_diff else hostile}>"

    lines = plain(a_live_card(**TEXTS[field](words)))

    assert all(line.isprintable() for line in lines)
    if field != "nested parameter":  # which Python writes in its own way
        assert any(visible(words) in line for line in lines)


@pytest.mark.parametrize("field", TEXTS)
def test_no_escape_sequence_from_a_card_reaches_the_terminal(field: str) -> None:
    shown = drawn(a_live_card(**TEXTS[field]("\x1b[8mgone\x1b[0m\x1b]0;t\x07\x1b[2J")))

    for sequence in ("\x1b[8m", "\x1b]0;", "\x1b[2J", "\x07"):
        assert sequence not in shown


def test_not_even_the_risk_can_carry_an_escape_sequence() -> None:
    """It is one of a few words, unless the server has gone astray."""
    shown = drawn(a_live_card(risk_level="LOW\x1b[2J\u202e"))

    assert "\x1b[2J" not in shown
    assert "\u202e" not in shown


@pytest.mark.parametrize(
    "unseen",
    [
        pytest.param("\u034f", id="grapheme-joiner"),
        pytest.param("\u115f", id="hangul-filler"),
        pytest.param("\u3164", id="hangul-letter-filler"),
        pytest.param("\uffa0", id="half-width-filler"),
        pytest.param("\ufe00", id="variation-selector"),
        pytest.param("\U000e0100", id="further-variation-selector"),
        pytest.param("\u180b", id="mongolian-selector"),
        pytest.param("\u2800", id="blank-braille"),
    ],
)
def test_letters_that_nobody_can_see_are_made_visible_too(unseen: str) -> None:
    """Python calls them printable, and every terminal draws nothing for them."""
    shown = drawn(a_live_card(description=f"Run a{unseen}b"))

    assert unseen not in shown
    assert f"\\u{{{ord(unseen):x}}}" in shown


@pytest.mark.parametrize("field", TEXTS)
@pytest.mark.parametrize("markup", ["[red]alarm[/]", "[bold]x[/bold]", "[link=http://x]y[/link]"])
def test_markup_is_shown_as_it_is_written(field: str, markup: str) -> None:
    assert any(markup in line for line in plain(a_live_card(**TEXTS[field](markup))))


@pytest.mark.parametrize("field", TEXTS)
def test_emoji_names_are_shown_as_they_are_written(field: str) -> None:
    assert any(":warning:" in line for line in plain(a_live_card(**TEXTS[field](":warning:"))))


def test_letters_of_every_script_stay_as_they_are() -> None:
    words = "naïve Straße 東京 עברית العربية 😀"

    assert words in drawn(a_live_card(description=words))


def test_a_tab_is_a_tab() -> None:
    lines = plain(a_live_card(evidence="+\tindented\n"))

    assert lines[-1] == "  +   indented"


@pytest.mark.parametrize("field", TEXTS)
def test_a_very_long_line_is_cut_and_counted(field: str) -> None:
    lines = plain(a_live_card(**TEXTS[field]("x" * 1_000_000)))

    (line,) = [one for one in lines if "xxx" in one]
    assert len(line) < 700
    assert "more characters]" in line


def test_what_is_cut_is_counted_exactly() -> None:
    lines = plain(a_live_card(description="x" * 2_345))

    assert lines[1] == f" MEDIUM  {'x' * 500}… [1,845 more characters]"


@pytest.mark.parametrize("end", ["\n", ""])
@pytest.mark.parametrize(
    ("count", "shown", "more"),
    [
        (1, 1, None),
        (SHOWN_LINES, SHOWN_LINES, None),
        (SHOWN_LINES + 1, SHOWN_LINES, "… 1 line not shown here"),
        (5_000, SHOWN_LINES, "… 4,960 lines not shown here"),
    ],
)
def test_a_long_diff_is_cut_and_counted(count: int, shown: int, more: str | None, end: str) -> None:
    evidence = "\n".join(f"+line {number}" for number in range(count)) + end

    lines = plain(a_live_card(evidence=evidence))

    assert sum(line.startswith("  +line") for line in lines) == shown
    assert [line for line in lines if line.startswith("…")] == ([more] if more else [])
    assert lines[-1] == f"  +line {count - 1}"


def test_the_whole_diff_can_be_had() -> None:
    card = a_live_card(evidence="".join(f"+line {number}\n" for number in range(5_000)))

    lines = [line.plain for line in CardText(card, 80, whole=True).lines()]

    assert lines[-5_000:] == [f"  +line {number}" for number in range(5_000)]
    assert CardText(card, 80).is_cut


@pytest.mark.parametrize("field", TEXTS)
def test_whatever_is_cut_can_be_had_whole(field: str) -> None:
    words = "x" * 2_000 + "!evil!"
    card = a_live_card(**TEXTS[field](words))

    lines = [line.plain for line in CardText(card, 80, whole=True).lines()]

    assert CardText(card, 80).is_cut
    assert "evil" not in "".join(plain(card))
    assert "!evil!" in "".join(line.removeprefix("  ").lstrip(" │·") for line in lines)


def test_a_card_that_is_seen_at_a_look_is_not_cut() -> None:
    assert not CardText(a_live_card(), 80).is_cut


@pytest.mark.parametrize("field", TEXTS)
def test_text_that_is_folded_never_begins_a_line_of_the_card(field: str) -> None:
    words = "x" * 61 + "--- a/docs/readme.md" + " " * 60 + "+hello"
    card = a_live_card(**TEXTS[field](words))

    lines = [line.plain for line in CardText(card, 80, whole=True).lines()]

    assert all(len(line) <= 80 for line in lines)
    assert not any(line.startswith(("---", "+hello", "hello")) for line in lines)
    assert any("│ " in line for line in lines)


def test_a_long_sentence_is_folded_between_its_words_and_none_is_lost() -> None:
    words = "every word of this sentence is shown whole on a narrow terminal"
    lines = [line.plain for line in CardText(a_live_card(reasons=(words,)), 24).lines()]
    folded = [line for line in lines if line.startswith(("  · ", "  │ "))]
    assert len(folded) > 2
    assert [word for line in folded for word in line[4:].split()] == words.split()
    assert "".join(line[4:] for line in folded) == words
    assert all(len(line) <= 24 for line in folded)


def test_a_diff_is_coloured_by_what_each_line_does() -> None:
    card = a_live_card(evidence="--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n same\n")

    *_, old, new, same = styles = [
        str(line.spans[-1].style) if line.spans else "" for line in CardText(card, 80).lines()
    ]
    assert [*styles[-6:-3], old, new, same] == [
        "dim",
        "dim",
        "dim",
        "red",
        "green",
        "",
    ]


@pytest.mark.parametrize("risk", ["MEDIUM", "HIGH", "CRITICAL"])
def test_each_risk_has_its_own_look(risk: str) -> None:
    others = {"MEDIUM", "HIGH", "CRITICAL"} - {risk}
    card = a_live_card(description="x", risk_level=risk)

    looks = {drawn(card).replace(risk, "")} & {
        drawn(replace(card, risk_level=other)).replace(other, "") for other in others
    }

    assert looks == set()


def unfolded(lines: list[str]) -> list[str]:
    """Lines of the card without its margin, and with the folded ones put together."""
    whole: list[str] = []
    for line in lines:
        if line.startswith("│ "):
            whole[-1] += line[2:]
        else:
            whole.append(line.removeprefix("  "))
    return whole


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=6, deadline=None)
@given(st.data(), st.sampled_from([40, 200]))
def test_every_line_of_any_evidence_is_drawn(shape: str, data: st.DataObject, width: int) -> None:
    evidence = data.draw(SHAPES[shape])
    text = CardText(a_live_card(evidence=evidence), width, whole=True)
    console = Console(file=StringIO(), width=width, highlight=False, emoji=False)
    with console.capture() as capture:
        for line in text.evidence():
            console.print(line)

    drawn = unfolded(capture.get().removesuffix("\n").split("\n"))

    assert drawn == [line.expandtabs(4) for line in lines_of(evidence)]


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=6, deadline=None)
@given(st.data(), st.integers(1, SHOWN_LINES))
def test_at_a_look_every_line_of_any_evidence_is_drawn_or_counted(
    shape: str, data: st.DataObject, most: int
) -> None:
    evidence = data.draw(SHAPES[shape])
    text = CardText(a_live_card(evidence=evidence), 200, most)
    expected = [cut(line.expandtabs(4), SHOWN_CHARS) for line in lines_of(evidence)]
    lines = [line.plain for line in text.evidence()]

    notes = [at for at, line in enumerate(lines) if line.startswith("… ")]
    if len(expected) <= most:
        assert notes == []
        assert unfolded(lines) == expected
        return
    (at,) = notes
    head, tail = unfolded(lines[:at]), unfolded(lines[at + 1 :])
    missing = len(expected) - most
    assert lines[at] == f"… {missing:,} line{'s' if missing > 1 else ''} not shown here"
    assert [*head, *tail] == [*expected[: len(head)], *expected[len(head) + missing :]]
    assert len(tail) >= 1 or most == 1

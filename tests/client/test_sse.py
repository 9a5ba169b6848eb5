"""A stream of events reads the same, however it is cut into pieces."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.client import sse
from handrail.client.sse import ServerEvent, SseParser
from handrail.core.errors import HandrailError

LINES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=20
).map(str.encode)
NAMES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), min_size=1, max_size=20
)
ENDINGS = st.sampled_from([b"\n", b"\r\n", b"\r"])


@st.composite
def events(draw: st.DrawFn) -> tuple[ServerEvent, list[bytes]]:
    """An event, and lines that say it."""
    number = draw(st.none() | st.integers(0, 10**18 - 1))
    name = draw(st.none() | NAMES)
    data = draw(st.lists(LINES, min_size=1, max_size=3))
    lines = [b"data: " + line for line in data]
    if number is not None:
        lines.insert(0, b"id: %d" % number)
    if name is not None:
        lines.insert(0, b"event: " + name.encode())
    if draw(st.booleans()):
        lines.insert(draw(st.integers(0, len(lines))), b": " + draw(LINES))
    return ServerEvent(number, name or "message", b"\n".join(data)), lines


@st.composite
def streams(draw: st.DrawFn) -> tuple[list[ServerEvent], bytes, list[int]]:
    """Events, the bytes that say them, each with its own line ending, and where to cut these."""
    expected: list[ServerEvent] = []
    said = bytearray(b": handrail 1.0\n\n")
    for event, lines in draw(st.lists(events(), max_size=4)):
        expected.append(event)
        ending = draw(ENDINGS)
        for line in [*lines, b""]:
            said += line + ending
    said += b": the end\n\n"
    cuts = draw(st.lists(st.integers(0, len(said)), max_size=12))
    return expected, bytes(said), [0, *sorted(cuts), len(said)]


def parse(*pieces: bytes) -> list[ServerEvent]:
    parser = SseParser()
    return [event for piece in pieces for event in parser.feed(piece)]


@given(streams())
def test_any_cutting_of_a_stream_gives_the_same_events(
    stream: tuple[list[ServerEvent], bytes, list[int]],
) -> None:
    expected, said, cuts = stream

    assert parse(*(said[start:end] for start, end in pairwise(cuts))) == expected


@given(streams())
def test_byte_by_byte_a_stream_gives_the_same_events(
    stream: tuple[list[ServerEvent], bytes, list[int]],
) -> None:
    expected, said, _ = stream

    assert parse(*(said[index : index + 1] for index in range(len(said)))) == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        pytest.param(b"data: a\n\n", [ServerEvent(None, "message", b"a")], id="plain"),
        pytest.param(
            b"id: 7\nevent: tool.status\ndata: {}\n\n",
            [ServerEvent(7, "tool.status", b"{}")],
            id="with-number-and-name",
        ),
        pytest.param(b"data:a\n\n", [ServerEvent(None, "message", b"a")], id="no-blank"),
        pytest.param(b"data:  a\n\n", [ServerEvent(None, "message", b" a")], id="two-blanks"),
        pytest.param(
            b"data: a\ndata\ndata: b\n\n",
            [ServerEvent(None, "message", b"a\n\nb")],
            id="several-lines",
        ),
        pytest.param(
            b"data: a\r\ndata: b\r\n\r\n", [ServerEvent(None, "message", b"a\nb")], id="crlf"
        ),
        pytest.param(b": ping\n\n", [], id="comment"),
        pytest.param(
            b": ping\ndata: a\n: pong\n\n", [ServerEvent(None, "message", b"a")], id="commented"
        ),
        pytest.param(b"retry: 1000\n\n", [], id="retry-alone"),
        pytest.param(b"event: x\n\n", [], id="without-data"),
        pytest.param(
            b"colour: red\ndata: a\n\n", [ServerEvent(None, "message", b"a")], id="unknown-field"
        ),
        pytest.param(
            b"id: x\ndata: a\n\n", [ServerEvent(None, "message", b"a")], id="number-that-is-none"
        ),
        pytest.param(
            b"id: -1\ndata: a\n\n", [ServerEvent(None, "message", b"a")], id="negative-number"
        ),
        pytest.param(
            b"data: a\n\n\n\ndata: b\n\n",
            [ServerEvent(None, "message", b"a"), ServerEvent(None, "message", b"b")],
            id="more-empty-lines",
        ),
        pytest.param(b"data: a\n", [], id="not-ended-yet"),
        pytest.param(b"\n\n\n\n", [], id="nothing"),
    ],
)
def test_the_forms_of_an_event_are_read(said: bytes, expected: list[ServerEvent]) -> None:
    assert parse(said) == expected


def test_an_event_is_given_as_soon_as_it_is_whole() -> None:
    parser = SseParser()

    assert parser.feed(b"data: a\n") == []
    assert parser.feed(b"\ndata: b") == [ServerEvent(None, "message", b"a")]
    assert parser.feed(b"\n\n") == [ServerEvent(None, "message", b"b")]


def test_a_carriage_return_at_the_end_of_a_piece_waits_for_its_line_feed() -> None:
    parser = SseParser()

    assert parser.feed(b"data: a\r") == []
    assert parser.feed(b"\ndata: b\r") == []
    assert parser.feed(b"\n\r\n") == [ServerEvent(None, "message", b"a\nb")]


def test_an_event_without_an_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "_MAX_EVENT_BYTES", 1000)
    parser = SseParser()
    parser.feed(b"data: " + b"x" * 900)

    with pytest.raises(HandrailError, match="an event without an end"):
        parser.feed(b"x" * 100)


def test_whole_events_may_be_more_than_the_limit_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sse, "_MAX_EVENT_BYTES", 1000)

    assert len(parse(b"data: aaaaaaaa\n\n" * 1000)) == 1000


def test_a_number_alone_says_where_to_go_on_and_one_that_is_none_is_passed_over() -> None:
    assert parse(b"id: 7\n\n") == [ServerEvent(7, "message", b"")]
    assert parse(b"id: " + b"9" * 5_000 + b"\ndata: x\n\n") == [ServerEvent(None, "message", b"x")]

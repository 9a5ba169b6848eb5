"""No text can hide, move or colour anything once it is made visible."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.core.visible import is_misleading, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("", "", id="nothing"),
        pytest.param("plain text, 1 + 1 = 2", "plain text, 1 + 1 = 2", id="plain"),
        pytest.param("Grüße 日本語 🙂", "Grüße 日本語 🙂", id="other-scripts"),
        pytest.param("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m", id="colour"),
        pytest.param("safe\rrm -rf", "safe\\x0drm -rf", id="carriage-return"),
        pytest.param("a\nb\tc", "a\\x0ab\\x09c", id="lines-and-tabs"),
        pytest.param("a\x08b\x7fc\x00", "a\\x08b\\x7fc\\x00", id="backspace-delete-nul"),
        pytest.param("a\x85b\x9bc", "a\\x85b\\x9bc", id="c1-controls"),
        pytest.param("a\u00a0b\u00adc", "a\\xa0b\\xadc", id="space-and-hyphen-that-are-none"),
        pytest.param("exe.\u202etxt", "exe.\\u{202e}txt", id="right-to-left-override"),
        pytest.param("a\u2066b\u2069", "a\\u{2066}b\\u{2069}", id="isolates"),
        pytest.param("a\u200bb\u200dc\ufeff", "a\\u{200b}b\\u{200d}c\\u{feff}", id="no-width"),
        pytest.param("a\u2028b", "a\\u{2028}b", id="line-separator"),
        pytest.param("a\U000e0041b", "a\\u{e0041}b", id="tags"),
        pytest.param("a\ue000b", "a\\u{e000}b", id="private-use"),
        pytest.param("a\ud800b", "a\\u{d800}b", id="half-a-pair"),
        pytest.param("a\u3164b\u115fc\uffa0", "a\\u{3164}b\\u{115f}c\\u{ffa0}", id="fillers"),
        pytest.param("a\u2800b", "a\\u{2800}b", id="blank-braille"),
        pytest.param("a\u034fb\ufe00c", "a\\u{34f}b\\u{fe00}c", id="joiner-and-selector"),
        pytest.param("a\U000e0100b", "a\\u{e0100}b", id="more-selectors"),
    ],
)
def test_what_cannot_be_seen_is_spelled_out(text: str, shown: str) -> None:
    assert visible(text) == shown


EMOJI = [
    pytest.param("⚠\ufe0f", id="selector"),
    pytest.param("1\ufe0f\u20e3", id="keycap"),
    pytest.param("👍🏽", id="skin-tone"),
    pytest.param("🇩🇪", id="flag"),
    pytest.param("👩🏽\u200d💻", id="joined"),
    pytest.param("🕵\ufe0f\u200d♂\ufe0f", id="joined-with-selectors"),
    pytest.param("👨\u200d👩\u200d👧\u200d👦", id="family"),
    pytest.param("🏳\ufe0f\u200d🌈", id="rainbow-flag"),
    pytest.param("\U0001fadc", id="newer-than-some-tables"),
]


@pytest.mark.parametrize("emoji", EMOJI)
def test_an_emoji_is_drawn_and_misleads_nobody(emoji: str) -> None:
    for text in (emoji, f"Fix {emoji} it", emoji * 3):
        assert visible(text) == text
        assert not is_misleading(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("a\ufe0f", "a\\u{fe0f}", id="selector-behind-a-letter"),
        pytest.param("\ufe0f🙂", "\\u{fe0f}🙂", id="selector-before-an-emoji"),
        pytest.param("🙂\ufe0f\ufe0f", "🙂\ufe0f\\u{fe0f}", id="second-selector"),
        pytest.param("🙂\ufe00", "🙂\\u{fe00}", id="another-selector"),
        pytest.param("🙂\u200d", "🙂\\u{200d}", id="joiner-with-nothing-behind-it"),
        pytest.param("\u200d🙂", "\\u{200d}🙂", id="joiner-with-nothing-before-it"),
        pytest.param("🙂\u200da", "🙂\\u{200d}a", id="joiner-before-a-letter"),
        pytest.param("🙂\u200d\u200d🙂", "🙂\\u{200d}\\u{200d}🙂", id="two-joiners"),
        pytest.param("1\ufe0f", "1\\u{fe0f}", id="half-a-keycap"),
        pytest.param("🙂\u200b🙂", "🙂\\u{200b}🙂", id="zero-width-space"),
        pytest.param("🏴\U000e0067\U000e007f", "🏴\\u{e0067}\\u{e007f}", id="tags"),
    ],
)
def test_a_joiner_or_selector_outside_an_emoji_misleads(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert is_misleading(text)


@pytest.mark.parametrize(
    "char",
    ["\0", "\r", "\x1b", "\x7f", "\x85", "\xad", "\u200b", "\u200d", "\u200e", "\u2028", "\u202a",
     "\u202e", "\u2060", "\u2066", "\u2069", "\u3164", "\ufe0f", "\ufeff", "\U000e0041", "\ud800",
     "\n"],
)  # fmt: skip
def test_what_hides_or_reorders_text_misleads(char: str) -> None:
    assert is_misleading(f"a{char}b")
    assert not is_misleading(f"a{char}b", keep=char)


@pytest.mark.parametrize(
    "text", ["", "a b", "Grüße 日本語 ≤ “x”", "\xa0", "\u202f", "\u3000", "\ue0b0"]
)
def test_letters_spaces_and_private_signs_mislead_nobody(text: str) -> None:
    assert not is_misleading(text)


def test_what_is_to_be_kept_is_kept_and_nothing_else() -> None:
    assert visible("a\n\tb\r\x1b", keep="\n\t") == "a\n\tb\\x0d\\x1b"


# Within an emoji, the joiner stays.
@given(st.text(alphabet=st.characters(exclude_characters="\u200d")))
def test_nothing_unseen_is_left(text: str) -> None:
    shown = visible(text)

    assert not {unicodedata.category(char) for char in shown} & {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    assert visible(shown) == shown


@given(st.text(alphabet=st.characters(codec="ascii", exclude_categories=["Cc"])))
def test_plain_text_is_left_as_it_is(text: str) -> None:
    assert visible(text) == text


@given(st.text())
def test_with_line_feeds_kept_there_are_as_many_lines_as_before(text: str) -> None:
    assert visible(text, keep="\n").split("\n") == [visible(line) for line in text.split("\n")]

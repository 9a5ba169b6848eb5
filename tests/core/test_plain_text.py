"""What is plain text, by its content."""

import pytest

from handrail.core.plain_text import MOST_BYTES, is_plain_text


@pytest.mark.parametrize("content", [b"", b"one\r\n\ttwo\n", "größer → kleiner".encode()])
def test_text_is_plain(content: bytes) -> None:
    assert is_plain_text(content)


@pytest.mark.parametrize(
    "content",
    [
        b"#!/bin/sh\nls\n",
        b"\x7fELF",
        b"a\0b",
        b"\x1b[31mred",
        "c1 \x9b31m".encode(),
        b"\xff\xfe",
        b"a" * (MOST_BYTES + 1),
    ],
)
def test_scripts_binaries_and_large_files_are_not(content: bytes) -> None:
    assert not is_plain_text(content)

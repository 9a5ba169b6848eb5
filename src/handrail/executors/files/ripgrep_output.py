"""What ripgrep says with --json, taken in piece by piece and never more than a bounded part."""

import asyncio
import base64
import json
import os
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any

MOST_BYTES = 64_000_000
# A message holds a whole line of a file, and every match in it.
MOST_MESSAGE_BYTES = 1_000_000

_READ_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Claim:
    """A line that ripgrep says it has found: its number, its place, and where the match begins."""

    line: int
    offset: int
    data: bytes
    start: int


@dataclass(frozen=True, slots=True)
class Claims:
    """What is said about one file; None is the one that ripgrep was handed open."""

    name: str | None
    lines: list[Claim] = field(default_factory=list[Claim])

    def add(self, data: dict[str, Any]) -> None:
        found = data["submatches"]
        start = found[0]["start"] if found else 0
        line = bytes_of(data["lines"])
        self.lines.append(Claim(data["line_number"], data["absolute_offset"], line, start))


def name_of(path: dict[str, str], folder: str) -> str | None:
    """A file below the folder that ripgrep was told to search, or None."""
    name = os.fsdecode(bytes_of(path))
    return name.removeprefix(folder) if name.startswith(folder) else None


def bytes_of(value: dict[str, str]) -> bytes:
    """Ripgrep says as text what is UTF-8, and all else as base64."""
    if "text" in value:
        return value["text"].encode()
    return base64.b64decode(value["bytes"])


async def read_messages(
    stream: asyncio.StreamReader,
) -> AsyncGenerator[dict[str, Any] | None]:
    """Every message; None for one that is too long to be taken in.

    Raises:
        EOFError: There were too many of them.
    """
    left = MOST_BYTES
    begun = bytearray()
    too_long = False
    while piece := await stream.read(_READ_BYTES):
        left -= len(piece)
        if left < 0:
            raise EOFError
        *ended, rest = piece.split(b"\n")
        for end in ended:
            begun += end
            yield None if too_long else json.loads(bytes(begun))
            begun.clear()
            too_long = False
        too_long = too_long or len(begun) + len(rest) > MOST_MESSAGE_BYTES
        if too_long:
            begun.clear()
        else:
            begun += rest

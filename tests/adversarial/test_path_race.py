"""Somebody swaps a folder, or a file, for a link to the outside while we read."""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from handrail.executors.files.beneath import has_openat2, open_beneath, walk_beneath
from tests.adversarial.swapping import needs_swapping, swapping

pytestmark = [pytest.mark.slow, needs_swapping]

READ_SECONDS = 3
NAIVE_SECONDS = 20


@dataclass(frozen=True)
class Arena:
    """A workspace in which `path` is now a file of ours, now a way to somebody else's."""

    root: Path
    path: str


@pytest.fixture(params=["folder-on-the-way", "file-itself"])
def arena(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Arena]:
    root, outside = tmp_path / "ws", tmp_path / "outside"
    (root / "real").mkdir(parents=True)
    outside.mkdir()
    (root / "real" / "f").write_bytes(b"inside")
    (outside / "f").write_bytes(b"stolen")
    if request.param == "folder-on-the-way":
        good, evil, path = root / "real", root / "evil", "real/f"
        evil.symlink_to("../outside")
    else:
        good, evil, path = root / "real" / "f", root / "real" / "evil", "real/f"
        evil.symlink_to("../../outside/f")
    with swapping(good, evil):
        yield Arena(root, path)


def read(fd: int) -> bytes:
    try:
        return os.read(fd, 100)
    finally:
        os.close(fd)


def read_for(seconds: float, attempt: Callable[[], bytes]) -> Counter[str]:
    """Read again and again, until something was stolen or the time is up."""
    seen: Counter[str] = Counter()
    end = time.monotonic() + seconds
    while time.monotonic() < end and not seen["stolen"]:
        try:
            seen[attempt().decode()] += 1
        except OSError:
            seen["refused"] += 1
    return seen


@pytest.mark.parametrize(
    "way",
    [
        pytest.param(
            open_beneath,
            id="kernel",
            marks=pytest.mark.skipif(not has_openat2(), reason="this kernel has no openat2"),
        ),
        pytest.param(walk_beneath, id="walk"),
    ],
)
def test_no_race_leads_outside(arena: Arena, way: Callable[[int, str, int], int]) -> None:
    root_fd = os.open(arena.root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        seen = read_for(READ_SECONDS, lambda: read(way(root_fd, arena.path, os.O_RDONLY)))
    finally:
        os.close(root_fd)
    assert seen["stolen"] == 0
    # Both faces of the arena were met, many times: it was a race.
    assert seen["inside"] > 20
    assert seen["refused"] > 20


def test_checking_first_and_opening_then_is_beaten_in_the_same_arena(arena: Arena) -> None:
    root = os.path.realpath(arena.root)
    path = os.path.join(root, arena.path)

    def check_then_open() -> bytes:
        if not os.path.realpath(path).startswith(f"{root}/"):
            raise PermissionError(path)
        return read(os.open(path, os.O_RDONLY))

    seen = read_for(NAIVE_SECONDS, check_then_open)
    assert seen["stolen"], f"the arena is no danger to anyone, so it proves nothing: {seen}"

"""Somebody swaps a folder, or a file, for a link to the outside while we write."""

import asyncio
import os
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from handrail.core.errors import ToolError
from handrail.core.hands import FileState
from handrail.executors.files import beneath, place
from handrail.executors.files.beneath import has_openat2, walk_beneath
from handrail.executors.files.filesystem import FileSystemExecutor
from tests.adversarial.swapping import needs_swapping, swapping

pytestmark = [pytest.mark.slow, needs_swapping]

WRITE_SECONDS = 2
NAIVE_SECONDS = 20


@dataclass(frozen=True)
class Arena:
    """A workspace in which `path` is now a file of ours, now a way to somebody else's."""

    root: Path
    outside: Path
    path: str
    pair: tuple[Path, Path]

    @property
    def is_harmed(self) -> bool:
        names = {found.name for found in self.outside.iterdir()}
        return names != {"f"} or (self.outside / "f").read_bytes() != b"precious"

    def set_up_again(self) -> None:
        """Two that exchange names at the same time may end with two links, or with none."""
        links = sum(path.is_symlink() for path in self.pair)
        if links == 1:
            return
        spare = self.root / "spare"
        if links:
            spare.write_bytes(b"inside")
        else:
            spare.symlink_to("../../outside/f")
        spare.replace(self.pair[1])


@pytest.fixture(params=["folder-on-the-way", "folder-to-be-made", "file-itself"])
def arena(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Arena]:
    root, outside = tmp_path / "ws", tmp_path / "outside"
    (root / "real").mkdir(parents=True)
    outside.mkdir()
    (root / "real" / "f").write_bytes(b"inside")
    (outside / "f").write_bytes(b"precious")
    good, evil, path = root / "real", root / "evil", "real/f"
    match request.param:
        case "folder-on-the-way":
            evil.symlink_to("../outside")
        case "folder-to-be-made":
            evil.symlink_to("../outside")
            path = "real/made/f"
        case _:
            good, evil = root / "real" / "f", root / "real" / "evil"
            evil.symlink_to("../../outside/f")
    with swapping(good, evil):
        yield Arena(root, outside, path, (good, evil))


async def write_for(
    seconds: float, arena: Arena, attempt: Callable[[], Awaitable[None]]
) -> Counter[str]:
    """Write again and again, until something outside was harmed or the time is up."""
    seen: Counter[str] = Counter()
    end = time.monotonic() + seconds
    while time.monotonic() < end and not arena.is_harmed:
        if arena.pair[0].name == "f":
            arena.set_up_again()
        try:
            await attempt()
            seen["written"] += 1
        except (OSError, ToolError):
            seen["refused"] += 1
    return seen


@pytest.mark.parametrize("expected", [None, FileState(exists=False)], ids=["anything", "nothing"])
@pytest.mark.parametrize(
    "way",
    [
        pytest.param(
            beneath._by_kernel,
            id="kernel",
            marks=pytest.mark.skipif(not has_openat2(), reason="this kernel has no openat2"),
        ),
        pytest.param(walk_beneath, id="walk"),
    ],
)
async def test_no_race_is_won_against_a_write(
    arena: Arena,
    way: Callable[[int, str, int], int],
    expected: FileState | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(place, "open_beneath", way)
    with FileSystemExecutor(arena.root) as executor:
        seen = await write_for(
            WRITE_SECONDS,
            arena,
            lambda: executor.write(arena.path, b"planted", expected=expected),
        )
    assert not arena.is_harmed
    # It was a race: the bad face of the arena was met, many times.
    assert seen["refused"] > 10
    assert expected is not None or seen["written"] > 10


async def test_checking_first_and_writing_then_is_beaten_in_the_same_arena(arena: Arena) -> None:
    root = os.path.realpath(arena.root)
    path = os.path.join(root, arena.path)

    async def check_then_write() -> None:
        if not os.path.realpath(path).startswith(f"{root}/"):
            raise PermissionError(path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(b"planted")
        await asyncio.sleep(0)

    seen = await write_for(NAIVE_SECONDS, arena, check_then_write)
    assert arena.is_harmed, f"the arena is no danger to anyone, so it proves nothing: {seen}"

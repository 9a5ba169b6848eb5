"""Somebody swaps a folder for a link to the outside while it is listed, or searched."""

import asyncio
import os
import subprocess
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from handrail.core.errors import ToolError
from handrail.core.pattern import NamePattern
from handrail.core.search import Query
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.files.ripgrep import Ripgrep
from handrail.executors.files.search import SearchExecutor
from tests.adversarial.swapping import needs_swapping, swapping

pytestmark = [pytest.mark.slow, needs_swapping]

LOOK_SECONDS = 4
NAIVE_SECONDS = 20
ALL = NamePattern.read("**/*", recursive=True)


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A workspace in which `top/real` is now a folder of ours, now a way to somebody else's."""
    root, outside = tmp_path / "ws", tmp_path / "outside"
    for folder, word in ((root / "top" / "real", "inside"), (outside, "stolen")):
        folder.mkdir(parents=True)
        for number in range(20):
            (folder / f"{word}{number}.txt").write_text(f"needle {word}\n")
        (folder / "f.txt").write_text(f"needle {word}\n")
    good, evil = root / "top" / "real", root / "evil"
    evil.symlink_to(outside)
    with swapping(good, evil):
        yield root


async def look_for(seconds: float, attempt: Callable[[], Awaitable[str]]) -> Counter[str]:
    """Look again and again, until something was stolen or the time is up."""
    seen: Counter[str] = Counter()
    end = time.monotonic() + seconds
    while time.monotonic() < end and not seen["stolen"]:
        try:
            told = await attempt()
        except (ToolError, OSError):
            told = "refused"
        seen["stolen" if "stolen" in told else "inside" if "inside" in told else "nothing"] += 1
    return seen


@pytest.mark.parametrize("path", ["top", "top/real"], ids=["from-above", "itself"])
async def test_no_race_leads_a_listing_outside(root: Path, path: str) -> None:
    with FileSystemExecutor(root) as files:

        async def attempt() -> str:
            return repr(await files.list(path, ALL, most=1_000))

        seen = await look_for(LOOK_SECONDS, attempt)
    assert seen["stolen"] == 0
    assert min(seen["inside"], seen["nothing"]) > 10, seen


async def test_a_listing_by_names_is_beaten_in_the_same_arena(root: Path) -> None:
    async def attempt() -> str:
        await asyncio.sleep(0)
        found: list[str] = []
        for name in os.listdir(root / "top"):
            folder = root / "top" / name
            if not folder.is_symlink():
                found += os.listdir(folder)
        return repr(found)

    seen = await look_for(NAIVE_SECONDS, attempt)
    assert seen["stolen"], f"the arena is no danger to anyone, so it proves nothing: {seen}"


@pytest.mark.parametrize("path", ["top", "top/real"], ids=["from-above", "itself"])
async def test_no_race_leads_a_search_outside(root: Path, path: str) -> None:
    with FileSystemExecutor(root) as files, Ripgrep(files.root) as ripgrep:
        searcher = SearchExecutor(files, ripgrep)

        async def attempt() -> str:
            return repr(await searcher.search(Query("needle"), path, most=1_000))

        seen = await look_for(LOOK_SECONDS, attempt)
    assert seen["stolen"] == 0
    assert seen["inside"] > 10, seen


async def test_ripgrep_by_itself_is_beaten_in_the_same_arena(root: Path) -> None:
    with Ripgrep(str(root)) as ripgrep:
        argv = [ripgrep.program, "--no-config", "--no-follow", "needle", "top"]

        async def attempt() -> str:
            process = await asyncio.create_subprocess_exec(
                *argv, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            told, _ = await process.communicate()
            return told.decode()

        seen = await look_for(NAIVE_SECONDS, attempt)
    assert seen["stolen"], f"the arena is no danger to anyone, so it proves nothing: {seen}"

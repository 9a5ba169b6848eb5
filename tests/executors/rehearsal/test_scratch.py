"""Caches last from one rehearsal of a session to the next, and reach nothing else."""

import os
from pathlib import Path

import pytest

from handrail.core.effects import Dropped
from handrail.executors.rehearsal.scratch import is_scratch
from tests.executors.rehearsal.conftest import (
    OpenSession,
    RehearsalSession,
    changed_in,
    snapshot,
)


@pytest.mark.parametrize(
    "path",
    [
        "__pycache__",
        "src/deep/__pycache__",
        ".pytest_cache",
        ".mypy_cache",
        ".ruff_cache",
        ".hypothesis",
        "node_modules/.cache",
        "web/node_modules/.vite",
    ],
)
def test_caches_of_tools_are_scratch(path: str) -> None:
    assert is_scratch(path)


@pytest.mark.parametrize(
    "path", ["pycache", "node_modules", ".cache", "my__pycache__", "src/.vite", ".env", ""]
)
def test_everything_else_is_not(path: str) -> None:
    assert not is_scratch(path)


async def test_a_cache_is_kept_for_the_session_and_no_further(
    either: RehearsalSession, open_session: OpenSession, root: Path
) -> None:
    (root / "src").mkdir()
    before = snapshot(root)

    first = await either.shell("mkdir -p src/__pycache__; echo 1 > src/__pycache__/a; echo n > new")
    second = await either.shell("cat src/__pycache__/a; echo 2 > src/__pycache__/b")
    third = await either.shell("cat src/__pycache__/*")
    other = await open_session("other").shell("ls src")

    assert changed_in(first) == {"new", "src"}
    assert first.dropped == second.dropped == (Dropped("src/__pycache__", 1),)
    assert second.outcome.stdout == b"1\n"
    assert changed_in(second) == {"src"}
    assert third.outcome.stdout == b"1\n2\n"
    assert (third.dropped, changed_in(third)) == ((), set())
    assert other.outcome.stdout == b""
    assert snapshot(root) == before


async def test_a_cache_that_the_workspace_has_is_changed_for_the_session_only(
    session: RehearsalSession, root: Path
) -> None:
    cache = root / ".mypy_cache"
    cache.mkdir()
    for name in ("kept", "changed", "deleted"):
        (cache / name).write_text("real\n")
    before = snapshot(root)

    await session.shell("cd .mypy_cache; echo own > changed; echo own > added; rm deleted")
    second = await session.shell("cd .mypy_cache; grep -H . *")

    assert second.outcome.stdout == b"added:own\nchanged:own\nkept:real\n"
    assert snapshot(root) == before


async def test_a_kept_cache_that_is_deleted_is_gone_and_no_effect(
    session: RehearsalSession,
) -> None:
    await session.shell("mkdir .ruff_cache; echo 1 > .ruff_cache/a")

    deleting = await session.shell("rm -r .ruff_cache")
    after = await session.shell("ls -A")

    assert changed_in(deleting) == set()
    assert b".ruff_cache" not in after.outcome.stdout


async def test_deleting_a_cache_of_the_workspace_is_an_effect(
    session: RehearsalSession, root: Path
) -> None:
    (root / ".ruff_cache").mkdir()

    rehearsal = await session.shell("rm -r .ruff_cache")

    assert changed_in(rehearsal) == {".ruff_cache"}


async def test_a_kept_cache_goes_with_the_folder_that_it_was_in(
    session: RehearsalSession, root: Path
) -> None:
    (root / "src/deep").mkdir(parents=True)
    await session.shell("mkdir src/deep/__pycache__; echo 1 > src/deep/__pycache__/a")
    (root / "src/deep").rmdir()

    rehearsal = await session.shell("find src")

    assert rehearsal.outcome.stdout == b"src\n"


async def test_a_kept_cache_is_not_seen_through_a_folder_that_became_a_link(
    session: RehearsalSession, root: Path
) -> None:
    (root / "src").mkdir()
    (root / "other").mkdir()
    await session.shell("mkdir src/__pycache__; echo 1 > src/__pycache__/a")
    (root / "src").rmdir()
    (root / "src").symlink_to("other")

    rehearsal = await session.shell("readlink src; ls other")

    assert rehearsal.outcome.stdout == b"other\n"


async def test_a_link_or_a_file_with_the_name_of_a_cache_is_an_effect(
    session: RehearsalSession,
) -> None:
    rehearsal = await session.shell("ln -s /etc .mypy_cache; echo x > .ruff_cache")

    assert changed_in(rehearsal) == {".mypy_cache", ".ruff_cache"}
    assert rehearsal.dropped == ()


async def test_a_folder_keeps_its_mode_under_a_kept_cache(
    session: RehearsalSession, root: Path
) -> None:
    (root / "src").mkdir()
    (root / "src").chmod(0o751)
    await session.shell("mkdir src/__pycache__")

    rehearsal = await session.shell("stat -c %a . src")

    modes = [f"{os.stat(path).st_mode & 0o777:o}" for path in (root, root / "src")]
    assert rehearsal.outcome.stdout.decode().split() == modes

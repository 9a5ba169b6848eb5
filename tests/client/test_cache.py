"""What was read may be given again only while nobody has touched the file since."""

import mmap
import os
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handrail.app.clock import SystemClock
from handrail.client.cache import ContentCache
from handrail.core.hands import FileContent, FileVersion
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.files.version import nobody_writes
from handrail.testing import FakeClock

LIMIT = 100_000_000
SIZE = 300_000
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC).timestamp()


class LateClock(SystemClock):
    """Runs an hour fast, so that what was just written counts as settled."""

    def now(self) -> datetime:
        return super().now() + timedelta(hours=1)


class CountingCache(ContentCache):
    """Counts how often something was given again."""

    hits = 0

    def find(self, version: FileVersion) -> FileContent | None:
        found = super().find(version)
        self.hits += found is not None
        return found


def version(number: int, *, changed: float = LONG_AGO) -> FileVersion:
    return FileVersion(1, number, 1, 0o644, int(changed * 1e9), int(changed * 1e9))


def content(size: int = 1) -> FileContent:
    return FileContent(b"x" * size, size)


def test_what_was_kept_is_found() -> None:
    cache = ContentCache(FakeClock())
    cache.keep(version(1), content())
    assert cache.find(version(1)) == content()
    assert cache.find(version(2)) is None


@pytest.mark.parametrize("field", FileVersion._fields)
def test_another_version_is_another_file(field: str) -> None:
    cache = ContentCache(FakeClock())
    cache.keep(version(1), content())
    other = version(1)._replace(**{field: getattr(version(1), field) + 1})
    assert cache.find(other) is None


def test_after_five_minutes_it_is_forgotten() -> None:
    clock = FakeClock()
    cache = ContentCache(clock)
    cache.keep(version(1), content())
    clock.advance(299)
    assert cache.find(version(1)) is not None
    clock.advance(1)
    assert cache.find(version(1)) is None


def test_outdated_ones_leave_room_for_others() -> None:
    clock = FakeClock()
    cache = ContentCache(clock, max_bytes=10)
    cache.keep(version(1), content(10))
    clock.advance(300)
    cache.keep(version(2), content(5))
    assert cache._bytes == 5


@pytest.mark.parametrize("age", [-10, 0, 1, 2], ids=lambda age: f"{age}s")
@pytest.mark.parametrize("field", ["modified_ns", "changed_ns"])
def test_what_has_just_changed_is_not_kept(age: int, field: str) -> None:
    clock = FakeClock()
    cache = ContentCache(clock)
    lately = version(1)._replace(**{field: int((clock.now().timestamp() - age) * 1e9)})
    cache.keep(lately, content())
    assert cache.find(lately) is None


def test_the_longest_unused_goes_first() -> None:
    cache = ContentCache(FakeClock(), max_bytes=30)
    for number in (1, 2, 3):
        cache.keep(version(number), content(10))
    cache.find(version(1))
    cache.keep(version(4), content(10))
    assert [cache.find(version(number)) is not None for number in (1, 2, 3, 4)] == [
        True, False, True, True,
    ]  # fmt: skip


def test_what_is_too_large_drives_nobody_out() -> None:
    cache = ContentCache(FakeClock(), max_bytes=30)
    cache.keep(version(1), content(30))
    cache.keep(version(2), content(31))
    assert cache.find(version(1)) is not None
    assert cache.find(version(2)) is None


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 40), st.integers(0, 200))))
def test_it_never_holds_more_than_it_may(steps: list[tuple[int, int, int]]) -> None:
    clock = FakeClock()
    cache = ContentCache(clock, max_bytes=60)
    for number, size, seconds in steps:
        cache.keep(version(number), content(size))
        clock.advance(seconds)
        held = [kept.content.size for kept in cache._kept.values()]
        assert sum(held) == cache._bytes <= 60


@pytest.fixture
def cache() -> CountingCache:
    return CountingCache(LateClock())


@pytest.fixture
def files(tmp_path: Path, cache: CountingCache) -> Iterator[FileSystemExecutor]:
    with FileSystemExecutor(tmp_path, cache=cache) as made:
        yield made


async def test_a_large_file_is_read_once(
    files: FileSystemExecutor, cache: CountingCache, tmp_path: Path
) -> None:
    (tmp_path / "a").write_bytes(b"x" * SIZE)
    first = await files.read("a", max_bytes=LIMIT)
    again = await files.read("a", max_bytes=LIMIT)
    assert (first, again.data is first.data, cache.hits) == (again, True, 1)


async def test_a_small_file_is_not_worth_keeping(
    files: FileSystemExecutor, cache: CountingCache, tmp_path: Path
) -> None:
    (tmp_path / "a").write_bytes(b"x" * 2_000)
    for _ in range(3):
        await files.read("a", max_bytes=LIMIT)
    assert cache.hits == 0


async def test_what_may_no_longer_be_read_is_not_given_again(
    files: FileSystemExecutor, tmp_path: Path
) -> None:
    (tmp_path / "a").write_bytes(b"x" * SIZE)
    await files.read("a", max_bytes=LIMIT)
    (tmp_path / "a").rename(tmp_path / ".env")
    (tmp_path / "a").symlink_to(".env")
    with pytest.raises(Exception, match="environment files hold secrets"):
        await files.read("a", max_bytes=LIMIT)


async def test_a_smaller_limit_counts_for_what_is_kept_too(
    files: FileSystemExecutor, tmp_path: Path
) -> None:
    (tmp_path / "a").write_bytes(b"x" * SIZE)
    await files.read("a", max_bytes=LIMIT)
    with pytest.raises(Exception, match="at most 1,000"):
        await files.read("a", max_bytes=1_000)


@pytest.mark.parametrize("how", ["open", "mapped"])
async def test_what_somebody_may_be_writing_is_not_kept(
    files: FileSystemExecutor, cache: CountingCache, tmp_path: Path, how: str
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * SIZE)
    with path.open("r+b") as writer:
        mapped = mmap.mmap(writer.fileno(), SIZE)
        if how == "mapped":
            writer.close()
        # The first change moves the times of the file; further ones do not.
        mapped[0] = ord("a")
        assert (await files.read("a", max_bytes=LIMIT)).data[:2] == b"ax"
        mapped[1] = ord("b")
        assert (await files.read("a", max_bytes=LIMIT)).data[:2] == b"ab"
        mapped.close()
    assert cache.hits == 0


def test_asking_who_writes_neither_ends_us_nor_holds_anybody_up(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x")
    reading = os.open(path, os.O_RDONLY)
    try:
        for _ in range(200):
            nobody_writes(reading)
            os.close(os.open(path, os.O_WRONLY))
        writing = os.open(path, os.O_WRONLY)
        assert not nobody_writes(reading)
        os.close(writing)
    finally:
        os.close(reading)


# Every nasty way to change a file, most of which leave its size and its time as they were.
def in_place(path: Path, data: bytes) -> None:
    with path.open("r+b") as file:
        file.write(data)


def and_restore_its_time(path: Path, data: bytes) -> None:
    before = path.stat()
    in_place(path, data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def rename_over(path: Path, data: bytes) -> None:
    before = path.stat()
    other = path.with_name("other")
    other.write_bytes(data)
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.rename(path)


def truncate_and_write(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def swap_hard_links(path: Path, data: bytes) -> None:
    other = path.with_name("other")
    other.unlink(missing_ok=True)
    other.write_bytes(data)
    path.unlink()
    os.link(other, path)


def through_a_mapping(path: Path, data: bytes) -> None:
    with path.open("r+b") as file, mmap.mmap(file.fileno(), SIZE) as mapped:
        mapped[:] = data


def through_a_second_name(path: Path, data: bytes) -> None:
    other = path.with_name("second")
    other.unlink(missing_ok=True)
    os.link(path, other)
    in_place(other, data)
    other.unlink()


WAYS: list[Callable[[Path, bytes], None]] = [
    in_place,
    and_restore_its_time,
    rename_over,
    truncate_and_write,
    swap_hard_links,
    through_a_mapping,
    through_a_second_name,
]


@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.tuples(st.sampled_from(WAYS), st.integers(1, 3)), min_size=3, max_size=12))
async def test_no_change_however_nasty_is_missed(
    tmp_path: Path, steps: list[tuple[Callable[[Path, bytes], None], int]]
) -> None:
    path = tmp_path / "a"
    path.unlink(missing_ok=True)
    path.write_bytes(b"-" * SIZE)
    cache = CountingCache(LateClock())
    with FileSystemExecutor(tmp_path, cache=cache) as files:
        for number, (change, reads) in enumerate(steps):
            time.sleep(0.01)  # A tick of the kernel's clock; within one, the next test.
            data = bytes([ord("A") + number]) * SIZE
            change(path, data)
            for _ in range(reads):
                assert (await files.read("a", max_bytes=LIMIT)).data == data, change
    assert cache.hits == sum(reads - 1 for _, reads in steps)


async def test_changes_within_one_tick_of_the_clock_are_not_missed(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"-" * SIZE)
    cache = CountingCache(SystemClock())
    with FileSystemExecutor(tmp_path, cache=cache) as files:
        for number in range(500):
            data = bytes([number % 256]) * SIZE
            in_place(path, data)
            assert (await files.read("a", max_bytes=LIMIT)).data == data
    assert cache.hits == 0


async def test_a_file_that_has_settled_is_kept_by_the_real_clock(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * SIZE)
    cache = CountingCache(SystemClock())
    with FileSystemExecutor(tmp_path, cache=cache) as files:
        time.sleep(2.3)
        for _ in range(2):
            await files.read("a", max_bytes=LIMIT)
    assert cache.hits == 1

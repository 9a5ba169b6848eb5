import asyncio
import os
import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from handrail.core.errors import FileOperationError, PathValidationError
from handrail.core.files import EntryKind
from handrail.core.hands import Entry, Listing
from handrail.core.pattern import NamePattern
from handrail.executors.files import beneath, filesystem, listing
from handrail.executors.files.beneath import has_openat2, walk_beneath
from handrail.executors.files.filesystem import FileSystemExecutor
from tests.executors.conftest import somebody_else

WAYS = [
    pytest.param(
        beneath._by_kernel,
        id="kernel",
        marks=pytest.mark.skipif(not has_openat2(), reason="this kernel has no openat2"),
    ),
    pytest.param(walk_beneath, id="walk"),
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "ws"
    (made / "src" / "deep").mkdir(parents=True)
    (made / "b.txt").write_bytes(b"12345")
    (made / "a.py").write_bytes(b"")
    (made / "src" / "c.py").write_bytes(b"1")
    (made / "src" / "deep" / "d.py").write_bytes(b"12")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "stolen.py").write_bytes(b"not yours")
    return made


@pytest.fixture(params=WAYS)
def files(
    request: pytest.FixtureRequest, root: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[FileSystemExecutor]:
    monkeypatch.setattr(filesystem, "open_beneath", request.param)
    with FileSystemExecutor(root) as made:
        yield made


async def listed(
    files: FileSystemExecutor,
    path: str = ".",
    pattern: str = "*",
    *,
    recursive: bool = False,
    most: int = 1_000,
) -> Listing:
    return await files.list(path, NamePattern.read(pattern, recursive=recursive), most=most)


async def paths(files: FileSystemExecutor, *args: str, recursive: bool = False) -> list[str]:
    found = await listed(files, *args, recursive=recursive)
    assert found.total == len(found.entries)
    assert (found.skipped, found.whole) == ((), True)
    return [entry.path for entry in found.entries]


async def test_a_folder_is_listed_in_order(files: FileSystemExecutor) -> None:
    assert await paths(files) == ["a.py", "b.txt", "src"]


async def test_what_lies_below_follows_its_folder(files: FileSystemExecutor) -> None:
    everything = ["a.py", "b.txt", "src", "src/c.py", "src/deep", "src/deep/d.py"]
    assert await paths(files, recursive=True) == everything


async def test_paths_begin_at_the_workspace(files: FileSystemExecutor) -> None:
    assert await paths(files, "src", "*.py", recursive=True) == ["src/c.py", "src/deep/d.py"]


async def test_each_entry_says_what_it_is(files: FileSystemExecutor, root: Path) -> None:
    (root / "link").symlink_to("src")
    os.mkfifo(root / "pipe")
    os.utime(root / "b.txt", (1_700_000_000, 1_700_000_000))
    kinds = {entry.path: entry.kind for entry in (await listed(files)).entries}
    assert kinds == {
        "a.py": EntryKind.FILE,
        "b.txt": EntryKind.FILE,
        "link": EntryKind.LINK,
        "pipe": EntryKind.OTHER,
        "src": EntryKind.DIRECTORY,
    }
    when = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    assert (await listed(files, ".", "b.txt")).entries == (Entry("b.txt", EntryKind.FILE, 5, when),)


async def test_a_socket_is_neither_file_nor_folder(
    files: FileSystemExecutor, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("s")
        assert [entry.kind for entry in (await listed(files, ".", "s")).entries] == [
            EntryKind.OTHER
        ]


@pytest.mark.parametrize("target", ["src", "../outside", "/etc", "nowhere", "."])
async def test_a_link_is_listed_and_never_entered(
    files: FileSystemExecutor, root: Path, target: str
) -> None:
    (root / "link").symlink_to(target)
    found = await listed(files, ".", "*", recursive=True)
    below = [entry for entry in found.entries if entry.path.startswith("link")]
    assert [(entry.path, entry.kind) for entry in below] == [("link", EntryKind.LINK)]
    assert found.skipped == ()


async def test_a_link_to_a_folder_inside_can_be_the_path(
    files: FileSystemExecutor, root: Path
) -> None:
    (root / "link").symlink_to("src")
    assert await paths(files, "link") == ["link/c.py", "link/deep"]


@pytest.mark.parametrize("path", ["link", "link/.."])
async def test_a_link_that_leads_outside_is_refused(
    files: FileSystemExecutor, root: Path, path: str
) -> None:
    (root / "link").symlink_to("../outside")
    with pytest.raises(PathValidationError):
        await listed(files, path)


async def test_a_link_does_not_lend_its_name_to_a_protected_folder(
    files: FileSystemExecutor, root: Path
) -> None:
    (root / ".ssh").mkdir()
    (root / "link").symlink_to(".ssh")
    with pytest.raises(PathValidationError, match=r"link leads to \.ssh: "):
        await listed(files, "link")


async def test_hidden_entries_come_only_if_they_are_asked_for(
    files: FileSystemExecutor, root: Path
) -> None:
    (root / ".github").mkdir()
    (root / ".github" / "ci.yml").write_bytes(b"")
    (root / "src" / ".hidden").write_bytes(b"")
    assert ".github" not in await paths(files)
    assert await paths(files, ".", ".*") == [".github"]
    assert await paths(files, ".", ".*", recursive=True) == [".github", "src/.hidden"]
    assert await paths(files, ".github") == [".github/ci.yml"]
    assert await paths(files, ".", "**/ci.yml") == []
    assert await paths(files, ".", ".github/*") == []


async def test_a_protected_file_is_named_and_a_protected_folder_not_entered(
    files: FileSystemExecutor, root: Path
) -> None:
    (root / "server.key").write_bytes(b"")
    (root / "credentials").mkdir()
    (root / "credentials" / "aws").write_bytes(b"")
    found = await paths(files, recursive=True)
    assert {"server.key", "credentials"} < set(found)
    assert "credentials/aws" not in found


async def test_protected_is_what_is_so_by_its_true_name(
    files: FileSystemExecutor, root: Path
) -> None:
    (root / ".config" / "gh").mkdir(parents=True)
    (root / ".config" / "gh" / "hosts.yml").write_bytes(b"")
    (root / "conf").symlink_to(".config")
    assert await paths(files, "conf", recursive=True) == ["conf/gh"]


async def test_names_that_are_no_text_are_listed(files: FileSystemExecutor, root: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    (root / name).mkdir()
    (root / name / "menu").write_bytes(b"")
    assert await paths(files, ".", "caf*", recursive=True) == [name]
    assert await paths(files, name) == [f"{name}/menu"]


async def test_only_so_many_are_returned_and_all_are_counted(
    files: FileSystemExecutor, root: Path
) -> None:
    (root / "many").mkdir()
    for number in range(50):
        (root / "many" / f"{number:02}").write_bytes(b"")
    found = await listed(files, "many", most=3)
    assert [entry.path for entry in found.entries] == ["many/00", "many/01", "many/02"]
    assert (found.total, found.whole) == (50, True)


@pytest.mark.parametrize("path", ["a.py", "a.py/x"])
async def test_a_file_is_no_folder(files: FileSystemExecutor, path: str) -> None:
    with pytest.raises(FileOperationError, match="not a directory"):
        await listed(files, path)


async def test_a_missing_folder_is_said_to_be_missing(files: FileSystemExecutor) -> None:
    with pytest.raises(FileOperationError, match=r"^nothing does not exist$"):
        await listed(files, "nothing")


async def test_a_time_that_no_calendar_knows_is_left_out(
    files: FileSystemExecutor, root: Path
) -> None:
    try:
        os.utime(root / "a.py", (1e15, 1e15))
    except OSError:
        pytest.skip("this file system does not take such a time")
    (entry,) = (await listed(files, ".", "a.py")).entries
    year_of_the_latest = 9999
    assert entry.modified is None or entry.modified.year <= year_of_the_latest


async def test_a_closed_folder_is_skipped_and_named(files: FileSystemExecutor, root: Path) -> None:
    (root / "src" / "deep").chmod(0)
    try:
        with somebody_else():
            found = await listed(files, recursive=True)
    finally:
        (root / "src" / "deep").chmod(0o755)
    assert [entry.path for entry in found.entries] == [
        "a.py",
        "b.txt",
        "src",
        "src/c.py",
        "src/deep",
    ]
    assert found.skipped == ("src/deep",)


async def test_a_folder_that_shows_only_its_names_is_listed_by_them(
    files: FileSystemExecutor, root: Path
) -> None:
    (root / "src").chmod(0o444)
    try:
        with somebody_else():
            found = await listed(files, "src", "*", recursive=True)
    finally:
        (root / "src").chmod(0o755)
    assert found.entries == (
        Entry("src/c.py", EntryKind.FILE),
        Entry("src/deep", EntryKind.DIRECTORY),
    )
    assert found.skipped == ("src/deep",)


async def test_a_folder_that_vanishes_on_the_way_is_skipped_and_named(
    files: FileSystemExecutor, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "zoo").mkdir()
    real = listing._Walk._may_enter

    def vanish_then_enter(self: listing._Walk, found: "os.DirEntry[str]", path: str) -> bool:
        may = real(self, found, path)
        if path == "zoo":
            (root / "zoo").rmdir()
        return may

    monkeypatch.setattr(listing._Walk, "_may_enter", vanish_then_enter)
    found = await listed(files, recursive=True)
    assert found.skipped == ("zoo",)
    assert "src/deep/d.py" in [entry.path for entry in found.entries]


async def test_a_folder_that_becomes_a_link_on_the_way_is_not_entered(
    files: FileSystemExecutor, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "zoo").mkdir()
    real = listing._Walk._may_enter

    def swap_then_enter(self: listing._Walk, found: "os.DirEntry[str]", path: str) -> bool:
        may = real(self, found, path)
        if path == "zoo":
            (root / "zoo").rmdir()
            (root / "zoo").symlink_to("../outside")
        return may

    monkeypatch.setattr(listing._Walk, "_may_enter", swap_then_enter)
    found = await listed(files, recursive=True)
    assert found.skipped == ("zoo",)
    assert "zoo/stolen.py" not in [entry.path for entry in found.entries]


async def test_too_deep_a_folder_is_skipped_and_named(
    files: FileSystemExecutor, root: Path
) -> None:
    way = root / "deep"
    for _ in range(listing.MOST_LEVELS + 5):
        way /= "d"
    way.mkdir(parents=True)
    found = await listed(files, recursive=True)
    assert len(found.skipped) == 1
    assert found.skipped[0].count("/") == listing.MOST_LEVELS - 1


async def test_what_is_too_much_to_look_at_is_cut_and_said(
    files: FileSystemExecutor, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "MOST_LOOKED_AT", 20)
    (root / "many").mkdir()
    for number in range(50):
        (root / "many" / str(number)).write_bytes(b"")
    found = await listed(files, "many")
    assert (found.total, found.whole) == (20, False)


async def test_a_huge_tree_is_cut_in_time_while_others_go_on(
    files: FileSystemExecutor, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "MOST_LOOKED_AT", 15_000)
    huge = root / "huge"
    for folder in range(20):
        (huge / f"{folder}").mkdir(parents=True)
        for number in range(1_000):
            os.close(os.open(huge / f"{folder}" / f"{number}", os.O_CREAT | os.O_WRONLY))
    async with asyncio.TaskGroup() as group:
        listing_it = group.create_task(listed(files, "huge", "*", recursive=True))
        beats = 0
        while not listing_it.done():
            await asyncio.sleep(0)
            beats += 1
    found = listing_it.result()
    assert (found.total, found.whole, len(found.entries)) == (15_000, False, 1_000)
    assert beats > 10


async def test_what_takes_too_long_is_cut_and_said(
    files: FileSystemExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "MOST_SECONDS", 0.0)
    found = await listed(files, recursive=True)
    assert [entry.path for entry in found.entries] == ["a.py", "b.txt", "src"]
    assert not found.whole


async def test_no_folder_stays_open(files: FileSystemExecutor, root: Path) -> None:
    before = len(os.listdir("/dev/fd"))
    (root / "link").symlink_to("../outside")
    await listed(files, recursive=True)
    for path in ("link", "a.py", "nothing"):
        with pytest.raises((PathValidationError, FileOperationError)):
            await listed(files, path)
    await asyncio.sleep(0)
    assert len(os.listdir("/dev/fd")) == before

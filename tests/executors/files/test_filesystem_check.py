import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail.core.errors import PathValidationError
from handrail.executors.files import filesystem, opened
from handrail.executors.files.beneath import has_openat2, walk_beneath
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.testing import FakeFiles


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "ws"
    (made / "dir").mkdir(parents=True)
    (made / "dir" / "f").write_bytes(b"inside")
    (made / ".env").write_bytes(b"KEY=1")
    (made / ".git" / "hooks").mkdir(parents=True)
    (made / ".git" / "HEAD").write_bytes(b"ref")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "f").write_bytes(b"stolen")
    return made


@pytest.fixture(params=["kernel", "walk"])
def executor(
    request: pytest.FixtureRequest, root: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[FileSystemExecutor]:
    if request.param == "walk":
        monkeypatch.setattr(filesystem, "open_beneath", walk_beneath)
        monkeypatch.setattr(opened, "has_openat2", lambda: False)
    elif not has_openat2():
        pytest.skip("this kernel has no openat2")
    with FileSystemExecutor(root) as made:
        yield made


@pytest.mark.parametrize("writing", [False, True])
@pytest.mark.parametrize(
    "path", [".", "dir", "dir/", "dir/f", "./dir//f", "dir/../dir/f", "link", "folder/f"]
)
async def test_what_lies_inside_is_fine(
    executor: FileSystemExecutor, root: Path, path: str, writing: bool
) -> None:
    (root / "link").symlink_to("dir/f")
    (root / "folder").symlink_to("dir")
    await executor.check(path, writing=writing)


@pytest.mark.parametrize("writing", [False, True])
@pytest.mark.parametrize(
    "path", ["no", "no/such", "dir/no", "dir/f/no", "x" * 300, "x/" * 3_000, "a\0b", "a\ud800"]
)
async def test_nothing_there_is_fine(
    executor: FileSystemExecutor, path: str, writing: bool
) -> None:
    await executor.check(path, writing=writing)


@pytest.mark.parametrize("writing", [False, True])
@pytest.mark.parametrize(
    "target",
    ["../outside/f", "/etc/hostname", "../outside/new", "/no/such/thing", "/proc/self/cwd", ".."],
)
async def test_link_that_leads_outside_is_refused(
    executor: FileSystemExecutor, root: Path, target: str, writing: bool
) -> None:
    (root / "link").symlink_to(target)
    for path in ("link", "./link", "dir/../link"):
        with pytest.raises(PathValidationError):
            await executor.check(path, writing=writing)


async def test_folder_that_leads_outside_is_refused_with_all_below_it(
    executor: FileSystemExecutor, root: Path
) -> None:
    (root / "folder").symlink_to("../outside")
    for path in ("folder/f", "folder/no", "folder/", "folder/../dir/f"):
        with pytest.raises(PathValidationError):
            await executor.check(path, writing=False)


@pytest.mark.parametrize(
    "path", ["/", "/etc/hostname", "..", "../outside/f", "dir/../../outside/f"]
)
@pytest.mark.parametrize("writing", [False, True])
async def test_path_that_climbs_out_is_refused_though_nobody_judged_it(
    executor: FileSystemExecutor, path: str, writing: bool
) -> None:
    with pytest.raises(PathValidationError):
        await executor.check(path, writing=writing)


async def test_circle_of_links_is_refused(executor: FileSystemExecutor, root: Path) -> None:
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")
    with pytest.raises(PathValidationError):
        await executor.check("a", writing=False)


async def test_link_lends_no_harmless_name(executor: FileSystemExecutor, root: Path) -> None:
    (root / "notes").symlink_to(".env")
    with pytest.raises(PathValidationError, match=r"^notes leads to \.env: environment files"):
        await executor.check("notes", writing=False)


async def test_what_may_be_read_but_not_written_is_refused_for_writing_only(
    executor: FileSystemExecutor, root: Path
) -> None:
    (root / "head").symlink_to(".git/HEAD")
    (root / "hooks").symlink_to(".git/hooks")
    for path in ("head", "hooks", "hooks/", "hooks/new", "hooks/new/", "./hooks/new/deeper"):
        await executor.check(path, writing=False)
        with pytest.raises(PathValidationError):
            await executor.check(path, writing=True)


async def test_link_that_leads_nowhere_is_refused_for_writing_only(
    executor: FileSystemExecutor, root: Path
) -> None:
    (root / "link").symlink_to(".git/hooks/pre-commit")
    await executor.check("link", writing=False)
    with pytest.raises(PathValidationError, match=r"^link goes through a link that leads nowhere$"):
        await executor.check("link", writing=True)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="there is no /proc on this system")
async def test_no_descriptor_is_left_open(executor: FileSystemExecutor, root: Path) -> None:
    (root / "link").symlink_to("/etc/hostname")
    (root / "gone").symlink_to("no")
    before = os.listdir("/proc/self/fd")
    for path in ("dir/f", "no", "gone"):
        await executor.check(path, writing=False)
    for path in ("link", "gone"):
        with pytest.raises(PathValidationError):
            await executor.check(path, writing=True)
    assert os.listdir("/proc/self/fd") == before


async def test_nothing_leads_anywhere_in_the_stand_in() -> None:
    await FakeFiles({}).check("anything", writing=True)


async def test_the_inside_of_a_repository_is_known_whatever_its_name(
    executor: FileSystemExecutor, root: Path
) -> None:
    for name in ("objects", "refs", "hooks"):
        (root / "dir" / "pub" / name).mkdir(parents=True)
    (root / "dir" / "pub" / "config").write_bytes(b"[core]")
    await executor.check("dir/pub/config", writing=True)

    (root / "dir" / "pub" / "HEAD").write_bytes(b"ref")

    for path, writing in (("dir/pub/config", False), ("dir/pub/hooks/pre-commit", True)):
        with pytest.raises(PathValidationError, match=r"\.git"):
            await executor.check(path, writing=writing)
    with pytest.raises(PathValidationError, match="password"):
        await executor.read("dir/pub/config", max_bytes=100)
    with pytest.raises(PathValidationError, match="run programs"):
        await executor.write("dir/pub/hooks/pre-commit", b"x", expected=None)
    assert executor.is_protected("dir/pub/config")
    assert not executor.is_protected("dir/config")
    await executor.check("dir/pub/HEAD", writing=False)

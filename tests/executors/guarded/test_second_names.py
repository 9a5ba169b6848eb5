"""Real hard links, from places where package managers and attackers make them."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from handrail.core.errors import PathValidationError
from handrail.core.pattern import NamePattern
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.guarded import second_names

LIMIT = 100_000_000


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "home"
    made.mkdir()
    monkeypatch.setenv("HOME", str(made))
    return made


@pytest.fixture
def files(home: Path, tmp_path: Path) -> Iterator[FileSystemExecutor]:
    (tmp_path / "ws").mkdir()
    with FileSystemExecutor(tmp_path / "ws", private=[tmp_path / "handrail"]) as made:
        yield made


def link(tmp_path: Path, target: Path, content: str = "content") -> None:
    """Make a file somewhere, and give it the harmless name `a.txt` in the workspace too."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(content)
    os.link(target, tmp_path / "ws" / "a.txt")


@pytest.mark.parametrize(
    "cache",
    [".cache/uv/archive/x/a.py", ".local/share/pnpm/store/v3/files/ab/cd", ".cargo/registry/a.rs"],
)
@pytest.mark.usefixtures("home")
async def test_a_file_of_a_package_managers_cache_is_read(
    files: FileSystemExecutor, tmp_path: Path, cache: str
) -> None:
    link(tmp_path, tmp_path / "home" / cache)
    assert (await files.read("a.txt", max_bytes=LIMIT)).data == b"content"


async def test_two_names_inside_the_workspace_are_read(
    files: FileSystemExecutor, tmp_path: Path
) -> None:
    link(tmp_path, tmp_path / "ws" / "target" / "b.txt")
    assert (await files.read("a.txt", max_bytes=LIMIT)).data == b"content"
    assert (await files.read("target/b.txt", max_bytes=LIMIT)).data == b"content"


@pytest.mark.parametrize(
    "secret",
    [
        ".ssh/id_ed25519",
        ".ssh/keys/deep/down/work",
        ".netrc",
        ".aws/credentials",
        ".config/gh/hosts.yml",
        ".cargo/credentials.toml",
        ".gnupg/private-keys-v1.d/a",
        ".env",
        "server.pem",
    ],
)
async def test_a_credential_of_this_user_is_not_read_by_a_second_name(
    files: FileSystemExecutor, tmp_path: Path, home: Path, secret: str
) -> None:
    link(tmp_path, home / secret)
    with pytest.raises(
        PathValidationError, match=r"^a\.txt is a hard link to a file that contains"
    ):
        await files.read("a.txt", max_bytes=LIMIT)


async def test_handrails_own_files_are_not_read_by_a_second_name(
    files: FileSystemExecutor, tmp_path: Path
) -> None:
    link(tmp_path, tmp_path / "handrail" / "credentials" / "x.json")
    with pytest.raises(PathValidationError, match="contains secrets"):
        await files.read("a.txt", max_bytes=LIMIT)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
async def test_a_strangers_file_is_not_read_by_a_second_name(
    files: FileSystemExecutor, tmp_path: Path
) -> None:
    link(tmp_path, tmp_path / "elsewhere" / "b.txt")
    os.chown(tmp_path / "ws" / "a.txt", 12345, 12345)
    with pytest.raises(PathValidationError, match="is a hard link to a file of another user"):
        await files.read("a.txt", max_bytes=LIMIT)
    (tmp_path / "elsewhere" / "b.txt").unlink()
    assert (await files.read("a.txt", max_bytes=LIMIT)).data == b"content"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
async def test_the_owner_of_the_workspace_is_no_stranger(home: Path, tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    os.chown(tmp_path / "ws", 12345, 12345)
    link(tmp_path, home / ".cache" / "b.txt")
    os.chown(tmp_path / "ws" / "a.txt", 12345, 12345)
    with FileSystemExecutor(tmp_path / "ws") as files:
        assert (await files.read("a.txt", max_bytes=LIMIT)).data == b"content"


async def test_a_secret_made_later_is_known_after_a_while(
    files: FileSystemExecutor, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link(tmp_path, tmp_path / "elsewhere" / "b.txt")
    await files.read("a.txt", max_bytes=LIMIT)
    (home / ".ssh").mkdir()
    os.link(tmp_path / "ws" / "a.txt", home / ".ssh" / "key")
    monkeypatch.setattr(second_names, "_FRESH_SECONDS", 0.0)
    with pytest.raises(PathValidationError):
        await files.read("a.txt", max_bytes=LIMIT)


async def test_a_home_is_not_looked_through_for_every_file(
    files: FileSystemExecutor, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link(tmp_path, home / ".cache" / "b.txt")
    looks = 0
    real = second_names._names_in

    def count(folder: str) -> list[str]:
        nonlocal looks
        looks += 1
        assert threading.current_thread() is not threading.main_thread()
        return real(folder)

    monkeypatch.setattr(second_names, "_names_in", count)
    for _ in range(50):
        await files.read("a.txt", max_bytes=LIMIT)
    assert looks == 2


async def test_a_home_full_of_secrets_is_looked_through_so_far_and_no_further(
    files: FileSystemExecutor, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(second_names, "_MOST_LOOKED_AT", 100)
    (home / ".ssh").mkdir()
    for number in range(2_000):
        (home / ".ssh" / f"{number}").touch()
    link(tmp_path, home / ".cache" / "b.txt")
    looks = 0
    real = os.stat

    def count(path: str | int, **how: Any) -> os.stat_result:
        nonlocal looks
        looks += isinstance(path, str) and ".ssh" in path
        return real(path, **how)

    monkeypatch.setattr(os, "stat", count)
    await files.read("a.txt", max_bytes=LIMIT)
    assert 0 < looks <= 101


async def test_a_machine_without_a_home_is_no_trouble(
    files: FileSystemExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/nonexistent")
    link(tmp_path, tmp_path / "elsewhere" / "b.txt")
    assert (await files.read("a.txt", max_bytes=LIMIT)).data == b"content"


async def test_what_is_private_is_not_seen_where_it_lies_in_the_workspace(tmp_path: Path) -> None:
    own = tmp_path / "ws" / "own"
    own.mkdir(parents=True)
    (own / "token").write_text("hush")
    (tmp_path / "ws" / "link").symlink_to("own")
    with FileSystemExecutor(tmp_path / "ws", private=[own]) as files:
        for attempt in (
            files.read("own/token", max_bytes=LIMIT),
            files.read("link/token", max_bytes=LIMIT),
            files.list("own", NamePattern.read("*", recursive=False), most=10),
            files.write("own/new", b"x", expected=None),
        ):
            with pytest.raises(
                PathValidationError, match="agents may not see or change anything in it"
            ):
                await attempt

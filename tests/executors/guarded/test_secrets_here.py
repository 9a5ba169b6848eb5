"""A guarded file of the workspace is not read under another name that it has there."""

import os
from pathlib import Path

import pytest

from handrail.core.errors import PathValidationError
from handrail.core.search import Query
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.files.ripgrep import Ripgrep
from handrail.executors.files.search import SearchExecutor
from handrail.executors.guarded import names as guarded_module
from handrail.executors.guarded import secrets_here
from handrail.policy.rulebook.rules import Rules

LIMIT = 1_000_000


def put(path: Path, text: str = "hush") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def other_name(root: Path, request: pytest.FixtureRequest) -> str:
    """A file whose own name is harmless, and which has a guarded one besides."""
    match request.param:
        case "target of a link":
            put(root / "config" / "local.txt")
            (root / ".env").symlink_to("config/local.txt")
            return "config/local.txt"
        case "target of a link in a hidden folder":
            put(root / "keys" / "work.txt")
            (root / ".ssh").mkdir()
            (root / ".ssh" / "id_rsa").symlink_to("../keys/work.txt")
            return "keys/work.txt"
        case "in the target of a link":
            put(root / "keys" / "work.txt")
            (root / ".ssh").symlink_to("keys")
            return "keys/work.txt"
        case _:
            (root / "secrets.json").hardlink_to(put(root / "plain.txt"))
            return "plain.txt"


names = pytest.mark.parametrize(
    "other_name",
    [
        "target of a link",
        "target of a link in a hidden folder",
        "in the target of a link",
        "hard link",
    ],
    indirect=True,
)


@names
async def test_it_is_not_read(files: FileSystemExecutor, other_name: str) -> None:
    with pytest.raises(PathValidationError, match="a hard link in this workspace"):
        await files.read(other_name, max_bytes=LIMIT)


@names
async def test_it_is_not_found_by_a_search(files: FileSystemExecutor, other_name: str) -> None:
    with Ripgrep(files.root) as ripgrep:
        found = await SearchExecutor(files, ripgrep).search(Query("hush"), ".", most=10)
    assert found.total == 0, other_name


async def test_it_is_not_shown_as_what_a_write_displaces(
    files: FileSystemExecutor, root: Path
) -> None:
    put(root / "local.txt")
    (root / ".env").symlink_to("local.txt")
    with pytest.raises(PathValidationError, match="a hard link in this workspace"):
        await files.find("local.txt", max_bytes=LIMIT)


async def test_a_name_that_comes_later_counts_after_a_while(
    files: FileSystemExecutor, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secrets_here, "_LEAST_SECONDS", -1.0)
    monkeypatch.setattr(secrets_here, "_SHARE", 0)
    put(root / "a.txt")
    assert (await files.read("a.txt", max_bytes=LIMIT)).data == b"hush"

    (root / ".env").symlink_to("a.txt")
    with pytest.raises(PathValidationError, match="a hard link in this workspace"):
        await files.read("a.txt", max_bytes=LIMIT)


async def test_a_file_that_gets_the_number_of_a_secret_that_is_gone_is_read(
    files: FileSystemExecutor, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secrets_here, "_LEAST_SECONDS", 1_000.0)
    secret = put(root / ".env")
    files.learn_secrets()

    os.rename(secret, root / "plain.txt")
    assert (await files.read("plain.txt", max_bytes=LIMIT)).data == b"hush"


async def test_a_workspace_is_not_looked_through_for_every_file(
    files: FileSystemExecutor, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secrets_here, "_LEAST_SECONDS", 1_000.0)
    put(root / "a.txt")
    looks = 0
    real = files.guarded.secrets

    def count() -> frozenset[tuple[int, int]]:
        nonlocal looks
        looks += 1
        return real()

    monkeypatch.setattr(files.guarded, "secrets", count)
    for _ in range(20):
        await files.read("a.txt", max_bytes=LIMIT)
    assert looks == 1


async def test_where_there_is_too_much_to_look_through_names_alone_count(
    files: FileSystemExecutor, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guarded_module, "_MOST_FOLDERS", 1)
    put(root / "deep" / "er" / "a.txt")
    put(root / ".env")
    assert (await files.read("deep/er/a.txt", max_bytes=LIMIT)).data == b"hush"
    with pytest.raises(PathValidationError):
        await files.read(".env", max_bytes=LIMIT)


async def test_other_rules_count_at_once(files: FileSystemExecutor, root: Path) -> None:
    put(root / "a.txt")
    (root / ".env").symlink_to("a.txt")
    with pytest.raises(PathValidationError):
        await files.read("a.txt", max_bytes=LIMIT)

    files.adopt(Rules())
    assert (await files.read("a.txt", max_bytes=LIMIT)).data == b"hush"

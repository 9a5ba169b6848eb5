"""git's index is the same index after a look has written down the times of files."""

import os
import subprocess
from pathlib import Path

import pytest

from handrail.executors.rehearsal.git_index import index_digest, is_index


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    (tmp_path / "a").write_text("one\n")
    git(tmp_path, "add", "a")
    return tmp_path


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True)


def digest(repository: Path) -> str:
    return index_digest((repository / ".git/index").read_bytes())


def test_a_refreshed_index_is_the_same(repository: Path) -> None:
    before, content = digest(repository), (repository / ".git/index").read_bytes()

    os.utime(repository / "a", (1, 1))
    git(repository, "status")

    assert (repository / ".git/index").read_bytes() != content
    assert digest(repository) == before


def test_a_staged_file_makes_another_index(repository: Path) -> None:
    before = digest(repository)

    (repository / "a").write_text("two\n")
    git(repository, "add", "a")

    assert digest(repository) != before


def test_a_file_that_git_is_told_to_overlook_makes_another_index(repository: Path) -> None:
    before = digest(repository)

    git(repository, "update-index", "--assume-unchanged", "a")

    assert digest(repository) != before


@pytest.mark.parametrize("content", [b"", b"DIRC", b"DIRC\0\0\0\2\0\0\0\1" + b"\0" * 62])
def test_a_damaged_index_is_compared_byte_by_byte(content: bytes) -> None:
    assert index_digest(content) != index_digest(content + b"\1")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".git/index", True),
        ("web/.git/index", True),
        (".git/modules/lib/index", True),
        (".git/worktrees/one/index", True),
        ("index", False),
        (".git/refs/heads/index", False),
        ("src/git/index", False),
    ],
)
def test_an_index_is_known_by_its_place(path: str, *, expected: bool) -> None:
    assert is_index(path) is expected

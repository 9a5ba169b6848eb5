"""git's index is the same index after a look has written down the times of files."""

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from handrail.executors.repository.index import compared_index, index_to_apply, is_index


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    (tmp_path / "a").write_text("one\n")
    git(tmp_path, "add", "a")
    return tmp_path


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True)


def content(repository: Path) -> bytes:
    return (repository / ".git/index").read_bytes()


def digest(repository: Path) -> bytes:
    return compared_index(content(repository))


def signed(index: bytes) -> bytes:
    return index + hashlib.sha1(index).digest()


def tree_of(repository: Path) -> str:
    words = ["git", "write-tree"]
    return subprocess.run(words, cwd=repository, check=True, capture_output=True, text=True).stdout


def modified(repository: Path, *but: str) -> list[str]:
    """Files that git would have to look into, by their times alone."""
    words = ["git", "diff-files", "--name-only"]
    run = subprocess.run(words, cwd=repository, check=True, capture_output=True, text=True)
    return [name for name in run.stdout.split() if name not in but]


def test_a_refreshed_index_is_the_same(repository: Path) -> None:
    before, as_written = digest(repository), content(repository)

    os.utime(repository / "a", (1, 1))
    git(repository, "status")

    assert content(repository) != as_written
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


@pytest.mark.parametrize("damaged", [b"", b"DIRC", b"DIRC\0\0\0\2\0\0\0\1" + b"\0" * 62])
def test_a_damaged_index_is_compared_byte_by_byte(damaged: bytes) -> None:
    assert compared_index(damaged) == damaged
    assert index_to_apply(None, damaged) == damaged


def test_a_cache_that_lies_is_neither_compared_nor_applied(repository: Path) -> None:
    """With such a cache, git commits a tree that is not the one of the entries."""
    git(repository, "-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", "One")
    before = content(repository)
    tree = tree_of(repository)
    (repository / "b").write_text("other\n")
    git(repository, "read-tree", "--empty")
    git(repository, "add", "b")
    git(repository, "-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", "Two")
    cache = content(repository)[content(repository).index(b"TREE") : -20]
    forged = signed(before[: before.index(b"TREE")] + cache)
    (repository / ".git/index").write_bytes(forged)
    assert tree_of(repository) != tree

    (repository / ".git/index").write_bytes(index_to_apply(before, forged))

    assert compared_index(forged) == compared_index(before)
    assert tree_of(repository) == tree


def test_times_are_kept_of_entries_that_stay_and_are_unknown_of_others(repository: Path) -> None:
    before = content(repository)
    (repository / "b").write_text("one\n")
    git(repository, "add", "b")
    os.utime(repository / "a", (1, 1))
    git(repository, "update-index", "--refresh")

    (repository / ".git/index").write_bytes(index_to_apply(before, content(repository)))

    assert modified(repository, "b") == ["a"]
    git(repository, "update-index", "--refresh")
    assert modified(repository) == []


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

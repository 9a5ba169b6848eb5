"""Files below `.git` are known by their names; others are refused."""

import pytest

from handrail.executors.git_effects.names import FileKind, is_folder_of_git, kind_of, place_of

ID = "0123456789" * 4


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (f"objects/ab/{ID[2:]}", FileKind.OBJECT),
        (f"objects/ab/{ID[2:]}{ID[:24]}", FileKind.OBJECT),
        (f"objects/pack/pack-{ID}.idx", FileKind.OBJECT),
        ("objects/info/commit-graph", FileKind.DERIVED),
        ("refs/heads/main", FileKind.REF),
        ("packed-refs", FileKind.REF),
        ("HEAD", FileKind.HEAD),
        ("worktrees/one/HEAD", FileKind.HEAD),
        ("index", FileKind.INDEX),
        ("config", FileKind.SETTINGS),
        ("worktrees/one/config.worktree", FileKind.SETTINGS),
        ("logs/refs/heads/main", FileKind.LOG),
        ("rebase-merge/git-rebase-todo", FileKind.STATE),
        ("refs/heads/main.lock", FileKind.LOCK),
        ("rr-cache/ab/postimage", FileKind.SOLUTIONS),
        ("hooks/pre-commit.sample", FileKind.NOISE),
    ],
)
def test_a_file_of_git_is_known_by_its_place(path: str, kind: FileKind) -> None:
    assert kind_of(place_of(".git", f".git/{path}")) is kind


@pytest.mark.parametrize(
    "path",
    [
        "hooks/pre-commit",
        "hooks/deep/x.sample",
        "info/attributes",
        "info/grafts",
        "objects/info/alternates",
        "objects/info/http-alternates",
        "objects/ab/short",
        "branches/origin",
        "remotes/origin",
        "commondir",
        "worktrees/one/hooks/pre-commit",
        "worktrees/one/config",
        "modules/lib/config",
        "reftable/tables.list",
        "anything",
        "HEAD\n",
    ],
)
def test_any_other_file_is_not(path: str) -> None:
    assert kind_of(place_of(".git", f".git/{path}")) is None


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("objects/ab", True),
        ("refs/heads/topic", True),
        ("modules/lib", True),
        ("worktrees/one", True),
        ("reftable", False),
        ("objects/xy", False),
        ("lfs", False),
    ],
)
def test_folders_of_git_are_known_too(path: str, *, expected: bool) -> None:
    assert is_folder_of_git(place_of(".git", f".git/{path}")) is expected

"""What git sets up by itself stays; what else is in its settings afterwards is put back."""

import os
from pathlib import Path

import pytest

from handrail.core.errors import CommandExecutionError
from handrail.executors.git.keeping import kept
from tests.executors.git.shell import sh

START = """
git init -qb main . && echo x > a.txt && git add a.txt && git commit -qm first
git config core.editor vi && git config branch.main.mergeOptions --no-ff
git init -qb main ../up && git -C ../up commit -q --allow-empty -m x
git remote add origin ../up && git fetch -q origin && git branch old && git branch -q old -u main
git -c protocol.file.allow=always submodule --quiet add ../up part && git commit -qm part
"""
FILE = "git -c protocol.file.allow=always"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = Path(os.path.realpath(tmp_path)) / "ws"
    made.mkdir()
    sh(made, START)
    return made


def run_kept(root: Path, lines: str) -> None:
    gits = [str(root / ".git"), str(root / "part" / ".git")]
    with kept(str(root), gits, ()):
        sh(root, lines)


@pytest.mark.parametrize(
    "lines",
    [
        *("git checkout -q -b new origin/main", "git branch --unset-upstream old", "git init -q ."),
        *("git branch -m main trunk", "git branch -c main copy", "git branch -D old"),
        *("git remote add up https://example.com/a.git", "git remote rename origin other"),
        *("git remote remove origin", "git remote set-url origin https://example.com/b.git"),
        *("git worktree add -q tree", "git worktree add -q tree && git worktree remove tree"),
        *("git submodule --quiet deinit part", "git mv part moved", "git rm -qf part"),
        f"{FILE} submodule --quiet add ../up second",
        "git checkout -q --recurse-submodules HEAD~1",
        "git config extensions.worktreeConfig true && git worktree add -q tree",
    ],
)
def test_what_git_sets_up_stays(root: Path, lines: str) -> None:
    run_kept(root, lines)


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ("git config core.fsmonitor ./x", "core.fsmonitor"),
        ("git config core.hooksPath .", "core.hookspath"),
        ("git config filter..clean ./x", "filter..clean"),
        ("git config include.path ../x", "include.path"),
        ("git config core.worktree /", "core.worktree"),
        ("git config core.editor ./x", "core.editor"),
        ("git config remote.origin.uploadpack ./x", "remote.origin.uploadpack"),
        ("git config remote.x.url 'ext::sh -c x'", "remote.x.url"),
        ("git config submodule.part.update '!x'", "submodule.part.update"),
        ("git config branch.main.mergeOptions '-s x'", "branch.main.mergeoptions"),
        ("git config --unset core.editor", "settings were removed"),
        ("rm .git/config", "it is gone"),
        ("rm .git/config && ln -s ../x .git/config", "not one of git's files"),
        ("rm .git/config && mkdir .git/config", "not one of git's files"),
        ("echo '[broken' >> .git/config", "its meaning cannot be determined"),
        (f"head -c {1 << 21} /dev/zero > .git/config", "not one of git's files"),
        ("printf '[core]\\nfsmonitor = x\\n' > .git/config.worktree", "core.fsmonitor"),
        ("git config -f .git/modules/part/config core.fsmonitor x", "core.fsmonitor"),
        ("git config -f .git/modules/part/config core.worktree ../../../../up", "core.worktree"),
        ("git config -f .git/modules/part/config core.worktree ../..", "core.worktree"),
        (
            "mkdir -p .git/modules/n && git config -f .git/modules/n/config core.pager x",
            "core.pager",
        ),
        ("echo ../evil > .git/commondir", "another repository"),
        ("mkdir -p .git/worktrees/n && echo /x > .git/worktrees/n/commondir", "another repository"),
        ("echo 'gitdir: ../evil' > part/.git", "another repository"),
        ("echo 'gitdir: ../.git' > part/.git", "another repository"),
    ],
)
def test_what_else_is_there_is_put_back(root: Path, lines: str, why: str) -> None:
    names = [".git/config", ".git/modules/part/config", "part/.git"]
    before = {name: (root / name).read_bytes() for name in names}

    with pytest.raises(CommandExecutionError, match=rf"no command may set \(.*{why}"):
        run_kept(root, lines)

    assert {name: (root / name).read_bytes() for name in names} == before
    assert not any((root / ".git" / name).exists() for name in ("commondir", "config.worktree"))
    sh(root, "git status && git -C part status")


def test_it_is_put_back_also_where_the_command_was_called_off(root: Path) -> None:
    before = (root / ".git" / "config").read_bytes()

    def be_called_off() -> None:
        with kept(str(root), [str(root / ".git")], ()):
            sh(root, "git config core.fsmonitor ./x")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        be_called_off()

    assert (root / ".git" / "config").read_bytes() == before


def test_what_is_frozen_is_nobodys_concern(root: Path) -> None:
    """A person may change it meanwhile, from outside of any box."""
    with kept(str(root), [str(root / ".git")], [str(root / ".git" / "config")]):
        sh(root, "git config core.fsmonitor ./x")

    assert b"fsmonitor" in (root / ".git" / "config").read_bytes()


def test_settings_that_nobody_can_read_are_not_left_to_git(root: Path) -> None:
    (root / ".git" / "config").write_text("[broken")

    with (
        pytest.raises(CommandExecutionError, match="cannot be compared: line 1"),
        kept(str(root), [str(root / ".git")], ()),
    ):
        pass

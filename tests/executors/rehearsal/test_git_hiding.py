"""Nothing is lost, moved or planted by way of several steps of which each looks ordinary."""

from pathlib import Path

import pytest

from handrail.core.effects import GitWeight
from handrail.core.rehearsal import REHEARSAL
from tests.executors.rehearsal.agent import Agent
from tests.executors.rehearsal.repositories import as_same, copy_of, run

MINE = "git switch -qc mine; git commit -q --allow-empty -m precious; git switch -q main"
WORKTREE = "git worktree add -q --detach wt; git -C wt commit -q --allow-empty -m precious"
LINKED_HEAD = "git worktree add -q --detach wt; git -C wt commit -q --allow-empty -m precious;"
# The folder has the same file, but not where the stash had it.
ELSEWHERE = (
    "git clone -q --no-hardlinks stock/lib sub; echo wip >> sub/l.txt; cp sub/l.txt .;"
    " git -C sub stash -q"
)
# Makefile gets the content of a.txt, in a commit that no folder had.
COMMIT = (
    "export GIT_INDEX_FILE=/tmp/index; git read-tree HEAD;"
    " git update-index --add --cacheinfo 100644,$(git rev-parse HEAD:a.txt),Makefile;"
    " T=$(git write-tree); I=$(git commit-tree -p HEAD -m index $T);"
    " C=$(git commit-tree -p HEAD -p $I -m fine $T); {}"
)
NOT_LOCAL = {
    "a commit behind a bisect": ("git update-ref refs/bisect/k mine; git branch -D mine", MINE),
    "a commit behind the stash": ("git update-ref refs/stash mine; git branch -D mine", MINE),
    "a commit behind a remote branch": ("git update-ref refs/remotes/origin/k mine", MINE),
    "a commit of a worktree": ("git -C wt checkout -q main~1", WORKTREE),
    "a worktree with a commit": ("git worktree remove --force wt", WORKTREE),
    "a tag that is deleted": ("git tag -d v1", ""),
    "a file behind a loose object": ("rm untracked.txt", "git hash-object -w untracked.txt"),
    "a change after a stash was taken back": (
        "git reset -q --hard",
        "echo wip >> a.txt; git stash -q; git stash pop -q",
    ),
    "a change that was staged": (
        "git reset -q --hard",
        "echo wip >> a.txt; git add a.txt; git restore --staged a.txt",
    ),
    "a commit behind a symbolic ref": ("git symbolic-ref refs/heads/mine refs/heads/main", MINE),
    "a tag that becomes a symbolic ref": ("git symbolic-ref refs/tags/v1 refs/heads/main", ""),
    "a remote branch that becomes a symbolic ref": (
        "git symbolic-ref refs/remotes/origin/main refs/heads/feature",
        "",
    ),
    "a change that only a bisect has": (
        "git update-ref refs/bisect/k $(git stash create); git reset -q --hard",
        "echo wip >> a.txt",
    ),
    "a change that is staged under another name": (
        "git update-index --add --cacheinfo 100644,$(git hash-object -w a.txt),b.txt;"
        " git checkout -q -- a.txt",
        "echo wip >> a.txt",
    ),
    "a change in a row of the stash that git passes over": (
        r"printf 'a %s b\tfine\n' $(git stash create) >> .git/logs/refs/stash; git reset -q --hard",
        "echo wip >> a.txt",
    ),
    "a stash of a repository within": ("git -C sub stash drop -q", ELSEWHERE),
    "the reflog of a worktree": (
        ": > .git/worktrees/wt/logs/HEAD; git branch -q new",
        f"{LINKED_HEAD} git -C wt checkout -q --detach main",
    ),
    "the lock of another git": ("rm .git/index.lock", "touch .git/index.lock"),
    "an index with caches that are not checked": ("git update-index --index-version 4", ""),
    "a staged content for another path": (
        "git update-index --add --cacheinfo 100644,$(git rev-parse :a.txt),Makefile",
        "",
    ),
    "a committed content for another path": (COMMIT.format("git branch e $C"), ""),
    "a content for another path that is put aside": (COMMIT.format("git stash store -m e $C"), ""),
    "a content for another path that a merge seems to have put aside": (
        COMMIT.format("echo $C > .git/MERGE_AUTOSTASH; git tag new"),
        "",
    ),
    "more commits than are looked at": (
        r"yes | head -2001 | sed 's/.*/commit refs\/heads\/e\ncommitter a <a@b> 1 +0000\ndata 0\n/'"
        " | git fast-import --quiet",
        "",
    ),
    "a content of a tree that no commit has": (
        "git checkout -q t -- Makefile",
        r"git tag t $(printf '100644 blob %s\tMakefile\n' $(git rev-parse :a.txt) | git mktree)",
    ),
    "a text that becomes a program": ("git update-index --chmod=+x a.txt; chmod +x a.txt", ""),
    "a text that becomes a program at the next checkout": (
        "git update-index --chmod=+x a.txt",
        "",
    ),
    "a text that becomes a link at the next checkout": (
        "git update-index --cacheinfo 120000,$(git rev-parse :a.txt),a.txt",
        "",
    ),
    "a text that a commit has as a program": (
        "export GIT_INDEX_FILE=/tmp/index; git read-tree HEAD; git update-index --chmod=+x a.txt;"
        " git branch e $(git commit-tree -p HEAD -m fine $(git write-tree))",
        "",
    ),
    "a content from another path": (
        "git update-index --add --cacheinfo 100755,$(git rev-parse :x.sh),Makefile;"
        " git checkout -q -- Makefile",
        "echo evil > x.sh; git add x.sh",
    ),
}


@pytest.mark.parametrize("what", NOT_LOCAL)
async def test_no_step_of_it_is_local_git(
    agent: Agent, root: Path, template: Path, what: str
) -> None:
    copy_of(template, root)
    line, setup = NOT_LOCAL[what]
    run(setup, root)

    _, rehearsed = await agent.rehearse(as_same(line))

    assert rehearsed.is_complete, rehearsed.ended_by
    assert rehearsed.facts[REHEARSAL]["git"] != "local"


RENAMED = """
import hashlib, pathlib
index = pathlib.Path(".git/index")
content = index.read_bytes()[:-20].replace(b"{old}", b"{new}")
index.write_bytes(content + hashlib.sha1(content).digest())
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (".Xit/hooks/post-checkout", ".git/hooks/post-checkout"),
        (".Xit/hooks/post-checkout", ".GiT/hooks/post-checkout"),
        ("gitX1/hooks/post-checkout", "git~1/hooks/post-checkout"),
        ("AA/vi/ctim", "../vi/ctim"),
        ("A/vi/ctim", "//vi/ctim"),
    ],
)
async def test_an_index_with_a_name_that_git_would_not_add_is_refused(
    agent: Agent, root: Path, template: Path, old: str, new: str
) -> None:
    copy_of(template, root)
    run(f"git update-index --add --cacheinfo 100755,$(git rev-parse :a.txt),{old}", root)
    (root / "rename.py").write_text(RENAMED.format(old=old, new=new))

    _, rehearsed = await agent.rehearse("python3 rename.py")

    assert GitWeight.REFUSED in [note.weight for note in rehearsed.effects.git.notes]

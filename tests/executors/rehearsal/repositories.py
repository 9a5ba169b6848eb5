"""A repository for tests of git, and all that git tells of one."""

import os
import shlex
import subprocess
from pathlib import Path

# Long ago, so that git would throw old entries of its reflogs away.
_DATE = "2024-05-01T12:00:00+0000"
# What makes git the same program inside and outside of a rehearsal, down to the ids of commits.
_SAME = {
    "GIT_AUTHOR_NAME": "Ann",
    "GIT_AUTHOR_EMAIL": "ann@example.org",
    "GIT_AUTHOR_DATE": _DATE,
    "GIT_COMMITTER_NAME": "Ann",
    "GIT_COMMITTER_EMAIL": "ann@example.org",
    "GIT_COMMITTER_DATE": _DATE,
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_EDITOR": "true",
    # `git filter-branch` waits for ten seconds otherwise.
    "FILTER_BRANCH_SQUELCH_WARNING": "1",
}
_OUTSIDE = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nonexistent",
    "LC_ALL": "C.UTF-8",
    "GIT_TERMINAL_PROMPT": "0",
}
# Other repositories and patches that commands read; nothing changes there.
STOCK = "stock"
_OWN = (".git", ".handrail", STOCK)
_QUESTIONS = (
    ("for-each-ref", "--format=%(refname) %(objectname) %(symref)"),
    ("symbolic-ref", "-q", "HEAD"),
    ("rev-parse", "-q", "--verify", "HEAD"),
    ("ls-files", "-s", "-v"),
    ("stash", "list", "--format=%gd %H %gs"),
    # The long one also says what is under way. What Handrail keeps there is not git's.
    ("status", "--", ".", ":!.handrail"),
    ("status", "--porcelain", "--", ".", ":!.handrail"),
    ("config", "--list"),
    ("worktree", "list", "--porcelain"),
)

_TEMPLATE = r"""
git init -q -b main .
git config gc.auto 0
git config maintenance.auto false
printf '*.log\n/stock/\n' > .gitignore
mkdir docs src stock
printf 'one\n' > a.txt
printf '# Docs\n' > docs/d.md
printf 'x = 1\n' > src/x.py
git add -A
git commit -qm Begin
printf 'one\ntwo\n' > a.txt
git commit -qam 'Second line'
git tag v1

git switch -qc feature
printf 'f = 1\n' > src/f.py
git add -A
git commit -qm 'Add f'
git format-patch -1 --stdout > stock/p.patch
git init -q -b none stock/up
git remote add origin ./stock/up
git push -q origin main feature
git pack-refs --all
# From here on some refs lie both packed and as files of their own.
printf 'f = 2\n' > src/f.py
git commit -qam 'Better f'

git switch -q main
printf 'one\ndeux\n' > a.txt
git commit -qam 'French two'
git switch -qc ahead
printf 'g\n' > g.txt
git add -A
git commit -qm 'Add g'
git switch -qc clash v1
printf 'one\nzwei\n' > a.txt
git commit -qam 'German two'
git format-patch -1 --stdout > stock/bad.patch
git switch -q main
git push -q origin main feature ahead clash

git init -q -b main stock/lib
printf 'lib\n' > stock/lib/l.txt
git -C stock/lib add -A
git -C stock/lib commit -qm Lib

printf 'x = 9\n' > src/x.py
git stash push -qm 'try nine'
printf 'mine\n' > untracked.txt
printf 'noise\n' > noise.log
"""


def make_template(folder: Path) -> None:
    """Branches main, feature, ahead and clash, the tag v1, an origin, and a stash “try nine”."""
    folder.mkdir()
    run(f"set -e\n{_TEMPLATE}", folder)


def copy_of(template: Path, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-a", f"{template}/.", folder], check=True)
    return folder


def as_same(line: str) -> str:
    """A line of bash in which git makes the same commits wherever it runs."""
    names = " ".join(f"{name}={shlex.quote(value)}" for name, value in _SAME.items())
    return f"export {names}; {line}"


def run(line: str, folder: Path, exit_code: int = 0) -> str:
    """What a line prints that runs where everything is real."""
    done = subprocess.run(
        ["bash", "-c", as_same(line)],
        cwd=folder,
        env=_OUTSIDE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == exit_code, f"{line}: {done.stdout}{done.stderr}"
    return done.stdout


def git(folder: Path, *words: str) -> str:
    """What git answers, whatever it thinks of the question; it takes no locks for that."""
    done = subprocess.run(
        ["git", *words],
        cwd=folder,
        env={
            **_OUTSIDE,
            **_SAME,
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_CEILING_DIRECTORIES": str(folder.parent),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return f"{done.stdout}{done.stderr}"


def state_of(root: Path) -> dict[str, object]:
    """All files, and what git tells of each repository; equal for copies that are alike."""
    found: dict[str, object] = {"locks": locks_in(root)}
    for folder, folders, files in os.walk(root):
        here = Path(folder)
        name = str(here.relative_to(root))
        if ".git" in (*folders, *files):
            told = _told_by_git(here, root)
            found |= {f"{name}/.git {question}": answer for question, answer in told.items()}
        found[name] = "folder"
        folders[:] = [one for one in folders if one not in _OWN]
        for file in files:
            if file not in _OWN:
                found[f"{name}/{file}"] = _content(here / file)
    return found


def _told_by_git(folder: Path, root: Path) -> dict[str, list[str]]:
    told = {" ".join(question): git(folder, *question) for question in _QUESTIONS}
    inside = Path(git(folder, "rev-parse", "--absolute-git-dir").strip())
    for name in ("info/exclude", "info/sparse-checkout"):
        told[name] = (inside / name).read_text() if (inside / name).exists() else ""
    return {name: answer.replace(str(root), "ROOT").splitlines() for name, answer in told.items()}


def _content(path: Path) -> tuple[bytes, bool]:
    if path.is_symlink():
        return os.fsencode(path.readlink()), False
    return path.read_bytes(), os.access(path, os.X_OK)


def reflogs_of(root: Path) -> list[str]:
    """What each ref of the repository was before."""
    return git(root, "reflog", "--all", "--format=%gd %H %gs").splitlines()


def faults_in(root: Path) -> list[str]:
    """What git finds damaged in any repository of a workspace."""
    faults: list[str] = []
    for folder, folders, files in os.walk(root):
        if ".git" in (*folders, *files):
            words = ("fsck", "--full", "--no-dangling", "--no-progress")
            faults += [row for row in git(Path(folder), *words).splitlines() if _is_fault(row)]
        folders[:] = [one for one in folders if one not in _OWN]
    return faults


def _is_fault(row: str) -> bool:
    # A repository without a commit is not damaged.
    return not row.startswith("notice: ")


def locks_in(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.glob("**/.git/**/*.lock"))

"""Which repositories a command has touched, and files that lead git to one."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence

from handrail.core.effects import Effect, GitNote
from handrail.core.files import EntryKind
from handrail.executors.git_effects.notes import refused
from handrail.executors.git_effects.trees import Tree, UnreadableError

GIT = ".git"
# A folder that holds these is a repository, whatever its name.
MARKS = ("HEAD", "objects", "refs", "commondir")
_MODULES = f"{GIT}/modules/"
# git takes all of the first line, and a zero byte would end it for git alone.
_POINTER = re.compile(r"gitdir: ([^\0\r\n]+)[\r\n]*")
_MOST_POINTER_BYTES = 4_096
_INSIDE = re.compile(r"(?!\.\./)(?:.*/)?\.git/(?:modules|worktrees)/.+")


def find_repositories(
    root: str, touched: Iterable[str], changes: Iterable[Effect], trees: Sequence[Tree]
) -> list[str]:
    """The paths of the touched repositories and of submodules kept in them, outermost first.

    A submodule is touched too if only its folder goes, with the `.git` file in it.
    """
    found = {git for git in touched if any(tree.is_folder(git) for tree in trees)}
    before = trees[0]
    for one in changes:
        if one.path.rpartition("/")[2] == GIT and (git := target_of(one.path, before, root)):
            found |= (
                {git} if _INSIDE.fullmatch(git) and before.is_folder(f"{git}/objects") else set()
            )
        at = one.path.find(_MODULES)
        parts = one.path[at + len(_MODULES) :].split("/") if at >= 0 else []
        for number in range(1, len(parts)):
            place = one.path[: at + len(_MODULES)] + "/".join(parts[:number])
            if any(tree.is_folder(f"{place}/objects") for tree in trees):
                found.add(place)
    return sorted(found)


def root_of(path: str) -> str:
    """The `.git` that a path is or lies in; empty for a file of the workspace."""
    folders = path.split("/")
    return "/".join(folders[: folders.index(GIT) + 1]) if GIT in folders else ""


def owner_of(path: str, gits: Sequence[str]) -> str:
    """The innermost repository that a path is or lies in; empty where there is none."""
    return max((git for git in gits if f"{path}/".startswith(f"{git}/")), key=len, default="")


def judge_pointers(root: str, changes: Iterable[Effect], after: Tree) -> Iterator[GitNote]:
    """Refuse `.git` files and links that lead to anything but a repository's own parts."""
    for one in changes:
        folder, _, name = one.path.rpartition("/")
        if name == GIT and one.after is not None and one.after.kind is not EntryKind.DIRECTORY:
            if one.after.kind is EntryKind.LINK:
                target = inside_of(root, folder, one.after.target)
            else:
                target = target_of(one.path, after, root)
            if not _INSIDE.fullmatch(target):
                yield refused(f"{one.path} would lead git to another repository: {target}")


def inside_of(root: str, folder: str, named: str) -> str:
    """The path in the workspace that is `named` in one of its folders."""
    return os.path.relpath(os.path.join(root, folder, named), root)


def target_of(path: str, tree: Tree, root: str) -> str:
    """The path in the workspace that a `.git` file leads to; empty for any other file."""
    try:
        content = tree.read(path, _MOST_POINTER_BYTES) or b""
    except UnreadableError:
        return ""
    found = _POINTER.fullmatch(content.decode(errors="surrogateescape"))
    return inside_of(root, os.path.dirname(path), found[1]) if found else ""


def judge_bare(changes: Iterable[Effect], after: Tree) -> Iterator[GitNote]:
    """Refuse a folder that becomes a repository by what is put into it."""
    folders = {
        one.path.rpartition("/")[0]
        for one in changes
        if one.after is not None and one.path.rpartition("/")[2] in MARKS
    }
    for folder in sorted(folders):
        head, objects, refs, common = (
            _is_there(f"{folder}/{mark}".lstrip("/"), after) for mark in MARKS
        )
        if head and (common or (objects and refs)):
            where = folder or "the workspace"
            yield refused(f"makes a repository without a worktree of {where}")


def _is_there(path: str, after: Tree) -> bool:
    """True for a folder, and for a file that git could follow to one."""
    try:
        return after.is_folder(path) or after.read(path, _MOST_POINTER_BYTES) is not None
    except UnreadableError:
        return True

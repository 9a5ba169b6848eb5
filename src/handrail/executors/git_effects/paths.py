"""Changes of files below `.git` that are refused whatever the files contain."""

from collections.abc import Iterable, Iterator

from handrail.core.effects import Effect, EffectKind, GitNote
from handrail.core.files import EntryKind
from handrail.executors.git_effects.finding import inside_of, target_of
from handrail.executors.git_effects.names import (
    FileKind,
    Place,
    is_folder_of_git,
    kind_of,
    place_of,
)
from handrail.executors.git_effects.notes import count, loss, refused, setting
from handrail.executors.git_effects.trees import Tree

_EXECUTABLE = 0o111
_COMMON = b"../.."
_MOST_POINTER_BYTES = 4_096


def judge_paths(git: str, changes: Iterable[Effect]) -> Iterator[GitNote]:
    """The notes about names, links, permissions and left locks."""
    solutions = 0
    for one in changes:
        place = place_of(git, one.path)
        if (why := _why_refused(one, place)) is not None:
            yield refused(why)
            continue
        kind = kind_of(place)
        if kind is FileKind.LOCK and one.after is not None:
            yield loss(f"leaves a lock behind, which stops git until it is removed: {one.path}")
        elif kind is FileKind.LOCK:
            yield setting(f"removes a lock, which another git may hold: {one.path}")
        solutions += kind is FileKind.SOLUTIONS and one.after is not None
    if solutions:
        yield loss(f"writes down how later conflicts are solved ({count(solutions, 'file')})")


def judge_worktrees(
    git: str, root: str, trees: tuple[Tree, Tree], changes: Iterable[Effect]
) -> Iterator[GitNote]:
    """Refuse a further worktree that is of another repository, or of no folder."""
    before, after = trees
    names = {place.tree for one in changes if (place := place_of(git, one.path)).tree}
    for folder in sorted(f"{git}/{name}" for name in names):
        common, pointer = (
            after.read(f"{folder}/{name}", _MOST_POINTER_BYTES) for name in ("commondir", "gitdir")
        )
        if common is not None and common.strip() != _COMMON:
            yield refused(f"{folder} would take its settings from another repository")
        is_new = pointer is None or pointer != before.read(f"{folder}/gitdir", _MOST_POINTER_BYTES)
        if is_new and after.is_folder(folder) and not _leads_back(folder, root, pointer, after):
            yield refused(f"makes {folder} a worktree, but no .git file leads to it")


def place_of_worktree(folder: str, pointer: bytes, root: str) -> str:
    """The path of the `.git` file that a worktree's own `folder` points to."""
    return inside_of(root, folder, pointer.decode(errors="surrogateescape").strip())


def _leads_back(folder: str, root: str, pointer: bytes | None, after: Tree) -> bool:
    path = place_of_worktree(folder, pointer or b"", root)
    # A worktree outside of the workspace is refused as such.
    return path.startswith("../") or target_of(path, after, root) == folder


def _why_refused(one: Effect, place: Place) -> str | None:
    before, after = one.before, one.after
    node = after or before
    is_folder = node is not None and node.kind is EntryKind.DIRECTORY
    is_known = is_folder_of_git(place) if is_folder else kind_of(place) is not None
    if after is not None and after.kind in (EntryKind.LINK, EntryKind.OTHER):
        return f"puts a {after.kind} in the place of {one.path}"
    if not is_known:
        verb = "removes" if after is None else "writes"
        return f"{verb} {one.path}, which git is not known to do; it could run programs by it"
    if one.kind is EffectKind.MODE:
        return f"changes the permissions or attributes of {one.path}"
    if after is not None and not is_folder:
        is_sample = place.name.endswith(".sample")
        if after.mode & _EXECUTABLE and not is_sample:
            return f"makes {one.path} executable"
        if before is not None and before.kind is after.kind and before.mode != after.mode:
            return f"changes the permissions of {one.path}"
    return None

"""Scratch: caches that tools leave in a workspace, kept for a session and never applied to it.

They are taken out of what a rehearsal has changed and merged into a layer that lies over the
workspace in the session's later rehearsals. Everything goes by descriptors: the upper directory is
what a hostile command has made of it.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress

from handrail.core.effects import Dropped
from handrail.executors.files.removal import remove

# Of a folder's name, or of the end of its path.
SCRATCH = (
    *("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"),
    *("node_modules/.cache", "node_modules/.vite"),
)
_OPAQUE = "user.overlay.opaque"
_MOST_LEVELS = 60
_MOST_ENTRIES = 100_000
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def is_scratch(path: str) -> bool:
    """Whether a folder at this path from the root is a cache."""
    return any(path == name or path.endswith(f"/{name}") for name in SCRATCH)


def take_out(upper_fd: int, into_fd: int, root: str) -> list[Dropped]:
    """Move the caches in an upper directory into another one, by the same paths.

    A cache that was deleted is one of these, unless the workspace has it: then its deletion is an
    effect like any other.
    """
    found: list[Dropped] = []
    for path in _find(upper_fd):
        parent, _, name = path.rpartition("/")
        is_deletion = not _is_folder(upper_fd, path)
        if is_deletion and os.path.lexists(os.path.join(root, path)):
            continue
        # What cannot be moved, for want of rights or room, stays where it is, and is an effect.
        with suppress(OSError), ExitStack() as stack:
            source = _opened(stack, upper_fd, parent)
            target = _opened(stack, into_fd, parent, like_fd=upper_fd)
            os.rename(name, name, src_dir_fd=source, dst_dir_fd=target)
            found.append(Dropped(path, _count_files(target, name)))
    return found


def merge(from_fd: int, layer_fd: int, paths: list[str], root: str) -> None:
    """Add caches that were taken out to the session's layer, where they replace older ones."""
    for path in paths:
        parent, _, name = path.rpartition("/")
        with suppress(OSError), ExitStack() as stack:
            source = _opened(stack, from_fd, parent)
            target = _opened(stack, layer_fd, parent, like_fd=from_fd)
            _merge(source, target, name, os.path.join(root, path), _MOST_LEVELS)


def prune(layer_fd: int, caches: Mapping[str, bool], root: str) -> dict[str, bool]:
    """Drop kept caches whose folder the workspace no longer has; the answer are the others.

    A layer over the workspace would show such a folder again. For each is told whether it lies
    over a cache in the workspace: marks of deletion in it are shown as files once that has gone.
    """
    kept: dict[str, bool] = {}
    for path, lies_over_another in caches.items():
        parent, _, name = path.rpartition("/")
        has_gone = lies_over_another and not os.path.lexists(os.path.join(root, path))
        if has_folder(root, parent) and not has_gone:
            kept[path] = lies_over_another
            continue
        with suppress(OSError), ExitStack() as stack:
            remove(_opened(stack, layer_fd, parent), name)
        _remove_empty(layer_fd, parent)
    return kept


def _find(upper_fd: int) -> Iterator[str]:
    todo, count = [""], 0
    while todo:
        folder = todo.pop()
        with suppress(PermissionError), ExitStack() as stack:
            fd = _opened(stack, upper_fd, folder)
            for entry in stack.enter_context(os.scandir(fd)):
                count += 1
                path = f"{folder}/{entry.name}" if folder else entry.name
                is_folder = entry.is_dir(follow_symlinks=False)
                if is_scratch(path) and (is_folder or _is_mark(fd, entry.name)):
                    yield path
                elif is_folder and path.count("/") < _MOST_LEVELS:
                    todo.append(path)
        if count > _MOST_ENTRIES:
            return


def _count_files(folder_fd: int, name: str) -> int:
    """The number of files in a folder; of a very large one, only so far."""
    count, todo = 0, [name]
    while todo and count < _MOST_ENTRIES:
        path = todo.pop()
        with suppress(OSError), ExitStack() as stack:
            entries = stack.enter_context(os.scandir(_opened(stack, folder_fd, path)))
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    todo.append(f"{path}/{entry.name}")
                else:
                    count += 1
    return count


def _merge(source: int, target: int, name: str, path: str, levels: int) -> None:
    if not _is_folder(source, name):
        # A mark of deletion is needed only over what the workspace itself has.
        remove(target, name)
        if not _is_mark(source, name) or os.path.lexists(path):
            os.rename(name, name, src_dir_fd=source, dst_dir_fd=target)
        return
    if levels == 0 or _is_opaque(source, name) or not _is_folder(target, name):
        remove(target, name)
        os.rename(name, name, src_dir_fd=source, dst_dir_fd=target)
        return
    with ExitStack() as stack:
        from_fd, to_fd = _opened(stack, source, name), _opened(stack, target, name)
        for entry in os.listdir(from_fd):
            _merge(from_fd, to_fd, entry, os.path.join(path, entry), levels - 1)


def _open(root_fd: int, path: str, *, like_fd: int | None = None) -> int:
    """A folder by its path, through no link.

    With `like_fd`, what is missing on the way is made with the modes that it has there.
    """
    fd = os.dup(root_fd)
    like = None if like_fd is None else os.dup(like_fd)
    try:
        for name in filter(None, path.split("/")):
            if like is not None:
                like = _step(like, name)
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=fd)
                    os.chmod(name, stat.S_IMODE(os.fstat(like).st_mode), dir_fd=fd)
            fd = _step(fd, name)
    except BaseException:
        os.close(fd)
        raise
    finally:
        if like is not None:
            os.close(like)
    return fd


def _opened(stack: ExitStack, root_fd: int, path: str, *, like_fd: int | None = None) -> int:
    fd = _open(root_fd, path, like_fd=like_fd)
    stack.callback(os.close, fd)
    return fd


def _step(fd: int, name: str) -> int:
    """Go on to a folder within; the descriptor before it is closed, unless that fails."""
    within = os.open(name, _FOLDER, dir_fd=fd)
    os.close(fd)
    return within


def _remove_empty(root_fd: int, path: str) -> None:
    while path:
        with suppress(OSError):
            os.rmdir(path, dir_fd=root_fd)
        path = os.path.dirname(path)


def has_folder(root: str, path: str) -> bool:
    """Whether a folder is there, and no link on the way to it."""
    way = root
    for name in filter(None, path.split("/")):
        way = f"{way}/{name}"
        if os.path.islink(way):
            return False
    return os.path.isdir(way)


def _is_folder(fd: int, path: str) -> bool:
    try:
        return stat.S_ISDIR(os.stat(path, dir_fd=fd, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _is_mark(fd: int, name: str) -> bool:
    found = os.stat(name, dir_fd=fd, follow_symlinks=False)
    return stat.S_ISCHR(found.st_mode) and found.st_rdev == 0


def _is_opaque(fd: int, name: str) -> bool:
    folder = os.open(name, _FOLDER, dir_fd=fd)
    try:
        return os.getxattr(folder, _OPAQUE) == b"y"
    except OSError:
        return False
    finally:
        os.close(folder)

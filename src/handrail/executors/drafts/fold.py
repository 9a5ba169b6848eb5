"""Folding layers: several upper layers of overlays become one that shows the same.

Files are hard links to those of the layers, which are never written again. A layer holds what a
command has made, so everything is reached by descriptors and through no link.
"""

import os
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from handrail.executors.files.removal import remove
from handrail.executors.rehearsal import marks
from handrail.executors.rehearsal.attributes import set_xattrs, xattrs_of
from handrail.executors.rehearsal.nodes import stat_of
from handrail.executors.rehearsal.way import LISTED

_OPAQUE = "user.overlay.opaque"


def fold(layers: Sequence[str], into: str) -> None:
    """Fold layers, the oldest first, into a new folder.

    Raises:
        OSError: One of them cannot be read, or there is no room.
    """
    os.mkdir(into, 0o700)
    with _opened(into) as target:
        for layer in layers:
            with _opened(layer) as source:
                _fold(source, target, is_cut_off=False)
                _take_attributes(source, target)


def _fold(source: int, target: int, *, is_cut_off: bool) -> None:
    """Add one folder to another; if it `is_cut_off`, nothing of the workspace shows through it."""
    for name in sorted(os.listdir(source)):
        found = os.stat(name, dir_fd=source, follow_symlinks=False)
        if stat.S_ISDIR(found.st_mode):
            _fold_folder(source, target, name, is_cut_off=is_cut_off)
            continue
        remove(target, name)
        # In a folder that is cut off, the kernel would show a whiteout as a file.
        if not (is_cut_off and marks.is_whiteout(name, source, found)):
            os.link(name, name, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False)


def _fold_folder(source: int, target: int, name: str, *, is_cut_off: bool) -> None:
    with _opened(name, source) as folder:
        older = stat_of(target, name)
        is_opaque = marks.is_opaque(folder)
        # A file, a link or a whiteout has hidden what the workspace has below that name.
        hides = older is not None and not stat.S_ISDIR(older.st_mode)
        if older is not None and (is_opaque or hides):
            remove(target, name)
            older = None
        if older is None:
            os.mkdir(name, 0o700, dir_fd=target)
        with _opened(name, target) as other:
            if is_opaque or hides:
                os.setxattr(other, _OPAQUE, b"y")
            is_cut_off = is_cut_off or marks.is_opaque(other)
            _fold(folder, other, is_cut_off=is_cut_off)
            _take_attributes(folder, other)


def _take_attributes(source: int, target: int) -> None:
    """The mode, the times and the attributes of a folder, as the newer layer has them."""
    found = os.fstat(source)
    set_xattrs(f"/proc/self/fd/{target}", xattrs_of(source))
    os.utime(target, ns=(found.st_atime_ns, found.st_mtime_ns))
    os.fchmod(target, stat.S_IMODE(found.st_mode))


@contextmanager
def _opened(name: str, folder_fd: int | None = None) -> Generator[int]:
    fd = os.open(name, LISTED, dir_fd=folder_fd)
    try:
        yield fd
    finally:
        os.close(fd)

"""Looking at one name in an open folder: its kind, mode, content and attributes."""

import hashlib
import os
import stat
from dataclasses import replace

from handrail.core.effects import Node
from handrail.core.files import EntryKind
from handrail.core.plain_text import is_plain_text
from handrail.executors.rehearsal.attributes import digest_of, xattrs_of
from handrail.executors.rehearsal.way import LISTED, Way
from handrail.executors.repository.index import MOST_BYTES, compared_index, is_index

# O_NONBLOCK: opening a pipe must not wait for a writer.
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
PIECE = 1 << 20
_KINDS = {
    stat.S_IFREG: EntryKind.FILE,
    stat.S_IFDIR: EntryKind.DIRECTORY,
    stat.S_IFLNK: EntryKind.LINK,
}


def kind_of(found: os.stat_result) -> EntryKind:
    return _KINDS.get(stat.S_IFMT(found.st_mode), EntryKind.OTHER)


def stat_of(folder_fd: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
    except FileNotFoundError:
        return None


def node_at(folder_fd: int, name: str, path: str = "") -> Node | None:
    """The node of that name as it is now; None where there is nothing.

    `path` is where it belongs in the workspace, if that has another name.

    Raises:
        OSError: It may not be read.
    """
    found = stat_of(folder_fd, name)
    if found is None:
        return None
    match kind_of(found):
        case EntryKind.LINK:
            return link_node(os.readlink(name, dir_fd=folder_fd), found)
        case EntryKind.OTHER:
            return bare_node(found)
        case EntryKind.DIRECTORY:
            flags, read = LISTED, folder_node
        case EntryKind.FILE:
            flags, read = READ, file_node
    fd = os.open(name, flags, dir_fd=folder_fd)
    try:
        return index_node(fd) if read is file_node and is_index(path) else read(fd)
    finally:
        os.close(fd)


def look(way: Way, path: str) -> Node | None:
    """The node at a path below the root of a way; None also where a folder above is missing."""
    try:
        return node_at(*way.folder_of(path), path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def is_folder(way: Way, path: str) -> bool:
    try:
        folder_fd, name = way.folder_of(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    found = stat_of(folder_fd, name)
    return found is not None and stat.S_ISDIR(found.st_mode)


def bare_node(found: os.stat_result) -> Node:
    """A node of which only the kind and the mode are told."""
    return Node(kind_of(found), mode=stat.S_IMODE(found.st_mode))


def link_node(target: str, found: os.stat_result) -> Node:
    digest = hashlib.sha256(os.fsencode(target)).hexdigest()
    return Node(EntryKind.LINK, sha256=digest, target=target, modified_ns=found.st_mtime_ns)


def folder_node(fd: int) -> Node:
    found = os.fstat(fd)
    return Node(
        EntryKind.DIRECTORY, mode=stat.S_IMODE(found.st_mode), xattrs=digest_of(xattrs_of(fd))
    )


def file_node(fd: int) -> Node:
    first = os.read(fd, PIECE)
    digest, size = hashlib.sha256(first), len(first)
    while piece := os.read(fd, PIECE):
        digest.update(piece)
        size += len(piece)
    is_text = size == len(first) and is_plain_text(first)
    return replace(_file_node(fd, size, digest.hexdigest()), is_text=is_text)


def index_node(fd: int) -> Node:
    """The index of git, without times and caches."""
    if os.fstat(fd).st_size > MOST_BYTES:
        return file_node(fd)
    with os.fdopen(os.dup(fd), "rb") as file:
        compared = compared_index(file.read())
    return _file_node(fd, len(compared), hashlib.sha256(compared).hexdigest())


def _file_node(fd: int, size: int, sha256: str) -> Node:
    found = os.fstat(fd)
    return Node(
        EntryKind.FILE,
        mode=stat.S_IMODE(found.st_mode),
        size=size,
        sha256=sha256,
        xattrs=digest_of(xattrs_of(fd)),
        modified_ns=found.st_mtime_ns,
    )

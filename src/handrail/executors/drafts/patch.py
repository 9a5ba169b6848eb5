"""A draft as a patch that `git apply` takes, with every byte of it.

The files before and after are put into a repository of our own, from which git writes the patch.
So no setting or filter of the workspace can change a byte. A patch holds files and links; empty
folders, extended attributes and what lies in `.git` are not part of it.
"""

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from handrail.core.effects import Node
from handrail.core.errors import CommandExecutionError, FileOperationError, StaleFileError
from handrail.core.files import EntryKind
from handrail.executors.drafts.summing import Summed
from handrail.executors.processes.programs import SEARCH_PATH
from handrail.executors.rehearsal.nodes import READ
from handrail.executors.rehearsal.way import Way

_NO_GIT = "a patch is written by git, which is not installed; install it and try again"
_CHANGED = "{!r} was changed while it was read; try again"
_AUTHOR = b"committer Handrail <handrail> 0 +0000\ndata 0\n"
_DIFF = (
    *("diff-tree", "-p", "-r", "--binary", "--full-index", "--no-renames", "--no-color"),
    *("--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", "before", "after"),
)
_PIECE = 1 << 20


def write_patch(summed: Summed, output: BinaryIO) -> int:
    """Write what a draft changes in files; the number of them.

    Raises:
        StaleFileError: A file was changed while it was read.
        CommandExecutionError: There is no git here, or it refuses.
        OSError: The disk refuses.
    """
    changes = [one for one in summed.effects.changes if _is_file(one.before, one.after)]
    folder = Path(tempfile.mkdtemp(prefix="patch-", dir=os.path.dirname(summed.layer)))
    try:
        _git(folder, "init", "-q", "--bare", ".")
        with summed.opened() as (lower, upper):
            befores = ((one.path, one.before) for one in changes)
            afters = ((one.path, one.after) for one in changes)
            _import(folder, "before", _entries(lower, befores))
            _import(folder, "after", _entries(upper, afters))
        _git(folder, *_DIFF, output=output)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return len(changes)


def _is_file(*nodes: Node | None) -> bool:
    return any(node and node.kind in (EntryKind.FILE, EntryKind.LINK) for node in nodes)


def _entries(root: int, nodes: Iterable[tuple[str, Node | None]]) -> Iterator[bytes]:
    """The files of one side, in the words of `git fast-import`."""
    for path, node in nodes:
        if node is None or not _is_file(node):
            continue
        mode = b"120000" if node.kind is EntryKind.LINK else b"100644"
        if node.is_executable:
            mode = b"100755"
        yield b"M %b inline %b\n" % (mode, _quoted(path))
        if node.kind is EntryKind.LINK:
            target = os.fsencode(node.target)
            yield b"data %d\n%b\n" % (len(target), target)
        else:
            yield from _content(root, path, node)


def _content(root: int, path: str, node: Node) -> Iterator[bytes]:
    with Way(root) as way:
        try:
            folder_fd, name = way.folder_of(path)
            fd = os.open(name, READ, dir_fd=folder_fd)
        except OSError as error:
            raise StaleFileError(_CHANGED.format(path)) from error
    hashed, size = hashlib.sha256(), os.fstat(fd).st_size
    with os.fdopen(fd, "rb") as file:
        yield b"data %d\n" % size
        while piece := file.read(_PIECE):
            hashed.update(piece)
            yield piece
    if hashed.hexdigest() != node.sha256:
        raise StaleFileError(_CHANGED.format(path))
    yield b"\n"


def _quoted(path: str) -> bytes:
    name = os.fsencode(path).replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    return b'"%b"' % name


def _import(folder: Path, branch: str, entries: Iterable[bytes]) -> None:
    command = _command("fast-import", "--quiet", "--done")
    with subprocess.Popen(
        command, cwd=folder, env=_environment(folder), stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as git:  # fmt: skip
        assert git.stdin is not None  # noqa: S101  it is a pipe
        try:
            with suppress(BrokenPipeError):
                git.stdin.write(b"commit refs/heads/%b\n%b" % (branch.encode(), _AUTHOR))
                for entry in entries:
                    git.stdin.write(entry)
                git.stdin.write(b"done\n")
                git.stdin.close()
        except BaseException:
            git.kill()
            raise
        said = git.stderr.read() if git.stderr else b""
    _check(git.returncode, said)


def _git(folder: Path, *words: str, output: BinaryIO | None = None) -> None:
    done = subprocess.run(
        _command(*words),
        cwd=folder,
        env=_environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL if output is None else output,
        stderr=subprocess.PIPE,
        check=False,
    )
    _check(done.returncode, done.stderr)


def _check(code: int, said: bytes) -> None:
    if code:
        words = said.decode(errors="replace").strip()
        raise FileOperationError(f"git cannot write the patch: {words or f'exit code {code}'}")


def _command(*words: str) -> list[str]:
    program = shutil.which("git", path=":".join(SEARCH_PATH))
    if program is None:
        raise CommandExecutionError(_NO_GIT)
    return [program, *words]


def _environment(folder: Path) -> dict[str, str]:
    """Nothing of this person's settings has a say."""
    return {
        "PATH": ":".join(SEARCH_PATH),
        "HOME": str(folder),
        "GIT_DIR": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "LC_ALL": "C",
    }

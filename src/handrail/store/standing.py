"""What the checkpoints on disk say about the database beside them.

A checkpoint is written only after the lines it seals are durable. So a database that lacks a
sealed line has lost it: the file is missing, empty, an older copy, or was changed.
"""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from handrail.core.checkpoint import Checkpoint
from handrail.core.errors import BrokenRecord
from handrail.core.restoration import RESTORED, read_restoration
from handrail.store.audit_key import is_signed
from handrail.store.checkpoints import find_last_checkpoint
from handrail.store.faults import fault_of
from handrail.store.look import open_to_look
from handrail.store.rows import read_audit_entry


def find_loss(database: Path, checkpoints: Path, key: Path) -> str | None:
    """A sentence that says which sealed lines the database lacks; None if it has them all.

    Raises:
        StoreUnavailable: It cannot be read.
    """
    # Read first: a running server adds to the database before it adds a checkpoint.
    sealed = list(_last_checkpoints(checkpoints))
    if not sealed and not key.exists():
        return None
    proof = _seal(max(sealed, key=lambda one: one.at)) if sealed else f"{key} shows it was in use"
    if not database.exists():
        return f"{database} is missing, but {proof}"
    if database.stat().st_size == 0:
        return f"{database} is empty, but {proof}"
    with _opened(database) as connection:
        losses = (_loss_of(connection, database, last) for last in sealed)
        return next((loss for loss in losses if loss is not None), None)


def holds_records(database: Path) -> bool:
    """Whether it is a database with a table for records; raises StoreUnavailable as above."""
    if not database.exists() or database.stat().st_size == 0:
        return False
    with _opened(database) as connection:
        return _has_records(connection)


@contextmanager
def _opened(database: Path) -> Generator[Any]:
    try:
        connection = open_to_look(database)
        try:
            yield connection
        finally:
            connection.close()
    except apsw.Error as error:
        if (fault := fault_of(error, database)) is None:
            raise
        raise fault from error


def _has_records(connection: Any) -> bool:
    return bool(connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'audit'").get)


def _last_checkpoints(folder: Path) -> Iterator[Checkpoint]:
    for file in sorted(folder.glob("*.jsonl")):
        try:
            last = find_last_checkpoint(file)
        except BrokenRecord:
            continue  # The file of checkpoints is at fault; `audit verify` says so.
        if last is not None:
            yield last


def _seal(last: Checkpoint) -> str:
    return (
        f"line {last.seq} of project {last.project_id} was sealed on {last.at:%d %b %Y at %H:%M:%S}"
    )


def _was_left_by_restore(connection: Any, last: Checkpoint) -> bool:
    """Whether a restore that the owner of the key has signed goes on without this checkpoint."""
    lines = connection.execute(
        "SELECT * FROM audit WHERE project_id = ? AND action = ?", (last.project_id, RESTORED)
    )
    try:
        restored = [read_restoration(read_audit_entry(line)) for line in lines]
    except BrokenRecord:
        return False
    return any(
        one.leaves_behind(last.number) and one.key == last.key and is_signed(one)
        for one in restored
    )


def _loss_of(connection: Any, database: Path, last: Checkpoint) -> str | None:
    if not _has_records(connection):
        return f"{database} holds no records, but {_seal(last)}"
    of_project = "FROM audit WHERE project_id = ?"
    found = connection.execute(
        f"SELECT hash {of_project} AND seq = ?", (last.project_id, last.seq)
    ).get
    if found == last.hash:
        return None
    if _was_left_by_restore(connection, last):
        return None
    end = connection.execute(f"SELECT max(seq) {of_project}", (last.project_id,)).get
    # The first line is sealed before it is stored: a crash between the two loses nothing.
    if end is None and last.seq == 1:
        return None
    if found is not None:
        return f"{database} contradicts its checkpoints: it holds another line where {_seal(last)}"
    return (
        f"{database} is older than its checkpoints: the record ends at line {end or 0},"
        f" but {_seal(last)}"
    )

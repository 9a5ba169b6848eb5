"""Restoring a backup: prepared in a folder of its own, then put in place by one rename."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from handrail.app.backup.archive import Manifest, read_archive
from handrail.app.backup.fencing import Ended, fence
from handrail.app.backup.make import OnProgress, check_database, read_positions
from handrail.app.backup.placing import install_files, list_by_hand, put_in_place, undo_unfinished
from handrail.app.backup.staging import staging
from handrail.app.clock import SystemClock
from handrail.app.home import Home
from handrail.core.errors import SetupError, StoreUnavailable
from handrail.core.ids import ProjectId
from handrail.core.restoration import Restoration
from handrail.store.audit_key import AuditKey
from handrail.store.checkpoints import checkpoint_file, read_checkpoints
from handrail.store.migrate import HEAD
from handrail.store.restore import (
    Access,
    Present,
    carry_over_access,
    read_present,
    renumber_events,
)
from handrail.store.sqlite_file import SqliteError


@dataclass(frozen=True, slots=True)
class Prepared:
    """A restore that is ready; nothing has changed yet.

    `present_is_readable` is False where the database that is replaced tells nothing.
    """

    home: Home
    folder: Path
    at: datetime
    manifest: Manifest
    restorations: tuple[Restoration, ...]
    access: Access
    ended: Ended
    present_is_readable: bool

    @property
    def by_hand(self) -> list[str]:
        """Files that a person has written, and that come with the backup."""
        return list_by_hand(self.home, self.folder)

    def commit(self) -> Path | None:
        """Put it in place; gives the name under which the present database is kept."""
        install_files(self.home, self.folder)
        return put_in_place(self.home, self.folder / self.home.database.name, self.at)


@contextmanager
def prepare_restore(home: Home, file: Path, on_progress: OnProgress) -> Generator[Prepared]:
    """Verify a backup and make it ready, while no server and no client can run.

    Raises:
        SetupError: One is running, or the backup is damaged, too new, or of another folder.
    """
    with _at_rest(home), staging(home, "restore") as folder:
        undo_unfinished(home)
        yield _prepare(home, file, folder, on_progress)


@contextmanager
def _at_rest(home: Home) -> Generator[None]:
    home.create()
    # A folder in which no server has run yet has no lock to hold.
    (home.path / "server.lock").touch(mode=0o600)
    with home.at_rest(), home.exchanging():
        yield


def _prepare(home: Home, file: Path, folder: Path, on_progress: OnProgress) -> Prepared:
    at = SystemClock().now()
    copy = Home(folder)
    manifest = _unpack(file, copy, on_progress)
    key = _choose_key(home, copy, file)
    present = read_present(home.database)
    restorations = tuple(
        key.sign(_describe(home, copy, manifest, ProjectId(one.project_id), present, file))
        for one in manifest.projects
    )
    try:
        access = carry_over_access(copy.database, home.database if present else None, at)
    except (SqliteError, StoreUnavailable):
        # It can be opened, but some of its pages cannot be read.
        present = None
        access = carry_over_access(copy.database, None, at)
    renumber_events(copy.database, present, at)
    details = {
        "file": file.name,
        "version": manifest.version,
        "tokens_revoked": list(access.revoked),
        "tokens_added": list(access.added),
        "sessions_stopped": access.sessions_stopped,
    }
    ended = asyncio.run(fence(copy, restorations, details, at))
    return Prepared(home, folder, at, manifest, restorations, access, ended, present is not None)


def _unpack(file: Path, copy: Home, on_progress: OnProgress) -> Manifest:
    manifest = read_archive(
        file, copy.path, lambda done, size: on_progress("unpacking byte", done, size)
    )
    if manifest.schema > HEAD:
        raise SetupError(
            f"{file} was written by a newer Handrail ({manifest.version}, schema "
            f"{manifest.schema}; this one knows {HEAD}). Upgrade Handrail, then restore"
        )
    check_database(copy.database, file)
    found = asyncio.run(read_positions(copy, on_progress))
    told = {one.project_id: (one.lines, one.hash, one.broken is None) for one in manifest.projects}
    if {one.project_id: (one.lines, one.hash, one.broken is None) for one in found} != told:
        broken = next((one.broken for one in found if one.broken is not None), None)
        why = broken or "its audit chain ends elsewhere than its manifest says"
        raise SetupError(f"{file} cannot be trusted: {why}. Nothing was restored")
    return manifest


def _choose_key(home: Home, copy: Home, file: Path) -> AuditKey:
    """The key that goes on sealing: the one of the backup, which must not be another than ours."""
    ours, theirs = AuditKey.find(home.audit_key), AuditKey.find(copy.audit_key)
    if ours is not None and theirs is not None and ours.public != theirs.public:
        raise SetupError(
            f"{file} is a backup of another Handrail folder: {home.audit_key} is another key. "
            "Restore it into an empty folder with --home, or move that file away first"
        )
    return ours or theirs or AuditKey.find_or_make(copy.audit_key)


def _describe(
    home: Home,
    copy: Home,
    manifest: Manifest,
    project_id: ProjectId,
    present: Present | None,
    file: Path,
) -> Restoration:
    """The position where the chain continues, and the checkpoints and lines after it."""
    (position,) = [one for one in manifest.projects if one.project_id == project_id]
    _check_same_beginning(home, copy, project_id, file)
    kept = left = 0
    last_line = position.lines
    with read_checkpoints(copy.checkpoints, project_id) as checkpoints:
        for one in checkpoints:
            kept = left = one.number
    with read_checkpoints(home.checkpoints, project_id) as checkpoints:
        for one in checkpoints:
            if one.number > kept:
                left, last_line = one.number, max(last_line, one.seq)
    if present is not None and (head := present.heads.get(project_id)) is not None:
        last_line = max(last_line, head.seq)
    lines_left = last_line - position.lines
    return Restoration(
        project_id, position.lines, position.hash, manifest.created_at, kept, left, lines_left, ""
    )


def _check_same_beginning(home: Home, copy: Home, project_id: ProjectId, file: Path) -> None:
    """Checkpoints are only ever added, so that one file must begin with the other."""
    ours = _whole_lines(checkpoint_file(home.checkpoints, project_id))
    theirs = _whole_lines(checkpoint_file(copy.checkpoints, project_id))
    if not (ours.startswith(theirs) or theirs.startswith(ours)):
        raise SetupError(
            f"the checkpoints in {home.checkpoints} contradict those in {file}: one of them was "
            "changed. Nothing was restored; restore into an empty folder with --home to look at it"
        )


def _whole_lines(file: Path) -> bytes:
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return b""
    return content[: content.rfind(b"\n") + 1]

"""Making a backup, also while a server runs."""

import asyncio
import os
import secrets
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from handrail.app.audit import verify
from handrail.app.backup.archive import (
    KIND,
    Manifest,
    Position,
    list_members,
    read_archive,
    write_archive,
)
from handrail.app.backup.staging import staging
from handrail.app.clock import SystemClock
from handrail.app.home import WRITTEN_BY_HAND, Home
from handrail.app.storage import open_store
from handrail.bus.local import LocalBus
from handrail.core.errors import SetupError, StoreUnavailable
from handrail.store.folders import sync_folder
from handrail.store.look import look_into
from handrail.store.migrate import HEAD
from handrail.store.restore import list_blobs
from handrail.store.sqlite_file import SqliteError, SqliteFile
from handrail.version import __version__

# Called with what is being done, how much of it is done, and how much there is.
OnProgress = Callable[[str, int, int], None]

_MOST_CHECK_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class Made:
    """A backup that was read back after it was written."""

    file: Path
    size_bytes: int
    manifest: Manifest


def make_backup(home: Home, file: Path | None, on_progress: OnProgress) -> Made:
    """Write a backup of everything that a restore needs, under its name only when it is whole.

    Raises:
        SetupError: There is no database, it is damaged, or the file cannot be written.
    """
    if not home.database.exists():
        raise SetupError(f"there is no database in {home.path}, so there is nothing to back up")
    at = SystemClock().now()
    named = file or home.backups / f"handrail-{at:%Y%m%dT%H%M%SZ}.tar"
    target = Path(os.path.abspath(named))
    _check_target(home, target)
    with staging(home, "backup") as folder:
        _link_all(home.path / "blobs", folder / "blobs")
        # Before the database: what is sealed by now is in its copy.
        _copy_files(home, folder)
        _copy_database(home, folder, on_progress)
        check_database(folder / home.database.name, home.database)
        positions = asyncio.run(read_positions(Home(folder), on_progress))
        missing = _keep_held_blobs(home, folder)
        _drop_leftovers(folder, home)
        files = list_members(folder)
        manifest = Manifest(KIND, __version__, HEAD, at, positions, files, missing)
        size = _write(target, manifest, folder, on_progress)
    return Made(target, size, manifest)


def check_database(path: Path, name: Path) -> None:
    """Raises SetupError where SQLite finds a page damaged; `name` is what the person knows."""
    try:
        look = look_into(path, _MOST_CHECK_SECONDS)
    except OSError as error:
        raise SetupError(f"{name} cannot be opened as a database: {error}") from error
    if not look.sound:
        raise SetupError(f"{name} is damaged: {look.trouble}")


async def read_positions(home: Home, on_progress: OnProgress) -> list[Position]:
    """The audit chain of every project in a folder, verified."""
    async with open_store(home, LocalBus()) as store:
        heads = await store.list_audit_heads()
        projects = {project_id: await store.find_project(project_id) for project_id, _ in heads}
    positions: list[Position] = []
    for project_id, head in sorted(heads):
        found = await verify(
            home,
            project_id,
            on_page=lambda page, lines: on_progress("verifying line", page[-1].seq, lines),
        )
        project = projects[project_id]
        name = "" if project is None else project.name
        positions.append(Position(project_id, name, head.seq, head.hash, found.broken))
    return positions


def _check_target(home: Home, target: Path) -> None:
    """Agents read what lies in their workspace, and a backup holds results and a private key."""
    if target.exists():
        raise SetupError(f"{target} is there already; choose another name")
    folder = target.parent.resolve()
    for known in home.list_credentials():
        if folder.is_relative_to(Path(known.workspace)):
            raise SetupError(
                f"agents work in {known.workspace} and could read the backup; "
                "choose a folder outside of it"
            )


def _copy_files(home: Home, folder: Path) -> None:
    for path in (home.audit_key, home.checkpoints, *(home.path / name for name in WRITTEN_BY_HAND)):
        if path.is_dir():
            shutil.copytree(path, folder / path.name, ignore=_only_regular)
        elif path.is_file():
            shutil.copyfile(path, folder / path.name)


def _only_regular(parent: str, names: list[str]) -> Iterable[str]:
    """Skip symbolic links: their targets are not part of the home."""
    paths = (Path(parent, name) for name in names)
    return [
        path.name for path in paths if path.is_symlink() or not (path.is_file() or path.is_dir())
    ]


def _copy_database(home: Home, folder: Path, on_progress: OnProgress) -> None:
    copy = folder / home.database.name
    try:
        database = SqliteFile(home.database, read_only=True)
        try:
            database.copy_to(copy, lambda done, pages: on_progress("copying page", done, pages))
        finally:
            database.close()
    except (SqliteError, StoreUnavailable) as error:
        raise SetupError(f"{home.database} cannot be copied: {error}") from error


def _link_all(source: Path, target: Path) -> None:
    """Keep every blob there is: a running server removes those that no row holds any more."""
    for blob in source.glob("*/*"):
        _link(blob, target / blob.relative_to(source))


def _link(blob: Path, target: Path) -> bool:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        try:
            os.link(blob, target)
        except FileNotFoundError:
            raise
        except OSError:  # This file system knows no hard links.
            shutil.copyfile(blob, target)
    except FileNotFoundError:
        return False
    return True


def _keep_held_blobs(home: Home, folder: Path) -> list[str]:
    """Leave exactly those that the copied database holds; gives the ones that are not there."""
    held = {f"{project_id}/{sha256}" for project_id, sha256 in list_blobs(folder / "handrail.db")}
    for blob in (folder / "blobs").glob("*/*"):
        if blob.relative_to(folder / "blobs").as_posix() not in held:
            blob.unlink()
    return [
        name
        for name in sorted(held)
        if not (folder / "blobs" / name).exists()
        and not _link(home.path / "blobs" / name, folder / "blobs" / name)
    ]


def _drop_leftovers(folder: Path, home: Home) -> None:
    """Remove the files that opening the copy has made beside it."""
    for path in folder.glob(f"{home.database.name}?*"):
        path.unlink()


def _write(target: Path, manifest: Manifest, folder: Path, on_progress: OnProgress) -> int:
    aside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        if target.parent == folder.parent / "backups":
            target.parent.mkdir(mode=0o700, exist_ok=True)
        descriptor = os.open(aside, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w+b") as stream:
            write_archive(
                stream, manifest, folder, lambda done, size: on_progress("writing byte", done, size)
            )
            stream.flush()
            os.fsync(stream.fileno())
        written = read_archive(
            aside, None, lambda done, size: on_progress("reading back byte", done, size)
        )
        if written != manifest:
            raise SetupError(f"{target} does not hold what was written; is the disk damaged?")
        aside.replace(target)
        sync_folder(target.parent)
        return target.stat().st_size
    except OSError as error:
        raise SetupError(f"{target} cannot be written: {error.strerror}") from error
    finally:
        aside.unlink(missing_ok=True)

"""Putting a restored database in place, so that a kill leaves the old one or the new one."""

import os
import shutil
from datetime import datetime
from pathlib import Path

from handrail.app.home import WRITTEN_BY_HAND, Home
from handrail.store.folders import sync_folder

# What SQLite keeps beside a database.
_LOG, _INDEX = "-wal", "-shm"


def list_by_hand(home: Home, folder: Path) -> list[str]:
    """Settings, rules, skills and tools that a backup would add: a person should know of them."""
    entries = [name for name in WRITTEN_BY_HAND if not os.path.lexists(home.path / name)]
    found = [path for name in entries for path in (folder / name, *(folder / name).rglob("*"))]
    return sorted(str(path.relative_to(folder)) for path in found if path.is_file())


def install_files(home: Home, folder: Path) -> None:
    """Add what the restored database needs, before it is there.

    A blob is named by its hash, and a checkpoint file only ever grows: none of this changes what
    the present database says. A policy or a setting that is here now stays.
    """
    for blob in (folder / "blobs").glob("*/*"):
        target = home.path / blob.relative_to(folder)
        for parent in (target.parent.parent, target.parent):
            parent.mkdir(mode=0o700, exist_ok=True)
        blob.replace(target)
        sync_folder(target.parent)
    home.checkpoints.mkdir(mode=0o700, exist_ok=True)
    for file in (folder / home.checkpoints.name).glob("*.jsonl"):
        target = home.checkpoints / file.name
        if not target.exists() or target.stat().st_size < file.stat().st_size:
            file.replace(target)
    for name in (home.audit_key.name, *WRITTEN_BY_HAND):
        source, target = folder / name, home.path / name
        if source.exists() and not os.path.lexists(target):
            source.rename(target)
    sync_folder(home.checkpoints)
    sync_folder(home.path)


def put_in_place(home: Home, restored: Path, at: datetime) -> Path | None:
    """Give the present database another name, and the restored one its place."""
    present, aside = home.database, _free_name(home, at)
    was_there = present.exists()
    if was_there:
        _keep(present, aside)
    for suffix in (_LOG, _INDEX):
        # Left here, SQLite would apply the log of one database to the other.
        beside = present.with_name(f"{present.name}{suffix}")
        if beside.exists():
            beside.rename(aside.with_name(f"{aside.name}{suffix}"))
    sync_folder(home.path)
    restored.replace(present)
    sync_folder(home.path)
    return aside if was_there else None


def undo_unfinished(home: Home) -> None:
    """After a kill in the middle of `put_in_place`, give the old database its log back."""
    for aside in home.path.glob(f"{home.database.name}.before-restore-*"):
        if aside.name.endswith((_LOG, _INDEX)) or not home.database.exists():
            continue
        if aside.samefile(home.database):
            for suffix in (_LOG, _INDEX):
                kept = aside.with_name(f"{aside.name}{suffix}")
                if kept.exists():
                    kept.rename(home.database.with_name(f"{home.database.name}{suffix}"))
            aside.unlink()


def _keep(present: Path, aside: Path) -> None:
    """A second name, and not a rename: there is no moment without a database."""
    try:
        os.link(present, aside)
    except OSError:  # This file system knows no hard links.
        shutil.copy2(present, aside)


def _free_name(home: Home, at: datetime) -> Path:
    name = f"{home.database.name}.before-restore-{at:%Y%m%dT%H%M%SZ}"
    number, aside = 1, home.path / name
    while os.path.lexists(aside):
        number += 1
        aside = home.path / f"{name}-{number}"
    return aside

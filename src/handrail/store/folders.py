"""Folders on disk."""

import os
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Have what was made or renamed in a folder outlast a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

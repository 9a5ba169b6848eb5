"""Files that are for one person's eyes alone."""

import os
from pathlib import Path


def write_private(file: Path, text: str) -> None:
    """Write aside, then rename: a crash leaves the old file or the new one, never half."""
    aside = file.with_suffix(f".{os.getpid()}.tmp")
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    aside.replace(file)

"""The key that seals journals: it lies with Handrail's own files, outside of every workspace."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_BYTES = 32


def key_in(file: Path) -> bytes:
    """The key that a file holds, which is made where there is none.

    Raises:
        OSError: It cannot be read, or be made.
    """
    if not file.exists():
        aside = file.with_name(f"{file.name}.{secrets.token_hex(4)}")
        fd = os.open(aside, _CREATE, 0o600)
        try:
            with os.fdopen(fd, "wb") as stream:
                stream.write(secrets.token_bytes(_BYTES))
                stream.flush()
                os.fsync(fd)
            with suppress(FileExistsError):
                os.link(aside, file)
        finally:
            aside.unlink()
    return file.read_bytes()

"""Reading a file of a repository, where anything may lie under its name."""

import os
import stat


def read_plain(path: str, most: int) -> bytes | None:
    """The content of a file; None where there is none. No link is followed.

    Raises:
        ValueError: It is no plain file, cannot be read, or has more than `most` bytes.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ValueError(error.strerror or "it cannot be opened") from error
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise ValueError("it is not a file")
        if found.st_size > most:
            raise ValueError(f"it is larger than {most:,} bytes")
        with os.fdopen(os.dup(fd), "rb") as file:
            return file.read(most)
    finally:
        os.close(fd)

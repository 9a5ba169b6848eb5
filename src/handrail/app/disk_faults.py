"""Faults of the disk that any command can meet, in words."""

import errno

_WORDS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the disk is read-only",
    errno.EIO: "the disk reports an error",
}


def is_disk_fault(error: BaseException) -> bool:
    """Whether the error comes from the disk: full, over quota, read-only or failing."""
    return isinstance(error, OSError) and error.errno in _WORDS


def disk_fault_words(error: OSError) -> str:
    words = _WORDS[error.errno or errno.EIO]
    return words if error.filename is None else f"{words}: {error.filename} cannot be written"

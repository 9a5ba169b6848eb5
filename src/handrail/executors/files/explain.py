"""What the system said, in words for an agent and a person."""

import errno

from handrail.core.errors import FileOperationError, PathValidationError


def explain(error: OSError, path: str, doing: str) -> PathValidationError | FileOperationError:
    """The error to raise for `error`, met while `doing` something to `path`."""
    match error.errno:
        case errno.ENOENT:
            return FileOperationError(f"{path} does not exist")
        case errno.EXDEV:
            return PathValidationError(
                f"{path} goes through a link that leads out of the workspace, or is absolute"
            )
        case errno.ELOOP:
            return PathValidationError(f"{path} goes through too many links, or a forbidden one")
        case errno.ENOTDIR:
            return FileOperationError(f"a part of {path} is not a directory")
        case errno.EACCES | errno.EPERM:
            return FileOperationError(f"no permission to {doing} {path}")
        case errno.EROFS:
            return FileOperationError(f"{path} is on a read-only file system")
        case errno.ENOSPC | errno.EDQUOT:
            return FileOperationError(f"there is no space left to {doing} {path}")
        case errno.ENAMETOOLONG:
            return FileOperationError(f"{path} has a name that is too long")
        case _:
            return FileOperationError(f"{path}: {error.strerror or error}")

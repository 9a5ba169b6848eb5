"""What both probes share: a file descriptor that no command inside may get."""

import os
from collections.abc import Generator
from contextlib import contextmanager

# For the shell alone, which can start nothing there. It has closed the listing when it looks again.
LIST_DESCRIPTORS = """
for name in /proc/self/fd/*; do
    [ -L "$name" ] && echo "descriptor:${name##*/}"
done
"""
_STANDARD_STREAMS = {"descriptor:0", "descriptor:1", "descriptor:2"}


@contextmanager
def inheritable(folder: str) -> Generator[int]:
    """A descriptor of a folder, without close-on-exec."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.set_inheritable(fd, True)
        yield fd
    finally:
        os.close(fd)


def has_only_streams(seen: set[str]) -> bool:
    """Whether the script listed the three standard streams and nothing else."""
    return {word for word in seen if word.startswith("descriptor:")} == _STANDARD_STREAMS

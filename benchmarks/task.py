"""What is asked for, of everybody: one small file, read from the disk."""

from pathlib import Path

FILE_NAME = "notes.txt"
TEXT = "A line of thirty-two characters\n" * 64


def prepare(workspace: Path) -> None:
    workspace.mkdir()
    (workspace / FILE_NAME).write_text(TEXT)


def check_output(output: object) -> None:
    """An answer counts only if it is one."""
    if output != TEXT:
        raise RuntimeError(f"this is not what the file holds: {output!r:.200}")

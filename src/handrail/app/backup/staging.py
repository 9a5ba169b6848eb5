"""The folder in which one backup or restore is put together."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree

from handrail.app.home import Home
from handrail.app.locks import held


@contextmanager
def staging(home: Home, name: str) -> Generator[Path]:
    """An empty folder for `name`; a folder that a killed process left behind is removed.

    Raises:
        SetupError: Another process does the same.
    """
    home.create()
    trouble = f"another `handrail {name}` is running on {home.path}; wait until it ends"
    folder = home.path / f"{name}.tmp"
    with held(home.path / f"{name}.lock", trouble):
        try:
            if folder.exists():
                rmtree(folder)
            folder.mkdir(mode=0o700)
            yield folder
        finally:
            rmtree(folder, ignore_errors=True)

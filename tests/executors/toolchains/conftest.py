"""A home of the test's own, with whatever it has installed in it."""

from pathlib import Path

import pytest


class Person:
    def __init__(self, home: Path):
        self.home = home

    def install(self, path: str, *programs: str) -> Path:
        """Put programs into a folder of the home."""
        folder = self.home / path
        folder.mkdir(parents=True, exist_ok=True)
        for name in programs:
            (folder / name).write_text("#!/bin/sh\necho here\n")
            (folder / name).chmod(0o755)
        return folder

    def note(self, path: str, text: str) -> Path:
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def link(self, path: str, target: str) -> None:
        (self.home / path).parent.mkdir(parents=True, exist_ok=True)
        (self.home / path).symlink_to(self.home / target)


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    home = tmp_path / "ada"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    return Person(home)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made

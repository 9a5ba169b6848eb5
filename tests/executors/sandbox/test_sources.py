"""What is bound into a box is what was looked at, or nothing is."""

import os
from pathlib import Path

import pytest

from handrail.core.errors import CommandExecutionError
from handrail.executors.sandbox.sources import held


def test_a_folder_is_held_whatever_becomes_of_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "inside").touch()

    with held([str(folder)]) as found:
        folder.rename(tmp_path / "moved")
        folder.symlink_to("/")
        assert os.listdir(f"/proc/self/fd/{found[str(folder)]}") == ["inside"]


@pytest.mark.parametrize("way", ["link", "way/inside", "nothing"])
def test_a_link_a_way_through_one_and_what_is_gone_are_not_held(tmp_path: Path, way: str) -> None:
    (tmp_path / "real" / "inside").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "way").symlink_to("real")
    before = os.listdir("/proc/self/fd")

    with (
        pytest.raises(CommandExecutionError, match="no box could be made for it"),
        held([str(tmp_path / "real"), str(tmp_path / way)]),
    ):
        pass

    assert os.listdir("/proc/self/fd") == before

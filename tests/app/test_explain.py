"""What would happen to a call is said without running anything."""

from pathlib import Path

import pytest

from handrail.app.explain import explain
from handrail.core.errors import BadInput
from handrail.core.project import Autonomy
from handrail.core.risk import RiskLevel
from handrail.core.verdict import Ruling


def test_a_harmless_read_is_allowed_though_the_file_is_not_there(tmp_path: Path) -> None:
    verdict = explain("read_file", {"path": "none.txt"}, tmp_path, Autonomy.READ_ONLY)

    assert (verdict.ruling, verdict.risk, verdict.reasons) == (Ruling.ALLOW, RiskLevel.LOW, ())


def test_the_workspace_is_the_folder_a_link_leads_to(tmp_path: Path) -> None:
    folder, link = tmp_path / "folder", tmp_path / "link"
    folder.mkdir()
    link.symlink_to(folder)

    inside = explain("read_file", {"path": f"{folder}/a"}, link, Autonomy.SUPERVISED)
    outside = explain("read_file", {"path": f"{tmp_path}/a"}, link, Autonomy.SUPERVISED)

    assert (inside.ruling, outside.ruling) == (Ruling.ALLOW, Ruling.DENY)


def test_a_tool_that_does_not_exist_cannot_be_explained(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no tool is named 'launch'"):
        explain("launch", {}, tmp_path, Autonomy.FULL)

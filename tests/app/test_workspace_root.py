"""Agents work in the folders of projects, never in Handrail's own or the system's."""

from pathlib import Path

import pytest

from handrail.app.home import Home
from handrail.app.workspace_root import usable_root
from handrail.core.errors import SetupError


@pytest.fixture
def other_home(tmp_path: Path) -> Path:
    """The folder of a Handrail that this one was not told of."""
    place = tmp_path / "user" / ".handrail"
    (place / "credentials").mkdir(parents=True)
    (place / "handrail.db").touch()
    (place / "audit.key").touch()
    return place


@pytest.mark.parametrize("place", ["user/.handrail", "user/.handrail/credentials", "link", "user"])
def test_the_home_of_another_handrail_is_no_workspace(
    other_home: Path, tmp_path: Path, place: str
) -> None:
    (tmp_path / "link").symlink_to(other_home)
    with pytest.raises(SetupError, match="own"):
        usable_root(Home(tmp_path / "mine"), tmp_path / place)


@pytest.mark.parametrize("place", ["/usr", "/usr/bin", "/etc", "/proc/self", "/dev", "/var"])
def test_a_folder_of_the_system_is_no_workspace(tmp_path: Path, place: str) -> None:
    with pytest.raises(SetupError, match="belongs to the operating system"):
        usable_root(Home(tmp_path / "mine"), Path(place))


def test_the_folder_of_a_project_is_a_workspace(tmp_path: Path) -> None:
    project = tmp_path / "shop"
    (project / ".handrail").mkdir(parents=True)
    (project / ".handrail" / "policy.toml").touch()

    assert usable_root(Home(tmp_path / "mine"), project) == project.resolve()

"""What Handrail made goes, all of it; what is a person's own stays."""

import fcntl
from pathlib import Path

import pytest

from handrail.app.enrol import enrol
from handrail.app.home import Home
from handrail.app.storage import open_store
from handrail.app.uninstall import Item, remove_estate, survey_estate
from handrail.bus.local import LocalBus
from handrail.core.errors import SetupError
from handrail.testing import FakeClock


@pytest.fixture
async def home(tmp_path: Path, workspace: Path, clock: FakeClock) -> Home:
    made = Home(tmp_path / "home")
    async with open_store(made, LocalBus()) as store:
        await enrol(store, clock, made, workspace, "http://127.0.0.1:1")
    return made


def files_in(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def test_everything_is_listed_with_its_size(home: Home) -> None:
    (home.path / "blobs").mkdir()
    (home.path / "blobs" / "one").write_bytes(b"x" * 5000)

    estate = survey_estate(home)

    names = [item.path.name for item in estate.inside]
    assert names == ["audit", "audit.key", "blobs", "credentials", "handrail.db"]
    assert Item(home.path / "blobs", 5000) in estate.inside
    assert estate.size_bytes > 5000
    assert (estate.tours, estate.kept) == ([], [])


def test_the_folder_goes_and_the_workspace_stays(home: Home, workspace: Path) -> None:
    before = files_in(workspace)
    remove_estate(home, survey_estate(home))
    assert not home.path.exists()
    assert files_in(workspace) == before


def test_what_the_tour_made_goes_and_a_policy_stays(home: Home, workspace: Path) -> None:
    (workspace / "handrail-tour").mkdir()
    (workspace / "handrail-tour" / "config.json").write_text("{}")
    (workspace / ".handrail").mkdir()
    (workspace / ".handrail" / "policy.toml").write_text("")

    estate = survey_estate(home)
    remove_estate(home, estate)

    assert [item.path for item in estate.tours] == [workspace / "handrail-tour"]
    assert estate.kept == [workspace / ".handrail"]
    assert files_in(workspace) == [".handrail", ".handrail/policy.toml", "README.md"]


@pytest.mark.parametrize("linked", ["no link", ".handrail", "undo"])
def test_before_images_of_a_workspace_go_unless_a_link_leads_to_them(
    home: Home, workspace: Path, tmp_path: Path, linked: str
) -> None:
    mine = tmp_path / "mine"
    (mine / "undo").mkdir(parents=True)
    (mine / "undo" / "before").write_text("old")
    if linked == ".handrail":
        (workspace / ".handrail").symlink_to(mine)
    elif linked == "undo":
        (workspace / ".handrail").mkdir()
        (workspace / ".handrail" / "undo").symlink_to(mine / "undo")
    else:
        mine.rename(workspace / ".handrail")

    remove_estate(home, survey_estate(home))

    is_linked = linked != "no link"
    assert (mine / "undo" / "before").exists() is is_linked
    assert (workspace / ".handrail").exists() is is_linked


def test_what_a_person_wrote_into_the_folder_stays(home: Home, tmp_path: Path) -> None:
    (home.path / "policy.toml").write_text('unlisted = "ask"\n')
    (home.path / "skills" / "notes").mkdir(parents=True)
    (home.path / "skills" / "notes" / "SKILL.md").write_text("# Notes\n")
    (home.path / "blobs").symlink_to(tmp_path)

    estate = survey_estate(home)
    remove_estate(home, estate)

    assert estate.kept == [home.path / "policy.toml", home.path / "skills"]
    assert not {"policy.toml", "skills"} & {item.path.name for item in estate.inside}
    assert files_in(home.path) == ["policy.toml", "skills", "skills/notes", "skills/notes/SKILL.md"]


@pytest.mark.parametrize("content", ["file", "link", "folder", "linked"])
def test_a_folder_that_only_bears_the_tours_name_stays(
    home: Home, workspace: Path, tmp_path: Path, content: str
) -> None:
    tour = workspace / "handrail-tour"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "config.json").write_text("{}")
    if content == "linked":
        tour.symlink_to(tmp_path / "mine")
    else:
        tour.mkdir()
    if content == "file":
        (tour / "thesis.txt").write_text("years of work")
    if content == "link":
        (tour / "config.json").symlink_to(tmp_path / "mine" / "config.json")
    if content == "folder":
        (tour / "config.json").mkdir()
    before = files_in(workspace)

    remove_estate(home, survey_estate(home))

    assert files_in(workspace) == before
    assert files_in(tmp_path / "mine") == ["config.json"]


def test_links_are_removed_and_never_followed(home: Home, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("gold")
    (home.path / "blobs").symlink_to(outside)
    (home.path / "credentials" / "link").symlink_to(outside / "precious")

    remove_estate(home, survey_estate(home))

    assert not home.path.exists()
    assert (outside / "precious").read_text() == "gold"


@pytest.mark.parametrize("lock", ["server.lock", "credentials/0123.lock"])
def test_while_anything_runs_nothing_is_removed(home: Home, lock: str) -> None:
    estate = survey_estate(home)
    with (home.path / lock).open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(SetupError, match="Handrail is running on"):
            remove_estate(home, estate)
    assert home.database.exists()
    remove_estate(home, estate)


def test_a_folder_that_is_not_handrails_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    for path in (tmp_path / "mine", Path("/"), tmp_path / "nothing", tmp_path / "file"):
        (tmp_path / "file").touch()
        with pytest.raises(SetupError):
            survey_estate(Home(path))
    assert (tmp_path / "mine").is_dir()


@pytest.mark.parametrize("foreign", [".git", ".ssh"])
def test_a_folder_that_is_more_than_handrails_is_refused(home: Home, foreign: str) -> None:
    (home.path / foreign).mkdir()
    with pytest.raises(SetupError, match="does not look like Handrail's own folder"):
        survey_estate(home)


def test_the_persons_own_home_and_what_holds_it_are_refused(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home.path / "ada").mkdir()
    for own in (home.path, home.path / "ada"):
        monkeypatch.setenv("HOME", str(own))
        with pytest.raises(SetupError, match="does not look like Handrail's own folder"):
            survey_estate(home)


def test_a_link_to_the_folder_is_refused(home: Home, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(home.path)
    with pytest.raises(SetupError, match="is a link"):
        survey_estate(Home(link))

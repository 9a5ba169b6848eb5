"""Credentials are for their owner's eyes, and never half written."""

import fcntl
import json
import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from handrail.app.home import Credentials, Home
from handrail.client.journal import Journal
from handrail.core.errors import SetupError


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "deep" / "home")
    made.create()
    return made


def credentials(workspace: Path) -> Credentials:
    return Credentials(
        "http://127.0.0.1:8000", "prj_1", str(workspace), "hr_user_1", "hr_client_1", "hr_agent_1"
    )


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def credentials_file(home: Home) -> Path:
    (file,) = (home.path / "credentials").iterdir()
    return file


def test_what_is_saved_is_found(home: Home, workspace: Path) -> None:
    home.save_credentials(credentials(workspace))

    assert home.find_credentials(workspace) == credentials(workspace)


def test_nobody_else_can_look_into_the_folder_or_the_file(home: Home, workspace: Path) -> None:
    umask = os.umask(0)
    try:
        other = Home(home.path.with_name("other"))
        other.create()
        other.save_credentials(credentials(workspace))
    finally:
        os.umask(umask)

    assert mode(other.path) == 0o700
    assert mode(other.path / "credentials") == 0o700
    assert mode(credentials_file(other)) == 0o600


def test_locks_and_journals_are_closed_also_those_that_an_earlier_version_left_open(
    home: Home, workspace: Path
) -> None:
    locks = [home.path / "server.lock", home.path / "token.lock"]
    locks[0].touch(mode=0o644)
    umask = os.umask(0)
    try:
        Journal(home.journal_folder(credentials(workspace)))
        made_now = mode(home.path / "journal")
        (home.path / "journal").chmod(0o755)
        home.create()
        with home.serving(), home.exchanging(), home.acting_for(workspace):
            pass
    finally:
        os.umask(umask)

    assert (made_now, mode(home.path / "journal")) == (0o700, 0o700)
    locks += (home.path / "credentials").glob("*.lock")
    assert [mode(lock) for lock in locks] == [0o600] * 3


def test_a_second_server_is_refused_also_when_the_lock_file_was_deleted(home: Home) -> None:
    with home.serving():
        (home.path / "server.lock").unlink()

        assert home.is_served()
        with pytest.raises(SetupError, match="another Handrail server is running"), home.serving():
            pass
        with pytest.raises(SetupError, match="Handrail is running on"), home.at_rest():
            pass
        assert not (home.path / "server.lock").exists()
    assert not home.is_served()


def test_a_server_of_a_version_that_locks_only_the_file_is_noticed(home: Home) -> None:
    with (home.path / "server.lock").open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert home.is_served()


def test_a_running_client_is_named_by_its_folder(home: Home, workspace: Path) -> None:
    home.save_credentials(credentials(workspace))

    with home.acting_for(workspace):
        told = f"a client for {workspace} is running; stop it first"
        with pytest.raises(SetupError, match=told), home.at_rest():
            pass


def test_creating_twice_changes_nothing(home: Home, workspace: Path) -> None:
    home.save_credentials(credentials(workspace))

    home.create()

    assert home.find_credentials(workspace) == credentials(workspace)


def test_saving_again_takes_the_place_of_the_old(home: Home, workspace: Path) -> None:
    home.save_credentials(credentials(workspace))
    newer = replace(credentials(workspace), server="http://127.0.0.1:9000")

    home.save_credentials(newer)

    assert home.find_credentials(workspace) == newer
    assert credentials_file(home).suffix == ".json"


def test_a_crash_while_saving_leaves_the_old_file_whole(
    home: Home, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.save_credentials(credentials(workspace))

    def pull_the_plug(descriptor: int) -> None:
        raise OSError("no power")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", pull_the_plug)
        with pytest.raises(OSError, match="no power"):
            home.save_credentials(replace(credentials(workspace), user_token="hr_user_2"))

    assert home.find_credentials(workspace) == credentials(workspace)
    # And what was left lying aside is not in the way.
    newer = replace(credentials(workspace), user_token="hr_user_3")
    home.save_credentials(newer)
    assert home.find_credentials(workspace) == newer


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("{", id="half"),
        pytest.param("[]", id="a-list"),
        pytest.param("{}", id="without-fields"),
        pytest.param('"text"', id="a-word"),
        pytest.param("null", id="null"),
        pytest.param(json.dumps({"server": "x", "colour": "red"}), id="other-fields"),
    ],
)
def test_a_file_that_cannot_be_read_says_what_to_do(home: Home, workspace: Path, text: str) -> None:
    home.save_credentials(credentials(workspace))
    file = credentials_file(home)
    file.write_text(text)

    with pytest.raises(SetupError) as caught:
        home.find_credentials(workspace)

    assert caught.value.message == f"{file} cannot be read; remove it and start again"


def test_a_folder_below_a_workspace_belongs_to_it(home: Home, workspace: Path) -> None:
    deep = workspace / "src" / "deep"
    deep.mkdir(parents=True)
    home.save_credentials(credentials(workspace))

    assert home.get_credentials(deep) == credentials(workspace)
    assert home.get_credentials(workspace) == credentials(workspace)
    assert home.find_credentials(deep) is None


def test_the_nearest_workspace_counts(home: Home, workspace: Path) -> None:
    inner = workspace / "inner"
    (inner / "src").mkdir(parents=True)
    home.save_credentials(credentials(workspace))
    home.save_credentials(credentials(inner))

    assert home.get_credentials(inner / "src") == credentials(inner)


def test_a_link_to_a_workspace_is_the_workspace(home: Home, workspace: Path) -> None:
    link = workspace.with_name("link")
    link.symlink_to(workspace)
    home.save_credentials(credentials(workspace))

    assert home.get_credentials(link) == credentials(workspace)


def test_a_folder_that_is_not_known_says_how_to_make_it_known(home: Home, workspace: Path) -> None:
    with pytest.raises(SetupError) as caught:
        home.get_credentials(workspace)

    assert caught.value.message == (
        f"{workspace} is not set up for Handrail yet; `handrail up` sets it up and starts, "
        "`handrail init` only sets it up, or name another folder"
    )


def test_a_folder_that_cannot_be_made_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    for path in (tmp_path / "file", tmp_path / "file" / "home"):
        with pytest.raises(SetupError, match="cannot make"):
            Home(path).create()


@pytest.mark.parametrize("mode", [0o777, 0o720, 0o1777])
def test_a_folder_that_others_can_write_to_is_refused(tmp_path: Path, mode: int) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(mode)

    with pytest.raises(SetupError, match=r"other users can write to .* `chmod go="):
        Home(tmp_path / "shared").create()


def test_the_database_lies_in_the_folder(home: Home) -> None:
    assert home.database == home.path / "handrail.db"


# The journal


def test_each_workspace_has_a_journal_of_its_own_in_the_folder(home: Home, workspace: Path) -> None:
    one, other = (
        home.journal_folder(credentials(workspace)),
        home.journal_folder(credentials(workspace / "inner")),
    )

    assert one != other
    assert one == Home(home.path).journal_folder(credentials(workspace))
    assert one.parent == other.parent == home.path / "journal"


def test_what_was_begun_for_one_project_is_not_told_to_another(home: Home, workspace: Path) -> None:
    known = credentials(workspace)

    assert home.journal_folder(known) != home.journal_folder(replace(known, project_id="prj_2"))


def test_a_workspace_whose_name_is_no_text_has_a_journal_too(home: Home, workspace: Path) -> None:
    odd = [workspace / os.fsdecode(name) for name in (b"caf\xe9", b"caf\xe8")]

    folders = [home.journal_folder(credentials(path)) for path in odd]

    assert len({home.journal_folder(credentials(workspace)), *folders}) == 3
    assert all(folder.name.isascii() for folder in folders)


async def test_a_journal_is_for_its_owners_eyes_and_away_from_the_credentials(
    home: Home, workspace: Path
) -> None:
    home.save_credentials(credentials(workspace))
    folder = home.journal_folder(credentials(workspace))

    await Journal(folder).begin("exe_1")

    assert mode(folder) == 0o700
    assert [mode(file) for file in folder.iterdir()] == [0o600]
    assert credentials_file(home).parent != folder
    assert home.find_credentials(workspace) == credentials(workspace)


# Alone


def test_a_folder_has_one_server_at_a_time(home: Home) -> None:
    with home.serving(), pytest.raises(SetupError) as caught, home.serving():
        pass
    with home.serving():
        pass

    assert caught.value.message == (
        f"another Handrail server is running on {home.path}; stop it, "
        "or give this one its own folder with --home"
    )


def test_a_workspace_has_one_client_at_a_time(home: Home, workspace: Path) -> None:
    with (
        home.acting_for(workspace),
        home.acting_for(workspace / "other"),
        pytest.raises(SetupError) as caught,
        home.acting_for(workspace),
    ):
        pass
    with home.acting_for(workspace):
        pass

    assert caught.value.message == (
        f"a Handrail client is already running for {workspace}; one is enough"
    )


def test_a_process_that_was_killed_holds_nothing(home: Home) -> None:
    program = (
        "import sys, time; from pathlib import Path; from handrail.app.home import Home\n"
        "with Home(Path(sys.argv[1])).serving(): print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(home.path)], stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(SetupError), home.serving():
            pass
        holder.kill()

    with home.serving():
        pass


def test_credentials_that_are_not_text_are_told_in_words(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.create()
    home._credentials_file(tmp_path).write_bytes(b"\xff\xfe")
    with pytest.raises(SetupError, match="remove it"):
        home.find_credentials(tmp_path)


def test_a_home_that_is_a_file_is_told_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SetupError, match="cannot be read"):
        Home(tmp_path / "file").get_credentials(tmp_path)

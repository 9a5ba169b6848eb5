"""An applied call can be taken back, unless a file was changed since."""

import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from handrail.core.effects import Effect
from handrail.core.errors import NotFound, StaleFileError
from handrail.core.undo import Undone, UndoStatus
from handrail.executors.rehearsal.applied import AppliedSet
from handrail.executors.rehearsal.journal import Journal, Plan, State
from handrail.executors.rehearsal.key import key_in
from handrail.executors.rehearsal.nodes import node_at
from handrail.executors.rehearsal.recording import FileChange
from handrail.executors.rehearsal.undo import UndoStore
from tests.executors.rehearsal.workbench import Workbench

pytest_plugins = ["tests.executors.rehearsal.fixtures"]


DAY = 24 * 3600


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def kept(bench: Workbench) -> list[str]:
    return [one.call for one in bench.store.undoable()]


def test_an_applied_call_is_undone(bench: Workbench) -> None:
    (bench.root / "d").mkdir()
    for name in ("a", "d/b"):
        (bench.root / name).write_text(name)
    bench.apply(bench.effects_of("echo x > a; rm -r d; mkdir new; echo y > new/y"), "one")
    assert kept(bench) == ["one"]
    bench.store.undo("one")
    assert bench.files() == {"a": "a", "d/b": "d/b"}
    assert not (bench.root / "new").exists()
    assert kept(bench) == []


def test_the_old_file_itself_comes_back(bench: Workbench) -> None:
    (bench.root / "a").write_text("a")
    os.setxattr(bench.root / "a", "user.mine", b"1")
    before = (bench.root / "a").stat()
    bench.apply(bench.effects_of("echo x > a"))
    bench.store.undo("call")
    after = (bench.root / "a").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert os.getxattr(bench.root / "a", "user.mine") == b"1"


def test_what_was_changed_since_is_not_undone(bench: Workbench) -> None:
    (bench.root / "a").write_text("a")
    (bench.root / "b").write_text("b")
    bench.apply(bench.effects_of("echo x > a; rm b"))
    (bench.root / "a").write_text("by a person")
    with pytest.raises(StaleFileError, match="a has other content now; nothing was undone"):
        bench.store.undo("call")
    assert bench.files() == {"a": "by a person"}
    assert kept(bench) == ["call"]


def test_a_folder_that_holds_another_file_by_now_is_not_undone(bench: Workbench) -> None:
    bench.apply(bench.effects_of("mkdir d; echo x > d/x"))
    (bench.root / "d/mine").write_text("mine")
    with pytest.raises(StaleFileError, match="d holds a new file"):
        bench.store.undo("call")
    assert bench.files() == {"d/mine": "mine", "d/x": "x\n"}
    assert kept(bench) == ["call"]


def test_a_file_saved_just_before_a_crash_of_an_undo_is_not_lost(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bench.root / "a").write_text("before")
    bench.apply(bench.effects_of("echo after > a"))
    begin = AppliedSet._begin

    def save_at_the_commit_point(undo: AppliedSet, *, forward: bool) -> None:
        begin(undo, forward=forward)
        (bench.root / "new").write_text("saved")
        (bench.root / "new").rename(bench.root / "a")

    with monkeypatch.context() as crashing:
        crashing.setattr(AppliedSet, "_begin", save_at_the_commit_point)
        # The saved file has come out into the slot, and the next step would put it back.
        crashing.setattr(AppliedSet, "_give_back", crash)
        with pytest.raises(KeyboardInterrupt):
            bench.store.undo("call")
    bench.store.resume()

    assert bench.files() == {"a": "saved"}


def crash(*_: object) -> None:
    raise KeyboardInterrupt


def test_several_calls_are_undone_in_reverse_order(bench: Workbench) -> None:
    (bench.root / "a").write_text("0")
    for number in "123":
        bench.apply_line(f"printf {number} > a; touch n{number}", number)
    undone = bench.store.undo_all(["2", "3"])
    assert undone == [Undone("3", UndoStatus.UNDONE), Undone("2", UndoStatus.UNDONE)]
    assert bench.files() == {"a": "1", "n1": ""}
    assert kept(bench) == ["1"]


def test_an_earlier_call_on_the_same_file_waits_for_the_later_one(bench: Workbench) -> None:
    for number in "12":
        bench.apply_line(f"printf {number} > a", number)
    with pytest.raises(StaleFileError):
        bench.store.undo("1")
    assert bench.files() == {"a": "2"}


def test_a_call_is_undone_once_and_then_said_to_be_undone(bench: Workbench) -> None:
    (bench.root / "a").write_text("old")
    bench.apply_line("printf new > a", "call")
    assert bench.store.undo("call")
    (bench.root / "a").write_text("by a person")
    assert not bench.store.undo("call")
    assert bench.store.undo_all(["call"]) == [Undone("call", UndoStatus.BEFORE)]
    assert bench.files() == {"a": "by a person"}


def test_a_call_that_was_undone_takes_no_space_and_is_forgotten_in_time(bench: Workbench) -> None:
    now = 1_000_000.0
    bench.store = UndoStore(bench.root_fd, b"key", most_age_seconds=DAY, now=lambda: now)
    (bench.root / "a").write_text("0" * 1000)
    bench.apply_line("printf new > a", "call")
    bench.store.undo("call")
    place = bench.root / ".handrail/undo"
    assert sorted(file.name for file in place.glob("*/*")) == ["slots", "state.json"]
    assert [*place.glob("*/slots/*")] == []
    now += DAY + 1
    bench.store.prune()
    assert [*place.glob("*/")] == []


def test_the_first_refusal_ends_an_undo_of_several(bench: Workbench) -> None:
    for number in "1234":
        bench.apply_line(f"printf {number} > f{number}", number)
    bench.store.undo("2")
    (bench.root / "f3").write_text("by a person")
    told = {one.call: one.status for one in bench.store.undo_all([*"12345"])}
    assert told == {
        "5": UndoStatus.NOT_KEPT,
        "4": UndoStatus.UNDONE,
        "3": UndoStatus.REFUSED,
        "2": UndoStatus.BEFORE,
        "1": UndoStatus.NOT_TRIED,
    }
    assert bench.files() == {"f1": "1", "f3": "by a person"}


def test_an_unknown_call_cannot_be_undone(bench: Workbench) -> None:
    with pytest.raises(NotFound):
        bench.store.undo("never")


def test_the_oldest_calls_are_forgotten_when_there_is_too_much(bench: Workbench) -> None:
    (bench.root / "a").write_text("0" * 1000)
    bench.store = UndoStore(bench.root_fd, b"key", most_bytes=2_500)
    for number in "1234":
        bench.apply_line(f"printf '%01000d' {number} > a", number)
    assert kept(bench) == ["3", "4"]


def test_calls_are_forgotten_after_a_while(bench: Workbench) -> None:
    now = 1_000_000.0
    bench.store = UndoStore(bench.root_fd, b"key", most_age_seconds=DAY, now=lambda: now)
    bench.apply_line("touch a", "old")
    now += DAY / 2
    bench.apply_line("touch b", "young")
    now += DAY / 2 + 1
    bench.store.prune()
    assert kept(bench) == ["young"]


def test_the_write_of_a_file_tool_is_undone_too(bench: Workbench) -> None:
    path = bench.root / "a"
    path.write_text("old")
    path.chmod(0o640)
    with bench.store.recording("write", FileChange("a", sha256("new"))):
        (bench.root / "aside").write_text("new")
        (bench.root / "aside").rename(path)
    bench.store.undo("write")
    assert bench.files() == {"a": "old"}
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_new_file_of_a_file_tool_is_undone_with_its_folders(bench: Workbench) -> None:
    with bench.store.recording("write", FileChange("d/e/a", sha256("new"))):
        (bench.root / "d/e").mkdir(parents=True)
        (bench.root / "d/e/a").write_text("new")
    bench.store.undo("write")
    assert not (bench.root / "d").exists()


def test_a_write_that_was_never_made_is_not_kept(bench: Workbench) -> None:
    (bench.root / "a").write_text("old")

    def write_nothing() -> None:
        with bench.store.recording("write", FileChange("a", sha256("new"))):
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="disk is full"):
        write_nothing()
    assert kept(bench) == []
    assert bench.files() == {"a": "old"}


WRITE_AND_DIE = """
import os, sys
from handrail.executors.rehearsal.recording import FileChange
from handrail.executors.rehearsal.undo import UndoStore
store = UndoStore(os.open(sys.argv[1], os.O_RDONLY), b"key")
with store.recording("write", FileChange("a", sys.argv[2])):
    open(os.path.join(sys.argv[1], "a"), "w").write(sys.argv[3])
    os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("written", ["new", "half"])
def test_a_write_that_a_crash_cut_off_is_known_by_its_content(
    bench: Workbench, written: str
) -> None:
    (bench.root / "a").write_text("old")
    words = [str(bench.root), sha256("new"), written]
    subprocess.run([sys.executable, "-c", WRITE_AND_DIE, *words], check=False)
    assert bench.store.resume() == {"write": written == "new"}
    assert kept(bench) == (["write"] if written == "new" else [])


TAKE_AWAY_AND_DIE = """
import os, sys
from handrail.executors.rehearsal.recording import FileChange
from handrail.executors.rehearsal.undo import UndoStore
root, path, sha256, source, when = sys.argv[1:]
os.chdir(root)
store = UndoStore(os.open(root, os.O_RDONLY), b"key")
with store.recording("call", FileChange(path, sha256, source)):
    if when == "after":
        os.rename(source, path) if source else os.unlink(path)
    os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    ("path", "content", "source"), [("a", "", ""), ("b", "old", "a")], ids=["remove", "move"]
)
def test_a_crash_leaves_a_file_in_place_or_its_removal_undoable(
    bench: Workbench, path: str, content: str, source: str, when: str
) -> None:
    (bench.root / "a").write_text("old")
    (bench.root / "a").chmod(0o640)
    words = [str(bench.root), path, content and sha256(content), source, when]
    subprocess.run([sys.executable, "-c", TAKE_AWAY_AND_DIE, *words], check=False)
    assert bench.store.resume() == {"call": when == "after"}
    if when == "after":
        bench.store.undo("call")
    assert kept(bench) == []
    assert bench.files() == {"a": "old"}
    assert (bench.root / "a").stat().st_mode & 0o777 == 0o640


def test_what_a_crash_has_left_before_the_commit_point_is_removed(bench: Workbench) -> None:
    bench.apply(bench.effects_of("echo x > a"))
    left = bench.root / ".handrail/undo" / f"0000000009-{24 * 'b'}"
    (left / "slots").mkdir(parents=True)
    (left / "slots/0").write_text("staged")
    assert UndoStore(bench.root_fd, b"key").resume() == {}
    assert not left.exists()
    assert kept(bench) == ["call"]


def test_two_stores_take_turns(bench: Workbench) -> None:
    (bench.root / "a").write_text("a")
    effects = bench.effects_of("echo x > a")
    other = UndoStore(bench.root_fd, b"key")
    with other.opened():
        thread = threading.Thread(target=bench.apply, args=(effects,))
        thread.start()
        assert (bench.root / "a").read_text() == "a"
    thread.join()
    assert (bench.root / "a").read_text() == "x\n"


def plant(root: Path, key: bytes | None = None, name: str = "9999999999-" + 24 * "a") -> None:
    """A journal as a hostile repository may hold it, half way to a hook of git."""
    folder = root / ".handrail/undo" / name
    (folder / "slots").mkdir(parents=True)
    (folder / "slots/0").write_text("#!/bin/sh\n")
    slots_fd = os.open(folder / "slots", os.O_RDONLY)
    after = node_at(slots_fd, "0")
    os.close(slots_fd)
    plan = Plan("planted", time.time(), (Effect(".git/hooks/pre-commit", None, after),), (1,))
    standing = {"state": "applying", "call": "planted", "at": plan.at, "kept_bytes": 0}
    for file, told in (("plan.json", plan.as_json()), ("state.json", standing)):
        (folder / file).write_text(json.dumps(told))
    if key is not None:
        store_fd = os.open(root / ".handrail/undo", os.O_RDONLY)
        journal = Journal(store_fd, name, key, store_fd)
        journal.write_plan(plan)
        journal.note(State.APPLYING, plan)
        journal.close()
        os.close(store_fd)


@pytest.mark.parametrize("key", [None, b"another", b""])
def test_a_journal_that_came_with_the_workspace_is_never_followed(
    bench: Workbench, key: bytes | None
) -> None:
    (bench.root / ".git/hooks").mkdir(parents=True)
    plant(bench.root, key)
    as_planted = sorted((bench.root / ".handrail").rglob("*"))

    assert bench.store.resume() == {}

    assert list(bench.store.left_alone) == ["9999999999-" + 24 * "a"]
    assert os.listdir(bench.root / ".git/hooks") == []
    assert set(as_planted) <= set((bench.root / ".handrail").rglob("*"))
    assert bench.store.undoable() == []
    bench.apply_line("echo x > a", "mine")
    bench.store.undo("mine")
    assert not (bench.root / "a").exists()


def test_a_journal_that_is_sealed_here_is_followed(bench: Workbench) -> None:
    (bench.root / ".git/hooks").mkdir(parents=True)
    plant(bench.root, b"key")
    assert bench.store.resume() == {"planted": True}
    assert os.listdir(bench.root / ".git/hooks") == ["pre-commit"]


@pytest.mark.parametrize("what", ["file", "link", "pipe", "slots"])
def test_odd_things_in_the_store_keep_nothing_from_being_applied(
    bench: Workbench, what: str
) -> None:
    planted = bench.root / ".handrail/undo/0000000009-aaaaaaaaaaaaaaaaaaaaaaaa"
    planted.parent.mkdir(parents=True)
    match what:
        case "file":
            planted.write_text("x")
        case "link":
            planted.symlink_to(bench.base)
        case "pipe":
            os.mkfifo(planted)
        case _:
            planted.mkdir()
            (planted / "slots").symlink_to(bench.base)
    bench.apply_line("echo x > a", "mine")
    assert bench.files() == {"a": "x\n"}
    assert (bench.base / "ws").is_dir()


def test_the_key_is_made_once_and_read_by_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "undo.key"
    key = key_in(file)
    assert (len(key), key_in(file), file.stat().st_mode & 0o777) == (32, key, 0o600)
    assert os.listdir(tmp_path) == ["undo.key"]

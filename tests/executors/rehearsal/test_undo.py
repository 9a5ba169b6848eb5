"""An applied call can be taken back, unless a file was changed since."""

import hashlib
import os
import subprocess
import sys
import threading

import pytest

from handrail.core.errors import NotFound, StaleFileError
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
    with pytest.raises(StaleFileError, match="cannot be undone: a has other content now"):
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


def test_several_calls_are_undone_in_reverse_order(bench: Workbench) -> None:
    (bench.root / "a").write_text("0")
    for number in "123":
        bench.apply_line(f"printf {number} > a; touch n{number}", number)
    assert bench.store.undo_all(["2", "3"]) == ["3", "2"]
    assert bench.files() == {"a": "1", "n1": ""}
    assert kept(bench) == ["1"]


def test_an_earlier_call_on_the_same_file_waits_for_the_later_one(bench: Workbench) -> None:
    for number in "12":
        bench.apply_line(f"printf {number} > a", number)
    with pytest.raises(StaleFileError):
        bench.store.undo("1")
    assert bench.files() == {"a": "2"}


def test_an_unknown_call_cannot_be_undone(bench: Workbench) -> None:
    with pytest.raises(NotFound):
        bench.store.undo("never")


def test_the_oldest_calls_are_forgotten_when_there_is_too_much(bench: Workbench) -> None:
    (bench.root / "a").write_text("0" * 1000)
    bench.store = UndoStore(bench.root_fd, most_bytes=2_500)
    for number in "1234":
        bench.apply_line(f"printf '%01000d' {number} > a", number)
    assert kept(bench) == ["3", "4"]


def test_calls_are_forgotten_after_a_while(bench: Workbench) -> None:
    now = 1_000_000.0
    bench.store = UndoStore(bench.root_fd, most_age_seconds=DAY, now=lambda: now)
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
    with bench.store.recording("write", "a", sha256("new")):
        (bench.root / "aside").write_text("new")
        (bench.root / "aside").rename(path)
    bench.store.undo("write")
    assert bench.files() == {"a": "old"}
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_new_file_of_a_file_tool_is_undone_with_its_folders(bench: Workbench) -> None:
    with bench.store.recording("write", "d/e/a", sha256("new")):
        (bench.root / "d/e").mkdir(parents=True)
        (bench.root / "d/e/a").write_text("new")
    bench.store.undo("write")
    assert not (bench.root / "d").exists()


def test_a_write_that_was_never_made_is_not_kept(bench: Workbench) -> None:
    (bench.root / "a").write_text("old")

    def write_nothing() -> None:
        with bench.store.recording("write", "a", sha256("new")):
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="disk is full"):
        write_nothing()
    assert kept(bench) == []
    assert bench.files() == {"a": "old"}


WRITE_AND_DIE = """
import os, sys
from handrail.executors.rehearsal.undo import UndoStore
with UndoStore(os.open(sys.argv[1], os.O_RDONLY)).recording("write", "a", sys.argv[2]):
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


def test_what_a_crash_has_left_before_the_commit_point_is_removed(bench: Workbench) -> None:
    bench.apply(bench.effects_of("echo x > a"))
    left = bench.root / ".handrail/undo/0000000009-abc"
    (left / "slots").mkdir(parents=True)
    (left / "slots/0").write_text("staged")
    assert UndoStore(bench.root_fd).resume() == {}
    assert not left.exists()
    assert kept(bench) == ["call"]


def test_two_stores_take_turns(bench: Workbench) -> None:
    (bench.root / "a").write_text("a")
    effects = bench.effects_of("echo x > a")
    other = UndoStore(bench.root_fd)
    with other.opened():
        thread = threading.Thread(target=bench.apply, args=(effects,))
        thread.start()
        assert (bench.root / "a").read_text() == "a"
    thread.join()
    assert (bench.root / "a").read_text() == "x\n"

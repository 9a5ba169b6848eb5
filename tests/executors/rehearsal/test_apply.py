"""A yes applies exactly what was shown, whole or not at all, and never over another's change."""

import os
import signal
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from handrail.core.errors import FileOperationError, PathValidationError, StaleFileError
from handrail.executors.rehearsal.applied import AppliedSet
from handrail.executors.rehearsal.way import Way
from tests.executors.rehearsal.overlay import in_child
from tests.executors.rehearsal.programs import ACCOUNTS, account, run
from tests.executors.rehearsal.workbench import Workbench

pytest_plugins = ["tests.executors.rehearsal.fixtures"]


def test_all_changes_are_made(bench: Workbench) -> None:
    for name in ("changed", "gone"):
        (bench.root / name).write_text(name)
    bench.apply(bench.effects_of("echo more > changed; rm gone; mkdir d; echo new > d/new"))
    assert bench.files() == {"changed": "more\n", "d/new": "new\n"}


def test_modes_links_and_times_are_those_of_the_rehearsal(bench: Workbench) -> None:
    bench.apply(
        bench.effects_of("echo run > run; chmod 750 run; touch -d @1000 run; ln -s run link")
    )
    found = (bench.root / "run").stat()
    assert (stat.S_IMODE(found.st_mode), found.st_mtime) == (0o750, 1000)
    assert os.readlink(bench.root / "link") == "run"


def test_two_names_of_one_new_file_get_bytes_of_their_own(bench: Workbench) -> None:
    bench.apply(bench.effects_of("echo x > a; ln a b"))
    a, b = bench.root / "a", bench.root / "b"
    assert a.read_text() == b.read_text() == "x\n"
    assert a.stat().st_ino != b.stat().st_ino


def test_files_change_in_a_folder_that_may_not_be_written_before_or_after(
    bench: Workbench,
) -> None:
    folder = bench.root / "d"
    folder.mkdir()
    (folder / "a").write_text("a")
    folder.chmod(0o555)
    bench.apply(bench.effects_of("chmod u+w d; echo b > d/a; chmod u-w d"))
    assert (folder / "a").read_text() == "b\n"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o555


def test_nothing_to_apply_leaves_no_trace(bench: Workbench) -> None:
    bench.apply(bench.effects_of("true"))
    assert os.listdir(bench.root) == []


def test_what_is_kept_for_undo_is_hidden_from_git(bench: Workbench) -> None:
    bench.apply(bench.effects_of("echo x > a"))
    assert (bench.root / ".handrail/undo/.gitignore").read_text() == "*\n"


@pytest.mark.parametrize(
    ("meanwhile", "why"),
    [
        (lambda root: (root / "a").write_text("other"), "a has other content now"),
        (lambda root: (root / "a").chmod(0o600), "a has other permissions now"),
        (lambda root: (root / "a").unlink(), "a is gone"),
        (lambda root: (root / "new").write_text("mine"), "new was created meanwhile"),
        (lambda root: (root / "d/b").unlink(), "d/b is gone"),
    ],
)
def test_a_change_since_the_rehearsal_is_stale(
    bench: Workbench, meanwhile: Callable[[Path], object], why: str
) -> None:
    (bench.root / "d").mkdir()
    for name in ("a", "d/b", "other"):
        (bench.root / name).write_text(name)
    effects = bench.effects_of("echo x >> a; echo x > new; rm d/b; rm other")
    meanwhile(bench.root)
    as_left = bench.files()
    with pytest.raises(StaleFileError, match=why):
        bench.apply(effects)
    assert bench.files() == as_left


def test_a_file_that_was_saved_again_with_the_same_bytes_is_not_stale(
    bench: Workbench,
) -> None:
    (bench.root / "a").write_text("a")
    effects = bench.effects_of("echo x > a")
    (bench.root / "a").write_text("a")
    bench.apply(effects)
    assert bench.files() == {"a": "x\n"}


def test_what_was_stale_when_it_was_read_is_not_applied(bench: Workbench) -> None:
    (bench.root / "a").write_text("a")
    bench.run("echo x > a")
    with pytest.raises(StaleFileError, match="during the rehearsal: a"):
        bench.apply(bench.read(start_ns=1))


def test_a_folder_that_became_a_link_to_outside_is_not_followed(bench: Workbench) -> None:
    outside = bench.base / "outside"
    outside.mkdir()
    (outside / "victim").write_text("victim")
    (bench.root / "d").mkdir()
    effects = bench.effects_of("echo evil > d/victim")
    (bench.root / "d").rmdir()
    (bench.root / "d").symlink_to(outside)
    with pytest.raises(FileOperationError):
        bench.apply(effects)
    assert (outside / "victim").read_text() == "victim"


def test_a_file_that_a_program_holds_open_for_writing_is_left_to_it(bench: Workbench) -> None:
    (bench.root / "a").write_text("a")
    (bench.root / "b").write_text("b")
    effects = bench.effects_of("echo x > a; echo x > b")
    with (bench.root / "b").open("r+") as file:
        with pytest.raises(StaleFileError, match="b was changed meanwhile"):
            bench.apply(effects)
        file.write("saved")
    assert bench.files() == {"a": "a", "b": "saved"}


def test_an_old_file_is_kept_until_its_folder_is_back(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bench.root / "d").mkdir()
    for name in ("d/a", "z"):
        (bench.root / name).write_text("old")
    effects = bench.effects_of("echo x > d/a; echo x > z")
    move = AppliedSet._move

    def change_meanwhile(applied: AppliedSet, way: Way, path: str, *others: Any) -> None:
        if path == "z":
            (bench.root / "z").write_text("saved")
            (bench.root / "d").rename(bench.root / "e")
            way.forget()
        move(applied, way, path, *others)

    with monkeypatch.context() as patched:
        patched.setattr(AppliedSet, "_move", change_meanwhile)
        with pytest.raises(StaleFileError, match="z was changed meanwhile"):
            bench.apply(effects)
    assert bench.files() == {"e/a": "x\n", "z": "saved"}
    bench.store.resume()

    (bench.root / "e").rename(bench.root / "d")
    bench.store.resume()

    assert bench.files() == {"d/a": "old", "z": "saved"}
    assert os.listdir(bench.root / ".handrail/undo") == [".gitignore"]


@pytest.mark.parametrize("by_rename", [False, True])
def test_the_newest_of_two_saves_outlasts_a_crash_between_them(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch, *, by_rename: bool
) -> None:
    (bench.root / "a").write_text("a")
    effects = bench.effects_of("echo x > a")
    move = AppliedSet._move

    def save_and_die(applied: AppliedSet, *words: Any) -> None:
        (bench.root / "a").write_text("saved before it was exchanged")
        move(applied, *words)
        os.kill(os.getpid(), signal.SIGKILL)

    def killed() -> None:
        monkeypatch.setattr(AppliedSet, "_move", save_and_die)
        bench.apply(effects)

    assert in_child(killed) is None
    saved = bench.root / ("aside" if by_rename else "a")
    saved.write_text("saved over ours")
    saved.rename(bench.root / "a")
    bench.store.resume()
    assert bench.files() == {"a": "saved over ours"}


def test_a_copy_of_the_rehearsal_that_has_changed_is_not_applied(bench: Workbench) -> None:
    effects = bench.effects_of("echo shown > a")
    (bench.upper / "a").write_text("not shown")
    with pytest.raises(StaleFileError, match="copy of a has changed"):
        bench.apply(effects)
    assert bench.files() == {}
    assert bench.store.undoable() == []


def test_what_is_refused_is_never_applied(bench: Workbench) -> None:
    effects = bench.effects_of("mkfifo pipe; echo x > a")
    with pytest.raises(PathValidationError, match="named pipe"):
        bench.apply(effects)
    assert bench.files() == {}


def test_handrails_own_folder_is_never_changed(bench: Workbench) -> None:
    effects = bench.effects_of("mkdir .handrail; echo x > .handrail/policy.toml")
    with pytest.raises(PathValidationError, match="own"):
        bench.apply(effects)


def test_a_store_that_is_a_link_is_not_used(bench: Workbench, tmp_path: Path) -> None:
    effects = bench.effects_of("echo x > a")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (bench.root / ".handrail").symlink_to(elsewhere)
    with pytest.raises(FileOperationError, match=r"\.handrail/undo cannot be used"):
        bench.apply(effects)
    assert bench.files() == {}
    assert list(elsewhere.iterdir()) == []


# Of each kind as many as these together, half of them as an ordinary user.
RUNS = TRIES = 1_000
# In parts, so that they run beside each other.
PARTS = [(who, first) for who in ACCOUNTS for first in (0, 1_000)]


@pytest.mark.parametrize("who", ACCOUNTS)
def test_some_random_commands_are_applied_as_shown_and_undone_to_the_original(
    who: str, fast_folder: Path, needs_overlay: None
) -> None:
    with account(who) as person:
        told = run(person, "rounds.py", fast_folder, 5_000, 30)
    assert told["wrong"] == []


@pytest.mark.slow
@pytest.mark.points(2)
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("who", "first"), PARTS)
def test_random_commands_are_applied_as_shown_and_undone_to_the_original(
    who: str, first: int, fast_folder: Path, needs_overlay: None
) -> None:
    """Names, kinds, modes, hard links, links, contents, times and attributes, through kills."""
    with account(who) as person:
        told = run(person, "rounds.py", fast_folder, first, RUNS // len(PARTS))
    assert told["wrong"] == []
    assert told["runs"] * len(PARTS) == RUNS
    assert told["kills"] > told["runs"]


@pytest.mark.parametrize("who", ACCOUNTS)
def test_a_kill_before_any_step_leaves_all_or_nothing(
    who: str, fast_folder: Path, needs_overlay: None
) -> None:
    with account(who) as person:
        told = run(person, "every_step.py", fast_folder, 1)
    assert told["wrong"] == []
    assert min(told["ends"].values()) > 20


def test_a_full_disk_leaves_all_or_nothing(tmp_path: Path, needs_overlay: None) -> None:
    with account("tester") as person:
        told = run(person, "full_disk.py", tmp_path)
    ends = [tuple(end) for end in told["found"]]
    assert set(ends) == {("refused",), ("applied", "undone")}
    # The first that has room enough is followed by none that has not.
    assert ends == sorted(ends, reverse=True)


@pytest.mark.slow
@pytest.mark.points(2)
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("who", "first"), PARTS)
def test_what_an_editor_does_meanwhile_is_never_lost(
    who: str, first: int, fast_folder: Path, needs_overlay: None
) -> None:
    with account(who) as person:
        told = run(person, "races.py", fast_folder, first, TRIES // len(PARTS))
    assert told["lost"] == []
    assert sum(told["seen"].values()) * len(PARTS) == TRIES
    assert {seen.partition(":")[0] for seen in told["seen"]} == {
        "before", "during", "after", "apply", "undo", "killed apply", "killed undo",
    }  # fmt: skip
    assert {"apply: done", "apply: stale", "undo: done", "undo: stale"} <= told["seen"].keys()

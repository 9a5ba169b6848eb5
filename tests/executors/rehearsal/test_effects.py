"""The changes that a command would make are read whole, and nothing else is taken for one."""

import os
import socket
import subprocess
import time
from pathlib import Path

import pytest

from handrail.core.effects import Dropped, EffectKind
from handrail.core.files import EntryKind
from handrail.executors.rehearsal.contents import LayerContents
from tests.executors.rehearsal.workbench import Workbench

pytest_plugins = ["tests.executors.rehearsal.fixtures"]


def test_files_that_are_added_changed_and_deleted_are_told(bench: Workbench) -> None:
    (bench.root / "old").write_text("old\n")
    (bench.root / "gone").write_text("gone\n")
    assert bench.kinds_of("echo more >> old; rm gone; mkdir d; echo new > d/new") == {
        "d": "added",
        "d/new": "added",
        "gone": "deleted",
        "old": "changed",
    }


def test_an_effect_tells_both_versions(bench: Workbench) -> None:
    (bench.root / "run").write_text("a")
    (change,) = bench.effects_of("printf bb > run; chmod 755 run").changes
    assert change.before is not None
    assert change.after is not None
    assert (change.before.size, change.after.size) == (1, 2)
    assert change.before.mode == 0o644
    assert change.makes_executable
    before, after = LayerContents(bench.root_fd, bench.upper_fd)(change)
    assert (before, after) == (b"a", b"bb")


def test_a_content_that_is_too_large_for_a_card_is_not_read(bench: Workbench) -> None:
    (change,) = bench.effects_of("printf 12345 > a").changes
    assert LayerContents(bench.root_fd, bench.upper_fd, 4)(change) == (None, None)


@pytest.mark.parametrize(
    "line",
    ["touch a", "cat a", "cp a b; cat b > a; rm b", "chmod 600 a; chmod 644 a", "ls > /dev/null"],
)
def test_a_command_that_leaves_all_contents_and_modes_has_no_effect(
    bench: Workbench, line: str
) -> None:
    (bench.root / "a").write_text("a")
    assert bench.effects_of(line).changes == ()


def test_a_renamed_file_is_stored_as_deleted_and_added_and_told_as_renamed(
    bench: Workbench,
) -> None:
    (bench.root / "a").write_text("content")
    effects = bench.effects_of("mv a b")
    assert [(one.path, one.kind) for one in effects.changes] == [
        ("a", EffectKind.DELETED),
        ("b", EffectKind.ADDED),
    ]
    assert effects.renames == {"b": "a"}


def test_everything_below_a_removed_folder_is_deleted(bench: Workbench) -> None:
    (bench.root / "d/e").mkdir(parents=True)
    (bench.root / "d/e/f").write_text("f")
    assert bench.kinds_of("rm -r d") == dict.fromkeys(("d", "d/e", "d/e/f"), "deleted")


def test_what_a_folder_that_was_made_again_hides_is_deleted(bench: Workbench) -> None:
    (bench.root / "d/e").mkdir(parents=True)
    for name in ("d/a", "d/e/f", "d/e/g"):
        (bench.root / name).write_text(name)
    # The inner folder has no mark of its own, and hides `f` all the same.
    assert bench.kinds_of("rm -r d; mkdir -p d/e; printf d/e/g > d/e/g") == {
        "d/a": "deleted",
        "d/e/f": "deleted",
    }


def test_a_link_of_the_workspace_is_not_followed_where_the_upper_has_a_folder(
    bench: Workbench,
) -> None:
    outside = bench.base / "outside"
    outside.mkdir()
    (outside / "b").write_text("not of the workspace")
    (bench.root / "d").symlink_to(outside)
    effects = bench.effects_of("rm d; mkdir d; echo mine > d/b")
    assert [(one.path, one.before and one.before.kind) for one in effects.changes] == [
        ("d", EntryKind.LINK),
        ("d/b", None),
    ]


def test_a_file_in_place_of_a_folder_deletes_what_was_in_there(bench: Workbench) -> None:
    (bench.root / "d").mkdir()
    (bench.root / "d/a").write_text("a")
    assert bench.kinds_of("rm -r d; echo file > d") == {"d": "changed", "d/a": "deleted"}


def test_links_and_modes_and_attributes_are_told(bench: Workbench) -> None:
    for name in ("a", "b", "c"):
        (bench.root / name).write_text(name)
    line = (
        "ln -s a link; ln b hard; chmod 600 b; "
        'python3 -c \'import os; os.setxattr("c", "user.mine", b"1")\''
    )
    assert bench.kinds_of(line) == {
        "b": "mode",
        "c": "mode",
        "hard": "added",
        "link": "linked",
    }


def test_scratch_is_dropped_and_counted(bench: Workbench) -> None:
    effects = bench.effects_of(
        "mkdir -p src/__pycache__ node_modules/.cache/x .pytest_cache/v;"
        "touch src/__pycache__/a.pyc src/__pycache__/b.pyc node_modules/.cache/x/y"
    )
    assert [one.path for one in effects.changes] == ["node_modules", "src"]
    assert effects.dropped == (
        Dropped(".pytest_cache", 0),
        Dropped("node_modules/.cache", 1),
        Dropped("src/__pycache__", 2),
    )


def test_scratch_goes_with_the_folder_that_holds_it(bench: Workbench) -> None:
    (bench.root / "src/__pycache__").mkdir(parents=True)
    (bench.root / "src/__pycache__/a.pyc").write_text("a")
    assert list(bench.kinds_of("rm -r src")) == [
        "src",
        "src/__pycache__",
        "src/__pycache__/a.pyc",
    ]


def test_a_place_that_the_box_has_made_for_a_mount_is_no_effect(bench: Workbench) -> None:
    effects = bench.effects_of("mkdir .handrail; touch .env .used; echo x > .used")
    covers = (".handrail", ".env", ".used")
    assert len(effects.changes) == 3
    assert [one.path for one in bench.read(covers=covers).changes] == [".used"]


@pytest.mark.parametrize("line", ["rm -r d", "mv d e", "rm -r d; echo > d"])
def test_a_hidden_file_below_a_folder_that_goes_away_is_never_taken_along(
    bench: Workbench, line: str
) -> None:
    (bench.root / "d").mkdir()
    (bench.root / "d/.env").write_text("PASSWORD=1")
    # Hidden by the box, not by the overlay; what counts is that the upper deletes its folder.
    effects = bench.effects_of(line, hidden=["d/.env"])
    assert effects.refusals == ("`.env` in `d` was hidden from the command and would be lost",)
    (secret,) = (one.before for one in effects.changes if one.path == "d/.env")
    assert secret is not None
    assert secret.sha256 == ""


def test_the_content_of_a_hidden_file_is_not_shown(bench: Workbench) -> None:
    (bench.root / ".env").write_text("PASSWORD=1")
    (change,) = bench.effects_of("rm .env", hidden=[".env"]).changes
    assert LayerContents(bench.root_fd, bench.upper_fd)(change) == (None, None)


def test_only_the_first_reasons_are_told(bench: Workbench) -> None:
    effects = bench.effects_of("for i in $(seq 25); do mkfifo $i; done")
    assert len(effects.refusals) == 21
    assert effects.refusals[-1] == "and 5 more reasons"


def test_a_hidden_file_is_never_overwritten(bench: Workbench) -> None:
    (bench.root / ".env").write_text("PASSWORD=1")
    effects = bench.effects_of("echo PASSWORD=2 > .env", hidden=[".env"])
    assert effects.refusals == ("`.env` was hidden from the command and would be overwritten",)


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("mkfifo pipe", "named pipe"),
        ("touch \"$(printf 'a\\nb')\"", "unprintable"),
        ("touch \"$(printf 'a\\377')\"", "unprintable"),
        ("ln -s \"$(printf 'a\\nb')\" link", "unprintable"),
        ("touch run; chmod 4755 run", "set-user-ID"),
        (
            'touch a; python3 -c \'import os; os.setxattr("a", "user.overlay.opaque", b"y")\'',
            "belongs to overlay",
        ),
        ('p=.; for i in $(seq 120); do p=$p/d; done; mkdir -p "$p"', "deeper than 100"),
    ],
)
def test_what_can_never_be_applied_is_refused(bench: Workbench, line: str, word: str) -> None:
    effects = bench.effects_of(line)
    assert len(effects.refusals) == 1
    assert word in effects.refusals[0]


def test_a_socket_is_refused(bench: Workbench) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(bench.upper / "sock"))
        effects = bench.read()
    assert effects.refusals == ("'sock' is a socket, which cannot be applied",)


def test_more_entries_than_are_looked_at_are_refused(bench: Workbench) -> None:
    effects = bench.effects_of("touch 1 2 3 4 5 6", most_entries=5)
    assert effects.refusals == ("it changes more than 5 files and folders",)


def test_more_bytes_than_are_read_are_refused_before_they_are_read(bench: Workbench) -> None:
    effects = bench.effects_of("truncate -s 900G a", most_bytes=1_000_000)
    assert effects.refusals == ("it changes more than 1,000,000 bytes",)


def test_folders_that_are_deeper_than_a_path_can_be_long_are_refused(bench: Workbench) -> None:
    name = "d" * 200
    bench.run(f"for i in $(seq 40); do mkdir {name}; cd -P {name}; done")
    assert "deeper" not in str(bench.read().refusals)
    assert bench.read(most_depth=20).refusals[0].endswith("goes deeper than 20")


def test_a_copy_that_is_not_whole_is_refused(bench: Workbench) -> None:
    (bench.upper / "a").write_text("")
    os.setxattr(bench.upper / "a", "user.overlay.metacopy", b"")
    assert "not whole" in bench.read().refusals[0]


def test_a_deletion_may_be_marked_by_an_attribute(bench: Workbench) -> None:
    (bench.root / "a").write_text("a")
    (bench.upper / "a").write_text("")
    os.setxattr(bench.upper / "a", "user.overlay.whiteout", b"y")
    (change,) = bench.read().changes
    assert change.kind is EffectKind.DELETED


def start_after_all_clocks() -> int:
    """A moment that lies surely behind every change so far."""
    start = time.time_ns()
    while time.time_ns() < start + 50_000_000:
        pass
    return time.time_ns()


def test_a_file_that_others_save_during_the_rehearsal_is_stale(bench: Workbench) -> None:
    (bench.root / "a").write_text("1")
    (bench.root / "b").write_text("1")
    start = start_after_all_clocks()
    bench.run("echo 2 >> a; echo 2 >> b")
    (bench.root / "a").write_text("saved by a person")
    assert bench.read(start).stale == ("a",)


def test_files_that_no_one_else_touches_are_not_stale(bench: Workbench) -> None:
    (bench.root / "a").write_text("1")
    (bench.root / "d").mkdir()
    (bench.root / "d/b").write_text("1")
    start = start_after_all_clocks()
    bench.run("echo 2 >> a; rm -r d; mkdir e")
    assert bench.read(start).stale == ()


def test_a_file_that_others_put_into_a_removed_folder_is_stale(bench: Workbench) -> None:
    (bench.root / "d").mkdir()
    start = start_after_all_clocks()
    bench.run("rm -r d")
    (bench.root / "d/new").write_text("made by a person")
    assert bench.read(start).stale == ("d/new",)


def test_a_changed_file_that_others_delete_during_the_rehearsal_is_stale(
    bench: Workbench,
) -> None:
    (bench.root / "a").write_text("1")
    start = start_after_all_clocks()
    bench.run("echo 2 >> a")
    (bench.root / "a").unlink()
    assert bench.read(start).stale == ("a",)


@pytest.mark.parametrize("line", ["echo 2 >> a", "rm a", "rm a; mkdir a; echo 2 > a/b"])
def test_a_folder_that_others_make_over_a_changed_file_is_stale(
    bench: Workbench, line: str
) -> None:
    (bench.root / "a").write_text("1")
    start = start_after_all_clocks()
    bench.run(line)
    (bench.root / "a").unlink()
    (bench.root / "a").mkdir()
    assert "a" in bench.read(start).stale


@pytest.mark.parametrize("line", ["echo 2 >> src/deep/a", "rm -r src", "rm src/deep/a"])
def test_files_in_a_folder_that_others_exchange_for_another_are_stale(
    bench: Workbench, line: str
) -> None:
    """Files keep their times where the folder above them is moved."""
    for folder in ("src/deep", "other/deep"):
        (bench.root / folder).mkdir(parents=True)
        (bench.root / folder / "a").write_text(folder)
    start = start_after_all_clocks()
    bench.run(line)
    (bench.root / "src").rename(bench.root / "old")
    (bench.root / "other").rename(bench.root / "src")
    assert "src" in bench.read(start).stale


def test_a_new_file_of_others_in_a_folder_leaves_the_changes_beside_it_alone(
    bench: Workbench,
) -> None:
    (bench.root / "src").mkdir()
    (bench.root / "src/a").write_text("1")
    start = start_after_all_clocks()
    bench.run("echo 2 >> src/a")
    (bench.root / "src/log").write_text("made by a server")
    assert bench.read(start).stale == ()


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def test_an_index_that_git_status_has_refreshed_is_no_effect(bench: Workbench) -> None:
    git(bench.root, "init")
    (bench.root / "a").write_text("a")
    git(bench.root, "add", "a")
    git(bench.root, "commit", "-m", "a")
    os.utime(bench.root / "a", (1, 1))
    before = (bench.root / ".git/index").read_bytes()
    bench.run("git -c safe.directory='*' status")
    assert (bench.upper / ".git/index").read_bytes() != before
    assert bench.read().git.changes == ()
    assert bench.read().git.repositories == (".git",)


def test_an_index_with_another_entry_is_an_effect(bench: Workbench) -> None:
    git(bench.root, "init")
    (bench.root / "a").write_text("a")
    git(bench.root, "add", "a")
    bench.run("echo more >> a; git -c safe.directory='*' add a")
    assert ".git/index" in [one.path for one in bench.read().git.changes]

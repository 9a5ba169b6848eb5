"""What a session changes stays in its draft until it is applied."""

import os
from pathlib import Path

import pytest

from handrail.core.box import Profile
from handrail.core.errors import (
    CommandExecutionError,
    FileOperationError,
    PathValidationError,
    StaleFileError,
)
from handrail.core.stage import Stage
from tests.executors.drafts.conftest import OpenDrafts
from tests.executors.drafts.session import DraftSession, contents, paths_of
from tests.executors.rehearsal.repositories import run


async def test_a_write_is_seen_by_the_session_and_not_in_the_workspace(
    session: DraftSession, root: Path
) -> None:
    (root / "a.txt").write_text("old\n")

    await session.write("a.txt", "new\n")
    await session.write("deep/b.txt", "b\n")

    assert await session.read("a.txt") == "new\n"
    assert await session.names() == ["a.txt", "deep"]
    assert await session.search("new") == ["a.txt:1"]
    assert await session.output("cat a.txt deep/b.txt") == "new\nb\n"
    assert contents(root) == {"a.txt": "old\n"}


async def test_files_are_moved_and_removed_in_the_draft_alone(
    session: DraftSession, root: Path
) -> None:
    for name in ("a.txt", "b.txt"):
        (root / name).write_text("old\n")
    # So many steps that some are folded, where a file has several names.
    for number in range(20):
        await session.write(f"n/{number}.txt", "first\n")

    await session.move("a.txt", "lib/a.txt")
    await session.move("n/0.txt", "lib/0.txt")
    await session.remove("b.txt")
    await session.remove("n/1.txt")
    await session.move("lib/a.txt", "b.txt")

    assert await session.names() == ["b.txt", "lib", "n"]
    assert await session.names("lib") == ["lib/0.txt"]
    assert await session.output("cat b.txt lib/0.txt; ls n | wc -l") == "old\nfirst\n18\n"
    assert contents(root) == {"a.txt": "old\n", "b.txt": "old\n"}
    with pytest.raises(StaleFileError):
        await session.move("lib/0.txt", "b.txt")
    await session.apply()
    applied = contents(root)
    assert (applied["b.txt"], applied["lib/0.txt"]) == ("old\n", "first\n")
    assert not {"a.txt", "n/0.txt", "n/1.txt"} & applied.keys()


async def test_a_command_works_on_what_earlier_calls_have_made(
    session: DraftSession, root: Path
) -> None:
    await session.write("a.txt", "one\n")
    await session.shell("echo two >> a.txt; mkdir sub; mv a.txt sub/")
    await session.shell("rm -r sub; echo three > a.txt")

    assert await session.read("a.txt") == "three\n"
    assert await session.names() == ["a.txt"]
    assert contents(root) == {}


async def test_chosen_files_are_applied_and_the_others_stay_in_the_draft(
    session: DraftSession, root: Path
) -> None:
    (root / "a.txt").write_text("old\n")
    (root / "named.txt").write_text("a name\n")
    await session.shell("echo new > a.txt; mkdir -p src/deep; echo x > src/deep/x; echo y > src/y")
    await session.shell("mv named.txt renamed.txt; echo b > b.txt")

    chosen = await session.apply(paths=["src/deep/x", "renamed.txt"])

    first = {"a.txt": "old\n", "renamed.txt": "a name\n", "src": None, "src/deep": None}
    assert contents(root) == {**first, "src/deep/x": "x\n"}
    assert chosen.others == 3
    assert paths_of(await session.sum_up()) == ["a.txt", "b.txt", "src/y"]
    await session.write("b.txt", "later\n")
    await session.apply()
    rest = {"a.txt": "new\n", "b.txt": "later\n", "src/y": "y\n"}
    assert contents(root) == {**first, "src/deep/x": "x\n", **rest}
    with pytest.raises(CommandExecutionError, match="has no draft"):
        await session.sum_up()


async def test_a_choice_leaves_commits_in_the_draft(session: DraftSession, root: Path) -> None:
    run("git init -q .; git commit -q --allow-empty -m first", root)
    await session.shell("git config user.name a; git config user.email a@example.org")
    await session.shell("echo a > a; git add a; git commit -qm second; echo b > b")

    chosen = await session.apply(paths=["a", "b"])

    assert contents(root) == {"a": "a\n", "b": "b\n"}
    assert chosen.effects.git.changes == ()
    rest = await session.apply()
    assert rest.effects.changes == ()
    assert "second" in "".join(note.words for note in rest.effects.git.notes)


async def test_a_path_that_the_draft_does_not_change_cannot_be_chosen(
    session: DraftSession,
) -> None:
    await session.write("src/a.txt", "a\n")

    with pytest.raises(CommandExecutionError, match="the draft changes nothing at sr"):
        await session.apply(paths=["src", "sr"])
    assert paths_of(await session.apply(paths=["src"])) == ["src", "src/a.txt"]
    with pytest.raises(CommandExecutionError, match="has no draft"):
        await session.sum_up()


async def test_another_session_sees_nothing_of_it(session: DraftSession) -> None:
    other = DraftSession(session.drafts, "second")
    await session.write("a.txt", "one\n")
    await other.write("b.txt", "two\n")

    assert await session.names() == ["a.txt"]
    assert await other.names() == ["b.txt"]


async def test_the_sum_is_what_is_applied(session: DraftSession, root: Path) -> None:
    (root / "gone.txt").write_text("gone\n")
    await session.write("a.txt", "one\n")
    await session.shell("echo two > a.txt; rm gone.txt; echo b > b.txt")
    await session.shell("rm b.txt")

    summed = await session.apply()

    assert paths_of(summed) == ["a.txt", "gone.txt"]
    assert len(summed.steps) == 3
    assert contents(root) == {"a.txt": "two\n"}
    with pytest.raises(CommandExecutionError, match="has no draft"):
        await session.sum_up()


async def test_the_first_steps_can_be_applied_and_the_rest_stays(
    session: DraftSession, root: Path
) -> None:
    for number in range(1, 4):
        await session.shell(f"echo {number} >> a.txt; echo {number} > {number}.txt")

    summed = await session.apply(2)

    assert summed.later == 1
    assert contents(root) == {"1.txt": "1\n", "2.txt": "2\n", "a.txt": "1\n2\n"}
    assert await session.read("a.txt") == "1\n2\n3\n"
    assert paths_of(await session.apply()) == ["3.txt", "a.txt"]
    assert contents(root)["a.txt"] == "1\n2\n3\n"


async def test_a_refused_step_goes_with_all_later_ones(session: DraftSession, root: Path) -> None:
    for number in range(1, 4):
        await session.shell(f"echo {number} >> a.txt")

    gone = await session.discard(2)

    assert [step.number for step in gone] == [2, 3]
    assert await session.read("a.txt") == "1\n"
    await session.apply()
    assert contents(root) == {"a.txt": "1\n"}


async def test_a_draft_outlives_its_client(
    session: DraftSession, open_drafts: OpenDrafts, root: Path
) -> None:
    await session.write("a.txt", "one\n")
    await session.drafts.close()

    later = DraftSession(open_drafts())

    assert await later.read("a.txt") == "one\n"
    await later.apply()
    assert contents(root) == {"a.txt": "one\n"}


async def test_many_steps_show_the_same_as_few(session: DraftSession, root: Path) -> None:
    (root / "sub").mkdir()
    (root / "sub/kept.txt").write_text("kept\n")
    for number in range(40):
        await session.shell(f"echo {number} >> sub/log; mkdir -p n; echo {number} > n/{number}")
        if number == 20:
            await session.shell("rm -r sub n; mkdir sub")

    assert await session.output("wc -l < sub/log; ls sub n | wc -l") == "19\n23\n"
    await session.apply()
    assert len(contents(root)) == 22
    assert (root / "sub/log").read_text().splitlines() == [str(n) for n in range(21, 40)]


async def test_a_folded_file_can_be_written_again(session: DraftSession, root: Path) -> None:
    for number in range(20):
        await session.write(f"{number}.txt", "first\n")

    await session.write("0.txt", "second\n")

    assert await session.read("0.txt") == "second\n"


async def test_a_file_saved_by_the_person_is_seen_at_once(
    session: DraftSession, root: Path
) -> None:
    (root / "a.txt").write_text("old\n")
    await session.write("b.txt", "b\n")
    assert await session.read("a.txt") == "old\n"

    (root / "new").write_text("saved\n")
    os.rename(root / "new", root / "a.txt")

    assert await session.read("a.txt") == "saved\n"
    assert await session.output("cat a.txt") == "saved\n"


async def test_a_file_that_both_have_changed_is_a_conflict(
    session: DraftSession, root: Path
) -> None:
    (root / "a.txt").write_text("old\n")
    await session.write("a.txt", "agent\n")
    (root / "a.txt").write_text("person\n")

    summed = await session.sum_up()

    assert summed.conflicts == ("a.txt was changed in the workspace after the draft changed it",)
    with pytest.raises(StaleFileError, match="was changed in the workspace"):
        await session.apply()
    assert contents(root) == {"a.txt": "person\n"}


async def test_a_file_that_a_command_wrote_as_it_was_is_no_change_of_the_draft(
    session: DraftSession, root: Path
) -> None:
    (root / "a.txt").write_text("old\n")
    await session.shell("sed -i s/nothing/x/ a.txt; echo b > b.txt")
    (root / "a.txt").write_text("person\n")

    assert await session.read("a.txt") == "person\n"
    assert await session.output("cat a.txt") == "person\n"
    assert paths_of(await session.apply()) == ["b.txt"]
    assert contents(root) == {"a.txt": "person\n", "b.txt": "b\n"}


async def test_a_file_that_came_into_a_folder_which_the_draft_removed_is_a_conflict(
    session: DraftSession, root: Path
) -> None:
    (root / "d").mkdir()
    (root / "d/old.txt").write_text("old\n")
    await session.shell("rm -r d; mkdir d; echo new > d/new.txt")
    (root / "d/person.txt").write_text("person\n")

    summed = await session.sum_up()

    assert summed.conflicts == (
        "d/person.txt was created in the workspace after the draft removed its folder",
    )
    with pytest.raises(StaleFileError):
        await session.apply()
    assert contents(root)["d/person.txt"] == "person\n"


async def test_the_same_change_by_both_is_no_conflict(session: DraftSession, root: Path) -> None:
    await session.write("a.txt", "same\n")
    await session.write("b.txt", "b\n")
    (root / "a.txt").write_text("same\n")

    assert paths_of(await session.apply()) == ["b.txt"]


async def test_git_of_the_draft_is_told_in_its_words(session: DraftSession, root: Path) -> None:
    await session.shell("git init -q -b main; git config user.name a; git config user.email b")
    await session.apply()
    await session.write("a.txt", "one\n")
    await session.shell("git add a.txt")
    await session.shell("git commit -q -m first")

    assert await session.output("git log --format=%s") == "first\n"
    summed = await session.apply()

    assert summed.effects.git.notes[0].words.startswith("new commit")
    assert run("git log --format=%s; git status -s", root) == "first\n"


async def test_a_guarded_file_is_hidden_also_by_a_second_name(
    session: DraftSession, root: Path
) -> None:
    (root / ".env").write_text("TOKEN=hunter2\n")
    os.link(root / ".env", root / "notes.txt")
    await session.write("a.txt", "one\n")

    for path in (".env", "notes.txt"):
        with pytest.raises(PathValidationError):
            await session.read(path)
    assert await session.search("hunter2") == []
    assert "hunter2" not in await session.output("cat .env notes.txt; grep -r TOKEN .")


async def test_a_link_out_of_the_workspace_is_not_followed(
    session: DraftSession, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/file").write_text("outside\n")
    await session.shell(f"ln -s {tmp_path}/outside out; ln -s ../outside up")

    for path in ("out/file", "up/file"):
        with pytest.raises(PathValidationError):
            await session.read(path)
        with pytest.raises(PathValidationError):
            await session.write(path, "no\n")
    assert (tmp_path / "outside/file").read_text() == "outside\n"


async def test_what_a_write_would_replace_is_looked_at_in_the_draft(session: DraftSession) -> None:
    await session.write("a.txt", "one\n")

    found = await session.work().files.find("a.txt", max_bytes=100)

    assert found is not None
    assert found.data == b"one\n"
    assert await session.work().files.find("deep/b.txt", max_bytes=100) is None


async def test_a_file_is_read_through_the_links_and_folders_of_the_draft(
    session: DraftSession, root: Path
) -> None:
    (root / "d").mkdir()
    (root / "d/a.txt").write_text("old\n")
    (root / "link.txt").symlink_to("d/a.txt")
    (root / "way").symlink_to("d")
    await session.write("d/a.txt", "new\n")

    assert [await session.read(path) for path in ("d/a.txt", "link.txt", "way/a.txt")] == [
        "new\n",
        "new\n",
        "new\n",
    ]
    await session.shell("rm -r d; mkdir e; echo e > e/a.txt; ln -s e d")
    assert await session.read("d/a.txt") == "e\n"
    await session.shell("rm d e/a.txt")
    for path in ("d/a.txt", "e/a.txt", "link.txt"):
        with pytest.raises(FileOperationError):
            await session.read(path)


async def test_a_guarded_file_of_the_draft_is_not_read(session: DraftSession) -> None:
    await session.shell("mkdir d; echo TOKEN=1 > d/.env")

    with pytest.raises(PathValidationError):
        await session.read("d/.env")


async def test_a_draft_that_rested_while_others_worked_goes_on(session: DraftSession) -> None:
    await session.write("a.txt", "one\n")
    call = session.call()
    work = session.work(call)
    stage = Stage(("bash", "-c", "echo two > b.txt"), Profile.WRITE)
    await work.rehearsals.rehearse(call, [stage], timeout_seconds=30)
    for number in range(12):
        await DraftSession(session.drafts, f"other-{number}").shell("echo x > x.txt")

    await work.rehearsals.apply(call)

    assert await session.output("cat a.txt b.txt") == "one\ntwo\n"
    for number in range(12):
        other = DraftSession(session.drafts, f"other-{number}", session.count)
        assert await other.output("cat x.txt") == "x\n"


LINES = "".join(f"line {number}\n" for number in range(1, 21))


async def test_lines_that_both_have_changed_apart_are_merged(
    session: DraftSession, open_drafts: OpenDrafts, root: Path
) -> None:
    (root / "a.txt").write_text(LINES)
    await session.shell("sed -i 's/^line 2$/agent/' a.txt")
    await session.drafts.close()
    session = DraftSession(open_drafts(), count=session.count)
    (root / "a.txt").write_text(LINES.replace("line 18\n", "person\n"))

    summed = await session.sum_up()

    assert summed.conflicts == ()
    assert summed.steps[-1].title.endswith("not tested since: a.txt")
    both = LINES.replace("line 2\n", "agent\n").replace("line 18\n", "person\n")
    assert await session.read("a.txt") == both
    (root / "a.txt").write_text(LINES.replace("line 18\n", "person\n").replace("line 10\n", ""))
    await session.apply()
    assert contents(root) == {"a.txt": both.replace("line 10\n", "")}


async def test_what_the_person_has_put_there_too_is_no_conflict(
    session: DraftSession, root: Path
) -> None:
    (root / "a.txt").write_text(LINES)
    await session.shell("sed -i 's/^line 2$/agent/; s/^line 18$/both/' a.txt")
    (root / "a.txt").write_text(LINES.replace("line 18\n", "both\n"))

    await session.apply()

    assert "agent\n" in (root / "a.txt").read_text()


async def test_a_line_that_both_have_changed_stays_a_conflict(
    session: DraftSession, root: Path
) -> None:
    (root / "a.txt").write_text(LINES)
    (root / "b.bin").write_bytes(b"\0old")
    await session.shell("sed -i 's/^line 2$/agent/' a.txt; printf '\\0new' > b.bin")
    (root / "a.txt").write_text(LINES.replace("line 2\n", "person\n"))
    (root / "b.bin").write_bytes(b"\0other")

    summed = await session.sum_up()

    assert [told.split()[0] for told in summed.conflicts] == ["a.txt", "b.bin"]
    assert len(summed.steps) == 1

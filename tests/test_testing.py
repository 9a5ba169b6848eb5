"""The stand-ins we ship behave like what they stand for."""

from pathlib import Path

import pytest

from handrail.core.card import Choice
from handrail.core.errors import (
    BadInput,
    CommandExecutionError,
    ErrorType,
    FileOperationError,
    StaleFileError,
)
from handrail.core.hands import FileContent, FileState
from handrail.core.pattern import NamePattern
from handrail.core.risk import RiskLevel
from handrail.core.search import Found, Match, Query
from handrail.core.verdict import Ruling
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.policy.security import Scene
from handrail.testing import FakeClock, FakeCommands, FakeHands, ScriptedPerson, a_card, try_tool
from handrail.tools.builtin.write_file import WriteFile, WriteFileParams
from tests.executors.conftest import one

SCENE = Scene("/workspace")


def test_a_clock_stands_still_until_it_is_moved() -> None:
    clock = FakeClock()
    before = clock.now()

    assert clock.now() == before
    clock.advance(1.5)
    assert (clock.now() - before).total_seconds() == 1.5


async def test_files_are_read_found_and_written_in_memory() -> None:
    files = FakeHands({"a.txt": b"old"}).files

    assert await files.read("a.txt", max_bytes=10) == FileContent(b"old", 3)
    assert await files.find("b.txt", max_bytes=10) is None
    await files.write("a.txt", b"new", expected=FileContent(b"old", 3).state)
    await files.write("b.txt", b"fresh", expected=FileState(exists=False))

    assert (await files.read("a.txt", max_bytes=10)).data == b"new"
    assert (await files.read("b.txt", max_bytes=10)).data == b"fresh"


async def test_files_refuse_what_real_ones_would() -> None:
    files = FakeHands({"a.txt": b"old"}).files

    with pytest.raises(FileOperationError):
        await files.read("none.txt", max_bytes=10)
    with pytest.raises(FileOperationError):
        await files.read("a.txt", max_bytes=2)
    with pytest.raises(StaleFileError):
        await files.write("a.txt", b"new", expected=FileState(exists=False))


async def test_a_tool_works_with_hands_that_touch_nothing() -> None:
    hands = FakeHands({"a.txt": b"old\n"})
    params = WriteFileParams(path="a.txt", content="new\n")

    survey = await WriteFile().survey(params, SCENE, hands)
    result = await WriteFile().execute(params, SCENE, hands, survey.facts)

    assert "-old\n+new\n" in survey.evidence
    assert result.success


TREE = {"a.txt": b"one\nTwo\n", "src/b.py": b"two\n", "src/deep/c.py": b"", ".env": b"two"}


@pytest.mark.parametrize(
    ("path", "pattern", "recursive"),
    [
        (".", "*", False),
        (".", "*", True),
        (".", ".*", True),
        (".", "src/**/*.py", False),
        ("src", "*.py", True),
    ],
)
async def test_files_in_memory_are_listed_like_real_ones(
    tmp_path: Path, path: str, pattern: str, recursive: bool
) -> None:
    for name, data in TREE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    wanted = NamePattern.read(pattern, recursive=recursive)

    with FileSystemExecutor(tmp_path) as real:
        expected = await real.list(path, wanted, most=2)
    listed = await FakeHands(TREE).files.list(path, wanted, most=2)

    assert listed.total == expected.total
    assert [(one.path, one.kind) for one in listed.entries] == [
        (one.path, one.kind) for one in expected.entries
    ]


async def test_files_in_memory_are_searched() -> None:
    searches = FakeHands(TREE).searches

    everywhere = await searches.search(Query("two", case_sensitive=False), ".", most=1)
    below = await searches.search(Query("two", file_pattern="*.py"), "src", most=9)

    assert everywhere == Found((Match("a.txt", 2, 1, "Two"),), 2)
    assert below == Found((Match("src/b.py", 1, 1, "two"),), 1)


async def test_commands_say_what_they_were_given_to_say() -> None:
    commands = FakeCommands({"date": b"today\n"})

    outcome = await commands.run(one(["date", "-u"]), timeout_seconds=1)

    assert (outcome.stdout, outcome.exit_code) == (b"today\n", 0)
    assert commands.ran == [("date", "-u")]
    with pytest.raises(CommandExecutionError):
        await commands.run(one(["npm"]), timeout_seconds=1)


async def test_a_person_answers_from_the_script_and_then_leaves_it_to_others() -> None:
    yes = Choice(approved=True)
    person = ScriptedPerson(yes, None)
    card = a_card()

    answers = [await person.ask(card) for _ in range(3)]
    person.tell("it was approved")

    assert answers == [yes, None, None]
    assert person.cards == [card] * 3
    assert person.told == ["it was approved"]


# Trying a tool out


async def test_a_trial_shows_what_is_thought_seen_and_done() -> None:
    hands = FakeHands({"a.txt": b"old\n"})

    trial = await try_tool(WriteFile(), {"path": "a.txt", "content": "new\n"}, hands)

    assert (trial.verdict.ruling, trial.verdict.risk) == (Ruling.ASK, RiskLevel.MEDIUM)
    assert trial.preview == "Write 1 line to a.txt"
    assert "-old\n+new\n" in trial.survey.evidence
    assert trial.result.success
    assert hands.files.files == {"a.txt": b"new\n"}


async def test_a_trial_does_nothing_that_is_denied() -> None:
    hands = FakeHands({".env": b"old"})

    trial = await try_tool(WriteFile(), {"path": ".env", "content": "new"}, hands)

    assert trial.verdict.ruling is Ruling.DENY
    assert (trial.result.success, trial.result.error_type) == (False, ErrorType.DENIED)
    assert hands.files.files == {".env": b"old"}


async def test_a_trial_names_the_parameter_that_is_wrong() -> None:
    with pytest.raises(BadInput, match=r"^path: field required"):
        await try_tool(WriteFile(), {"content": "new"})

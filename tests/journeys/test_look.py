"""Looking around on another process' machine: listing, searching, and reading what changes."""

import asyncio
import json
import os
import signal
from typing import Any

import pytest

from handrail.client.api import ApiError
from handrail.core.card import Choice
from tests.journeys.conftest import Rig

LARGE = 300_000
YES = Choice(approved=True)


@pytest.fixture
def workspace(rig: Rig) -> Rig:
    for path, text in {
        "README.md": "the needle is in src\n",
        "src/app.py": "def needle():\n    return 1\n",
        "src/deep/other.py": "hay = 2\n",
        "build/out.py": "needle\n",
        ".gitignore": "build\n",
        ".env": "SECRET=needle\n",
        "server.key": "needle\n",
        "credentials/aws": "needle\n",
    }.items():
        file = rig.workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    outside = rig.workspace.parent / "outside"
    outside.mkdir()
    (outside / "stolen.py").write_text("needle\n")
    (rig.workspace / "link").symlink_to("../outside")
    rig.start_server()
    rig.start_client()
    return rig


def paths(entries: list[dict[str, Any]]) -> list[str]:
    return [entry["path"] for entry in entries]


@pytest.mark.behaviour("look.list")
async def test_an_agent_lists_the_workspace(workspace: Rig) -> None:
    listed = await workspace.call("list_directory", {"path": ".", "recursive": True}, "call-1")
    chosen = await workspace.call(
        "list_directory", {"path": ".", "pattern": "src/**/*.py"}, "call-2"
    )
    refused = await workspace.call("list_directory", {"path": "link"}, "call-3")

    assert (listed["status"], listed["risk_level"]) == ("completed", "LOW")
    assert paths(listed["result"]["files"]) == [
        "README.md",
        "build",
        "build/out.py",
        "credentials",
        "link",
        "server.key",
        "src",
        "src/app.py",
        "src/deep",
        "src/deep/other.py",
    ]
    assert (listed["result"]["total_count"], listed["result"]["truncated"]) == (10, False)
    assert listed["result"]["files"][4]["type"] == "link"
    assert paths(chosen["result"]["files"]) == ["src/app.py", "src/deep/other.py"]
    assert (refused["status"], refused["error_type"]) == ("failed", "validation")
    workspace.assert_told_once_and_provable(calls=3)


@pytest.mark.behaviour("look.search")
async def test_an_agent_searches_the_workspace(workspace: Rig) -> None:
    found = await workspace.call("search_code", {"pattern": "needle"}, "call-1")
    chosen = await workspace.call(
        "search_code", {"pattern": "NEEDLE", "case_sensitive": False, "path": "src"}, "call-2"
    )
    hidden = await workspace.call(
        "search_code", {"pattern": "needle", "file_pattern": ".*"}, "call-3"
    )
    wrong = await workspace.call("search_code", {"pattern": "needle("}, "call-4")

    assert (found["status"], found["risk_level"]) == ("completed", "LOW")
    assert found["result"]["matches"] == [
        {"path": "README.md", "line": 1, "column": 5, "text": "the needle is in src"},
        {"path": "src/app.py", "line": 1, "column": 5, "text": "def needle():"},
    ]
    assert found["result"]["output"] == (
        "README.md:1: the needle is in src\nsrc/app.py:1: def needle():"
    )
    assert paths(chosen["result"]["matches"]) == ["src/app.py"]
    assert hidden["result"]["matches"] == []
    assert (wrong["status"], wrong["error_type"]) == ("failed", "validation")
    assert wrong["error"] == "pattern: unclosed group"
    workspace.assert_told_once_and_provable(calls=4)


@pytest.mark.behaviour("look.list")
async def test_a_name_that_is_no_text_and_a_huge_folder_travel(workspace: Rig) -> None:
    many = workspace.workspace / "many"
    many.mkdir()
    for number in range(1_200):
        (many / f"{number:04}").touch()
    (many / os.fsdecode(b"caf\xe9")).touch()

    listed = await workspace.call("list_directory", {"path": "many"}, "call-1")
    named = await workspace.call("list_directory", {"path": "many", "pattern": "c*"}, "call-2")

    assert len(listed["result"]["files"]) == 1_000
    assert (listed["result"]["total_count"], listed["result"]["truncated"]) == (1_201, True)
    assert [entry["name"] for entry in named["result"]["files"]] == ["caf\\udce9"]


@pytest.mark.behaviour("read.never-stale")
async def test_a_changed_file_is_read_anew(workspace: Rig) -> None:
    file = workspace.workspace / "large.txt"
    file.write_text("a" * LARGE)
    before = file.stat()
    await asyncio.sleep(2.3)  # Only what has settled is kept.

    first = await workspace.ask("large.txt", "call-1")
    again = await workspace.ask("large.txt", "call-2")
    file.write_text("b" * LARGE)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    second = await workspace.ask("large.txt", "call-3")

    starts = [answer["result"]["content"][0] for answer in (first, again, second)]
    assert starts == ["a", "a", "b"]


@pytest.mark.behaviour("read.second-name")
async def test_a_secret_is_not_read_by_a_second_name(rig: Rig) -> None:
    home = rig.workspace.parent / "person"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "work").write_text("needle of a key\n")
    rig.environment["HOME"] = str(home)
    os.link(home / ".ssh" / "work", rig.workspace / "notes.txt")
    rig.start_server()
    (own,) = (rig.home / "credentials").glob("*.json")
    os.link(own, rig.workspace / "own.txt")
    rig.start_client()

    answers = [
        await rig.ask("notes.txt", "call-1"),
        await rig.ask("own.txt", "call-2"),
        await rig.call("search_code", {"pattern": "needle|token"}, "call-3"),
    ]

    assert [answer["error_type"] for answer in answers] == ["validation", "validation", None]
    assert answers[2]["result"]["matches"] == []
    assert "needle of" not in json.dumps(answers)


# Looking before a person is asked


@pytest.mark.behaviour("survey.slow")
async def test_a_slow_machine_is_waited_for_while_its_question_stands(rig: Rig) -> None:
    (rig.workspace / "notes.txt").write_text("as it was\n")
    rig.start_server()
    client = rig.start_client()
    client.send_signal(signal.SIGSTOP)
    params = {"path": "notes.txt", "content": "new\n"}

    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.call("write_file", params))
        early = await rig.question()
        assert early.notes[0].startswith("Still checking on ")
        assert early.needs_second_step
        client.send_signal(signal.SIGCONT)
        card = await rig.question()
        async with asyncio.timeout(40):
            while card.digest == early.digest:
                await asyncio.sleep(0.05)
                card = await rig.question()
        assert (card.approval_id, card.notes) == (early.approval_id, ())
        assert "-as it was" in card.evidence
        with pytest.raises(ApiError, match="not the call that you were shown"):
            await rig.as_person(lambda api: api.decide(early, YES, channel="journey"))
        await rig.as_person(lambda api: api.decide(card, YES, channel="journey"))

    assert asking.result()["status"] == "completed"
    assert (rig.workspace / "notes.txt").read_text() == "new\n"
    rig.assert_told_once_and_provable(calls=1)


@pytest.mark.behaviour("survey.slow")
@pytest.mark.parametrize("approved", [True, False])
async def test_an_answer_before_the_check_is_done_counts(rig: Rig, approved: bool) -> None:
    rig.start_server()
    client = rig.start_client()
    client.send_signal(signal.SIGSTOP)
    params = {"path": "notes.txt", "content": "new\n"}

    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.call("write_file", params))
        early = await rig.question()
        choice = Choice(approved=approved)
        await rig.as_person(lambda api: api.decide(early, choice, channel="journey"))
        client.send_signal(signal.SIGCONT)

    assert asking.result()["status"] == ("completed" if approved else "rejected")
    assert (rig.workspace / "notes.txt").exists() is approved
    rig.assert_told_once_and_provable(calls=1)


@pytest.mark.behaviour("survey.slow")
async def test_a_machine_is_asked_again_after_the_server_was_killed_amid_its_check(
    rig: Rig,
) -> None:
    server = rig.start_server()
    client = rig.start_client()
    client.send_signal(signal.SIGSTOP)
    params = {"path": "notes.txt", "content": "new\n"}

    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.call("write_file", params))
        await rig.question()
        rig.kill(server)
        await asyncio.to_thread(rig.start_server)
        client.send_signal(signal.SIGCONT)
        async with asyncio.timeout(40):
            while (card := await rig.question()).notes:
                await asyncio.sleep(0.05)
        await rig.as_person(lambda api: api.decide(card, YES, channel="journey"))

    assert asking.result()["status"] == "completed"
    rig.assert_told_once_and_provable(calls=1)

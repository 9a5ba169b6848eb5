"""`handrail drafts`: what it lists, shows, asks and takes out, before a real server and client."""

import asyncio
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from handrail.core.card import Choice
from tests.journeys.conftest import Rig
from tests.journeys.conftest import rig as rig
from tests.terminal import Terminal

pytestmark = [pytest.mark.usefixtures("needs_box"), pytest.mark.slow]


@pytest.fixture
async def drafting(rig: Rig) -> Rig:
    """A session with a draft of three steps: a write, a command that fails, a binary file."""
    (rig.workspace / "a.txt").write_text("one\n")
    rig.start_server()
    assert rig.run("autonomy", "draft", "--workspace", str(rig.workspace)).returncode == 0
    rig.start_client()
    await step(rig, "write_file", {"path": "a.txt", "content": "two\n"})
    await step(rig, "run_bash", {"command": "echo failed > log.txt; exit 3"})
    await step(rig, "run_bash", {"command": "printf '\\0\\1' > b.bin; chmod +x b.bin"})
    await listed(rig, 3)
    return rig


async def step(rig: Rig, tool: str, params: dict[str, Any]) -> dict[str, Any]:
    count = rig.rows("SELECT count(*) FROM tool_executions")[0][0]
    answer = await rig.call(tool, params, f"call-{count}")
    assert answer["status"] == "completed", answer
    return answer["result"]


async def listed(rig: Rig, steps: int) -> dict[str, Any]:
    """The draft, once the server has been told that it has so many steps."""
    async with asyncio.timeout(20):
        while True:
            found = (await rig.as_person(lambda api: api.get("/drafts")))["drafts"]
            if [one["steps"] for one in found] == ([steps] if steps else []):
                return found[0] if found else {}
            await asyncio.sleep(0.1)


def drafts(rig: Rig, *words: str) -> subprocess.CompletedProcess[str]:
    return rig.run("drafts", *words, "--workspace", str(rig.workspace))


def sit_down(rig: Rig, *words: str) -> Terminal:
    environment = {**os.environ, "HANDRAIL_HOME": str(rig.home)}
    return Terminal("drafts", *words, cwd=rig.workspace, env=environment)


@pytest.mark.behaviour("draft.command-line")
async def test_drafts_are_listed_and_shown_with_the_commands_that_failed(drafting: Rig) -> None:
    (row,) = json.loads(drafts(drafting, "--json").stdout)["drafts"]
    table = drafts(drafting).stdout
    shown = drafts(drafting, "show", "ourney").stdout
    diff = drafts(drafting, "show", "journey", "--steps", "1", "--patch").stdout

    assert (row["session_id"], row["steps"], row["files"]) == ("journey", 3, 3)
    assert row["workspace"] == str(drafting.workspace)
    assert "journey" in table
    assert "exit 3" in shown
    assert "changed a.txt" in shown
    assert "+two" not in shown
    assert "+two" in diff
    assert "2 later steps not shown" in diff


@pytest.mark.behaviour("draft.command-line")
async def test_a_draft_is_applied_with_the_card_in_the_terminal(drafting: Rig) -> None:
    with sit_down(drafting, "apply", "journey", "--steps", "1") as terminal:
        terminal.expect("Apply a draft of 1 step")
        terminal.expect("+two")
        terminal.type("a")
        terminal.expect("Applied 1 step")
        assert terminal.wait() == 0

    assert (drafting.workspace / "a.txt").read_text() == "two\n"
    assert not (drafting.workspace / "log.txt").exists()
    assert (await listed(drafting, 2))["files"] == 2


@pytest.mark.behaviour("draft.command-line")
async def test_without_a_terminal_another_screen_answers(drafting: Rig) -> None:
    applied, _ = await asyncio.gather(
        asyncio.to_thread(drafts, drafting, "apply", "journey"),
        drafting.answer(Choice(approved=True)),
    )

    assert applied.returncode == 0, applied.stderr
    assert "Applied 3 steps" in applied.stdout
    assert (drafting.workspace / "a.txt").read_text() == "two\n"


@pytest.mark.behaviour("draft.choose")
async def test_chosen_files_are_applied_and_when_undone_are_in_the_draft_again(
    drafting: Rig,
) -> None:
    applied, _ = await asyncio.gather(
        asyncio.to_thread(drafts, drafting, "apply", "journey", "--file", "a.txt"),
        drafting.answer(Choice(approved=True)),
    )

    assert applied.returncode == 0, applied.stderr
    assert "Applied a part of 3 steps: changes a.txt" in applied.stdout
    assert (drafting.workspace / "a.txt").read_text() == "two\n"
    assert not (drafting.workspace / "log.txt").exists()
    session = ("--session", "journey", "--yes")
    undone = drafting.run("undo", *session, "--workspace", str(drafting.workspace))
    assert undone.returncode == 0, undone.stderr
    assert "changed a.txt" in drafts(drafting, "show", "journey").stdout
    assert (drafting.workspace / "a.txt").read_text() == "one\n"


@pytest.mark.behaviour("draft.agent-is-told")
async def test_the_agent_is_told_which_steps_a_person_has_discarded(drafting: Rig) -> None:
    refused = drafts(drafting, "discard", "journey")
    gone = drafts(drafting, "discard", "journey", "--from", "2", "--yes")
    after = await step(drafting, "list_directory", {"path": "."})
    later = await step(drafting, "list_directory", {"path": "."})

    assert "use --yes" in refused.stderr
    assert "step 2: " in gone.stdout
    assert after["output"].startswith("[Handrail] The person has discarded steps of the draft")
    assert "No longer in the draft: step 2 (" in after["output"].splitlines()[0]
    assert "[Handrail]" not in later["output"]
    assert [one["path"] for one in later["files"]] == ["a.txt"]


@pytest.mark.behaviour("draft.agent-is-told")
async def test_at_a_terminal_the_steps_are_shown_before_they_go(drafting: Rig) -> None:
    with sit_down(drafting, "discard", "journey") as terminal:
        terminal.expect("These steps are removed:")
        terminal.expect("exit 3")
        terminal.expect("Remove them?")
        terminal.type("y\n", after_seconds=0.1)
        assert terminal.wait() == 0
    await listed(drafting, 0)


@pytest.mark.behaviour("draft.command-line")
async def test_an_exported_draft_is_applied_by_git_to_the_last_byte(
    drafting: Rig, tmp_path: Path
) -> None:
    patch, copy = tmp_path / "demo.patch", tmp_path / "copy"
    (drafting.workspace / ".env").write_text("TOKEN=1\n")

    written = drafts(drafting, "export", "journey", str(patch))
    again = drafts(drafting, "export", "journey", str(patch))
    opened = drafts(drafting, "open", "journey", str(copy))

    assert written.returncode == 0, written.stderr
    assert "3 steps of the draft, 3 files" in written.stderr
    assert "exists; name a new file" in again.stderr
    assert opened.returncode == 0, opened.stderr
    assert sorted(path.name for path in copy.iterdir()) == ["a.txt", "b.bin", "log.txt"]
    assert (copy / "b.bin").stat().st_mode & 0o777 == 0o555
    subprocess.run(["git", "apply", str(patch)], cwd=drafting.workspace, check=True)
    for name in ("a.txt", "b.bin", "log.txt"):
        assert (drafting.workspace / name).read_bytes() == (copy / name).read_bytes()
    assert os.access(drafting.workspace / "b.bin", os.X_OK)


async def test_what_is_no_draft_is_told_so(rig: Rig, tmp_path: Path) -> None:
    rig.start_server()
    told = drafts(rig, "apply", "nothing")
    local = drafts(rig, "export", "nothing", str(tmp_path / "x.patch"))

    assert "There are no drafts." in drafts(rig).stdout
    assert told.returncode == local.returncode == 1
    assert "no machine that is connected has a draft" in told.stderr
    assert "this machine has no draft of a session" in local.stderr
    assert not (tmp_path / "x.patch").exists()


@pytest.mark.behaviour("draft.stopped")
async def test_the_draft_of_a_stopped_session_is_still_the_persons_to_decide(drafting: Rig) -> None:
    here = ("--workspace", str(drafting.workspace))
    assert drafting.run("executions", "stop", "journey", *here).returncode == 0
    deciding = asyncio.create_task(asyncio.to_thread(drafts, drafting, "apply", "journey"))
    await drafting.answer(Choice(approved=True))

    applied = await deciding

    assert applied.returncode == 0, applied.stderr
    assert (drafting.workspace / "a.txt").read_text() == "two\n"

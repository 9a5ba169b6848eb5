"""Lines of bash across three processes: plain ones, those that are not, and those refused."""

import asyncio

import pytest

from handrail.core.card import Choice
from tests.journeys.conftest import Rig

YES = Choice(approved=True)
WALLS = ["namespaces", "seccomp", "limits"]


@pytest.mark.usefixtures("needs_box")
@pytest.mark.behaviour("bash.plain")
async def test_a_plain_line_that_only_looks_passes_unasked_and_without_a_shell(rig: Rig) -> None:
    (rig.workspace / "src").mkdir()
    for name in ("b.txt", "a.txt", "-n"):
        (rig.workspace / "src" / name).write_text("1\n")
    rig.start_server()
    rig.start_client()

    command = "cd src && wc -l * | sort -r | head -n 2 && cat nothing 2>/dev/null || echo '$0'"
    answer = await rig.call("run_bash", {"command": command})

    assert (answer["status"], answer["risk_level"]) == ("completed", "LOW")
    # A shell would have named `-n` as it is called, which is a flag.
    lines = [line.split() for line in answer["result"]["stdout"].splitlines()]
    assert lines == [["3", "total"], ["1", "./b.txt"], ["$0"]]
    assert answer["result"]["box"] == {"profile": "read", "walls": WALLS}
    assert rig.rows("SELECT count(*) FROM tool_approvals") == [(0,)]


@pytest.mark.usefixtures("needs_box")
@pytest.mark.behaviour("bash.plain")
async def test_folders_are_compared_without_following_the_links_in_them(rig: Rig) -> None:
    for folder in ("old", "new"):
        (rig.workspace / folder).mkdir()
    (rig.workspace / "old/x").symlink_to("/usr/lib/os-release")
    (rig.workspace / "new/x").write_text("plain\n")
    rig.start_server()
    rig.start_client()

    answer = await rig.call("run_bash", {"command": "diff -r old new | head -5"})

    assert (answer["status"], answer["risk_level"]) == ("completed", "LOW")
    assert "old/x is a symbolic link" in answer["result"]["stdout"]
    assert "NAME=" not in answer["result"]["stdout"]


@pytest.mark.usefixtures("asks_beforehand")
@pytest.mark.usefixtures("needs_box")
@pytest.mark.behaviour("bash.not-plain")
async def test_a_line_that_is_not_plain_is_shown_word_for_word_and_runs_in_a_box(rig: Rig) -> None:
    outside = rig.workspace.parent / "outside.txt"
    outside.write_text("as it was\n")
    rig.start_server()
    rig.start_client()

    command = (
        'for n in 1 2; do echo "$n" > "made-$n.txt"; done\n'
        f"cat {outside} || echo unseen\n"
        f"echo changed > {outside}"
    )
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.call("run_bash", {"command": command}))
        card = await rig.answer(YES)

    assert (card.risk_level, card.description) == ("HIGH", f"Run: {command}")
    assert "cannot be checked part by part" in " ".join(card.reasons)
    answer = asking.result()
    assert answer["status"] == "completed"
    assert answer["result"]["stdout"] == "unseen\n"
    assert answer["result"]["box"] == {"profile": "write", "walls": WALLS}
    made = {path.name: path.read_text() for path in rig.workspace.glob("made-*")}
    assert made == {"made-1.txt": "1\n", "made-2.txt": "2\n"}
    assert outside.read_text() == "as it was\n"


@pytest.mark.behaviour("bash.refused")
@pytest.mark.parametrize(
    "command",
    ["ls; rm -rf .", 'echo "$(rm -rf .)"', "r'm' -rf . > log", "ls | nice -n 5 rm -rf ."],
)
async def test_a_refused_command_is_refused_wherever_it_stands(rig: Rig, command: str) -> None:
    (rig.workspace / "kept.txt").write_text("here\n")
    rig.start_server()
    rig.start_client()

    answer = await rig.call("run_bash", {"command": command})

    assert (answer["status"], answer["error_type"]) == ("failed", "denied")
    assert "Command not allowed: rm" in answer["error"]
    assert rig.rows("SELECT count(*) FROM tool_approvals") == [(0,)]
    assert (rig.workspace / "kept.txt").exists()

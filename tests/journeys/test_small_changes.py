"""Files are edited, moved and deleted with a person's yes, and all of it can be taken back."""

import asyncio
from typing import Any

import pytest

from handrail.core.card import Card, Choice
from handrail.core.grant import Scope
from tests.journeys.conftest import Rig
from tests.journeys.test_write import leftovers

YES = Choice(approved=True)
CART = "import money\n\ntotal = 1\n"
EDIT = ("edit_file", {"path": "src/cart.py", "old": "total = 1", "new": "total = 2"})
MOVE = ("move_file", {"path": "src/cart.py", "to": "lib/shop/cart.py"})
DELETE = ("delete_file", {"path": "run.sh"})


def furnish(rig: Rig) -> None:
    (rig.workspace / "src").mkdir()
    (rig.workspace / "src/cart.py").write_text(CART)
    (rig.workspace / "run.sh").write_text("#!/bin/sh\nexec true\n")
    (rig.workspace / "run.sh").chmod(0o751)


def files(rig: Rig) -> dict[str, tuple[str, int]]:
    """The text and the mode of each file of the workspace."""
    found = (path for path in rig.workspace.rglob("*") if path.is_file())
    return {
        str(path.relative_to(rig.workspace)): (path.read_text(), path.stat().st_mode & 0o7777)
        for path in found
        if ".handrail" not in path.parts
    }


async def approved(
    rig: Rig, call: tuple[str, dict[str, Any]], call_id: str, choice: Choice = YES
) -> tuple[dict[str, Any], Card]:
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.call(*call, call_id))
        card = await rig.answer(choice)
    return asking.result(), card


@pytest.mark.behaviour("files.small-changes")
async def test_each_change_is_a_small_card_and_a_session_of_them_is_undone(rig: Rig) -> None:
    furnish(rig)
    before = files(rig)
    rig.start_server()
    rig.start_client()

    edited, edit = await approved(rig, EDIT, "call-1")
    moved, move = await approved(rig, MOVE, "call-2")
    deleted, delete = await approved(rig, DELETE, "call-3")

    assert [(card.description, card.risk_level) for card in (edit, move, delete)] == [
        ("Change 1 line in src/cart.py (+1 \N{MINUS SIGN}1)", "MEDIUM"),
        ("Move src/cart.py to lib/shop/cart.py", "MEDIUM"),
        ("Delete run.sh (2 lines)", "HIGH"),
    ]
    assert edit.evidence.endswith(" import money\n \n-total = 1\n+total = 2\n")
    assert move.evidence == "[renamed] src/cart.py → lib/shop/cart.py: 24 bytes\n"
    assert delete.evidence.endswith("-#!/bin/sh\n-exec true\n")
    assert delete.reasons == ("deletes 'run.sh'",)
    assert delete.needs_second_step
    assert Scope.CLASS not in [offer.scope for offer in delete.offers]
    assert [one["result"]["output"] for one in (edited, moved, deleted)] == [
        "Changed 1 place in src/cart.py, line 3",
        "Moved src/cart.py to lib/shop/cart.py",
        "Deleted run.sh",
    ]
    assert all(one["can_undo"] for one in (edited, moved, deleted))
    assert files(rig) == {"lib/shop/cart.py": (CART.replace("= 1", "= 2"), 0o644)}

    answer = await rig.as_person(
        lambda api: api.post("/chat/sessions/journey/undo", {"channel": "journey"})
    )

    assert [(one["tool_id"], one["status"], one["files"]) for one in answer["calls"]] == [
        (deleted["tool_id"], "undone", ["run.sh"]),
        (moved["tool_id"], "undone", ["src/cart.py", "lib/shop/cart.py"]),
        (edited["tool_id"], "undone", ["src/cart.py"]),
    ]
    assert files(rig) == before
    assert not (rig.workspace / "lib").exists()
    rig.assert_told_once_and_provable(calls=3)


@pytest.mark.behaviour("files.small-changes")
async def test_a_yes_to_a_class_of_writes_covers_edits_of_that_class(rig: Rig) -> None:
    furnish(rig)
    rig.start_server()
    rig.start_client()
    new = {"path": "src/new.py", "content": "pass\n"}
    await approved(rig, ("write_file", new), "call-1", Choice(approved=True, scope=Scope.CLASS))

    edited = await rig.call(*EDIT, "call-2")

    assert (edited["status"], edited["scope"]) == ("completed", "class")


@pytest.mark.behaviour("files.small-changes")
@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("edit_file", {"path": "src/cart.py", "old": "sum", "new": "x"}), "`old` does not occur"),
        (("edit_file", {"path": "src/cart.py", "old": "x", "new": "x"}), "are the same text"),
        (("move_file", {"path": "src/cart.py", "to": "run.sh"}), "run.sh exists already"),
        (("move_file", {"path": "src", "to": "lib"}), "move it with `mv` in run_bash"),
        (("delete_file", {"path": "src"}), "delete it with `rm -r` in run_bash"),
        (("delete_file", {"path": ".git/config"}), "the inside of .git is git's own"),
        (("move_file", {"path": "../x", "to": "y"}), "climbs out of the workspace"),
    ],
    ids=["absent", "same", "taken", "folder", "folder-gone", "git", "outside"],
)
async def test_what_cannot_be_done_fails_with_advice_and_nobody_is_asked(
    rig: Rig, call: tuple[str, dict[str, Any]], said: str
) -> None:
    furnish(rig)
    before = files(rig)
    rig.start_server()
    rig.start_client()

    answer = await rig.call(*call)

    assert answer["status"] == "failed"
    assert said in answer["error"]
    assert files(rig) == before
    assert rig.rows("SELECT count(*) FROM tool_approvals WHERE status = 'approved'") == [(0,)]


@pytest.mark.behaviour("files.small-changes-stale")
@pytest.mark.parametrize(
    ("call", "path", "error_type"),
    [
        (EDIT, "src/cart.py", "validation"),
        (MOVE, "src/cart.py", "stale"),
        (MOVE, "lib/shop/cart.py", "execution"),
        (DELETE, "run.sh", "stale"),
    ],
    ids=["edit", "move", "target", "delete"],
)
async def test_a_file_that_changed_since_the_person_looked_is_left_alone(
    rig: Rig, call: tuple[str, dict[str, Any]], path: str, error_type: str
) -> None:
    furnish(rig)
    rig.start_server()
    rig.start_client()

    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.call(*call))
        await rig.question()
        (rig.workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (rig.workspace / path).write_text("by a person\n")
        as_left = files(rig)
        await rig.answer(YES)

    assert (asking.result()["status"], asking.result()["error_type"]) == ("failed", error_type)
    assert files(rig) == as_left


@pytest.mark.slow
@pytest.mark.points(2)
@pytest.mark.behaviour("files.small-changes-client-dies")
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    ("call", "what", "left"),
    [(MOVE, "move", ["lib/shop/cart.py", "run.sh"]), (DELETE, "remove", ["src/cart.py"])],
    ids=["move", "delete"],
)
async def test_the_client_may_die_around_a_change_which_is_made_once_or_not_at_all(
    rig: Rig, call: tuple[str, dict[str, Any]], what: str, left: list[str], when: str
) -> None:
    furnish(rig)
    before = sorted(files(rig))
    rig.start_server()
    client = rig.start_client(dies=f"{when}:{what}:1")

    async def go_on_after_its_death() -> None:
        assert await asyncio.to_thread(client.wait, 30) == -9
        await asyncio.to_thread(rig.start_client)

    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.call(*call))
        group.create_task(rig.answer(YES))
        group.create_task(go_on_after_its_death())

    assert asking.result()["error_type"] == "outcome_unknown"
    assert sorted(files(rig)) == (left if when == "after" else before)
    assert leftovers(rig.workspace) == []
    rig.assert_told_once_and_provable(calls=1)

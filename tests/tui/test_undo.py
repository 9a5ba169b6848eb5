"""Undoing from the history of the terminal's screen."""

from typing import Any

import pytest

from handrail.core.card import Choice
from tests.journeys.conftest import Rig
from tests.tui.conftest import Asking, Person

YES = Choice(approved=True)


async def write(rig: Rig, asks: Asking, path: str) -> dict[str, Any]:
    call = asks("write_file", {"path": path, "content": "new\n"}, path)
    await rig.answer(YES)
    return await call


@pytest.mark.behaviour("undo.terminal")
async def test_a_call_of_the_history_is_undone_after_a_question(
    rig: Rig, person: Person, asks: Asking
) -> None:
    (rig.workspace / "a.txt").write_text("old\n")
    await write(rig, asks, "a.txt")
    await person.press("3")
    await person.sees("u undo…")
    await person.sees("can be undone: u")

    await person.press("u")
    await person.sees("Undo this call?")
    await person.press("escape", "u")
    await person.sees("Undo this call?")
    assert (rig.workspace / "a.txt").read_text() == "new\n"
    await person.press("y")

    await person.sees("1 call is undone.")
    await person.sees("undone by ")
    assert (rig.workspace / "a.txt").read_text() == "old\n"


@pytest.mark.behaviour("undo.terminal")
async def test_a_session_of_the_history_is_undone_and_a_refusal_names_the_file(
    rig: Rig, person: Person, asks: Asking
) -> None:
    for path in ("a.txt", "b.txt"):
        await write(rig, asks, path)
    (rig.workspace / "a.txt").write_text("by a person\n")
    await person.press("3")
    await person.sees("can be undone: u")
    await person.press("u")
    await person.sees("undo all calls of session journey")
    await person.press("s")

    await person.sees("1 call is undone, 1 not: a.txt has other content now")
    assert [path.name for path in rig.workspace.glob("*.txt")] == ["a.txt"]

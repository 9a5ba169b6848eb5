"""How often a person is asked in an ordinary session, and what a card shows them.

Every question is approved once, and no grant is given.
"""

import asyncio
from pathlib import Path
from typing import NamedTuple

import pytest

from handrail.core.card import Card, Choice
from tests.journeys.answering import answering
from tests.journeys.conftest import Rig
from tests.journeys.environment import SYSTEM, same_version
from tests.journeys.shop import DISCOUNT, NEW_PYPROJECT, Call, calls_in, make_shop

# Six files written, two commands that change files.
MOST_EFFECTS = 8
# Two that need the network, three that change the repository.
MOST_BEFOREHAND = 5
# `ruff` is not installed, and there is no remote `origin`.
FAIL_BY_THEMSELVES = 2

pytestmark = [
    pytest.mark.usefixtures("needs_box"),
    pytest.mark.slow,
    pytest.mark.skipif(
        not SYSTEM.exists() or not same_version(),
        reason="the system's Python cannot load the packages of the one that runs the tests",
    ),
]


class Played(NamedTuple):
    """A call and what came of it."""

    call: Call
    status: str
    error: str | None
    exit_code: int | None
    cards: list[Card]

    def __str__(self) -> str:
        asked = "; ".join(f"{card.risk_level} {', '.join(card.reasons)}" for card in self.cards)
        ended = f"{self.status} {self.exit_code if self.exit_code is not None else ''}"
        error = f" -- {self.error}" if self.error else ""
        return f"{ended:<13} {self.call}{error}{f' -- asked: {asked}' if asked else ''}"


async def play(rig: Rig) -> list[Played]:
    played: list[Played] = []
    async with answering(rig, Choice(approved=True)) as answered:
        for number, call in enumerate(calls_in(rig.workspace)):
            before = len(answered)
            answer = await rig.call(call.tool, call.params, f"call-{number}")
            code = (answer["result"] or {}).get("exit_code")
            ended = (answer["status"], answer["error"], code)
            played.append(Played(call, *ended, answered[before:]))
    return played


@pytest.mark.timeout(300)
@pytest.mark.behaviour("rehearsal.few-questions")
async def test_forty_calls_of_a_session_ask_about_changes_only_and_show_them(rig: Rig) -> None:
    rig.home.mkdir(mode=0o700)
    (rig.home / "policy.toml").write_text('[policy]\ncommands = "rehearse"\n')
    await asyncio.to_thread(make_shop, rig.workspace)
    rig.start_server()
    rig.start_client()

    played = await play(rig)

    told = "\n".join(map(str, played))
    asked = [(one, card) for one in played for card in one.cards]
    beforehand = [one for one, _ in asked if one.call.beforehand]
    by_effect = [card for one, card in asked if not one.call.beforehand]
    assert len(played) == 40
    assert len(by_effect) <= MOST_EFFECTS, told
    assert len(beforehand) <= MOST_BEFOREHAND, told
    assert [card.evidence for card in by_effect if not _shows_effects(card)] == []
    failed = [one for one in played if one.status != "completed"]
    assert len(failed) == FAIL_BY_THEMSELVES, told
    assert_done(rig.workspace)


@pytest.mark.timeout(300)
@pytest.mark.behaviour("draft.session")
async def test_in_a_draft_one_card_shows_what_all_forty_calls_have_changed(rig: Rig) -> None:
    await asyncio.to_thread(make_shop, rig.workspace)
    before = files_in(rig.workspace)
    rig.start_server()
    rig.run("autonomy", "draft", "--workspace", str(rig.workspace))
    rig.start_client()

    played = await play(rig)

    told = "\n".join(map(str, played))
    asked = [(one, card) for one in played for card in one.cards]
    assert [str(one.call) for one, _ in asked if not one.call.beforehand] == [], told
    assert len(asked) <= 2, told
    assert files_in(rig.workspace) == before
    failed = [one for one in played if one.status != "completed"]
    assert len(failed) == FAIL_BY_THEMSELVES, told
    yes = Choice(approved=True)
    applied, card = await asyncio.gather(rig.call("apply_draft", {}, "apply"), rig.answer(yes))
    assert applied["status"] == "completed", applied
    assert "new commit" in card.evidence
    assert_done(rig.workspace)


def files_in(workspace: Path) -> dict[str, bytes]:
    """Every file but those of the environment."""
    return {
        str(path.relative_to(workspace)): path.read_bytes()
        for path in sorted(workspace.rglob("*"))
        if path.is_file() and path.relative_to(workspace).parts[0] not in (".venv", ".handrail")
    }


def _shows_effects(card: Card) -> bool:
    """Whether a diff is on the card or, where no content changes, the names that do."""
    return "\n+++ b/" in card.evidence or "\n[renamed] " in card.evidence


def assert_done(workspace: Path) -> None:
    """The session has left what it would have left without anybody in between."""
    assert (workspace / "shop/discounts.py").read_text() == DISCOUNT
    assert not (workspace / "shop/discount.py").exists()
    assert (workspace / "docs").is_dir()
    assert "from shop.discounts import" in (workspace / "tests/test_discount.py").read_text()
    assert (workspace / "pyproject.toml").read_text() == NEW_PYPROJECT
    head = (workspace / ".git/HEAD").read_text()
    assert head == "ref: refs/heads/feature/discounts\n"

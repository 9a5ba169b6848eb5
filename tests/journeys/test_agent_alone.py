"""Two people, two projects, two conversations each, side by side: nothing crosses."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import aiohttp
import pytest

from handrail.agent.providers.script import Conversation, Script, ScriptedUse, Step
from handrail.app.affairs import Affairs
from handrail.app.build_server import build_services
from handrail.app.config import Config
from handrail.app.own_agent import hire_agent
from handrail.bus.local import LocalBus
from handrail.core.access import Role
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.model_server.server import ModelServer
from tests.model_server.server import serving as playing
from tests.server.conftest import Caller, base, serving, until

# Whose conversation it is, and the word that nobody else may come to know.
WORDS = {
    ("ada", "talk-1"): "apricot",
    ("ada", "talk-2"): "blueberry",
    ("bea", "talk-1"): "cherry",
    ("bea", "talk-2"): "damson",
}


def keeping(word: str) -> Conversation:
    """The agent stores the word, looks for all there is, and says it."""
    store = ScriptedUse(name="memory_store", input={"key": f"about-{word}", "content": word})
    look = ScriptedUse(name="memory_recall", input={"query": "about", "limit": 10})
    return Conversation(
        when=word, steps=(Step(tools=(store,)), Step(tools=(look,)), Step(text=f"It is {word}."))
    )


@asynccontextmanager
async def a_server(
    store: SqliteStore, bus: LocalBus, clock: FakeClock, model: ModelServer
) -> AsyncGenerator[Caller]:
    chosen = {"provider": "openai", "model": "m", "base_url": f"{model.url}/v1"}
    config = Config(None, {f"agent.{name}": value for name, value in chosen.items()})
    affairs = Affairs(store, clock, config=config, owner="nobody")
    services = build_services(store, bus, clock, affairs=affairs)
    async with (
        serving(replace(services, runs=hire_agent(services, affairs))) as address,
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True)) as session,
        session.get(f"{address}/openapi.json") as response,
    ):
        yield Caller(session, address, await response.json())


async def read(caller: Caller, home: Household, talk: str) -> Any:
    path = f"{base(home)}/chat/messages?session_id={talk}"
    return (await caller.ask("GET", path, home.secrets[Role.USER])).body


@pytest.mark.behaviour("agent.alone")
async def test_nothing_crosses_between_people_or_conversations(
    store: SqliteStore, bus: LocalBus, clock: FakeClock
) -> None:
    homes = {name: await settle_in(store, clock, name, f"/srv/{name}") for name in ("ada", "bea")}
    script = Script(conversations=tuple(map(keeping, WORDS.values())))
    with playing(script) as model:
        async with a_server(store, bus, clock, model) as caller:

            async def say(name: str, talk: str, word: str) -> None:
                home = homes[name]
                body = {"text": f"Keep {word}.", "session_id": talk}
                token = home.secrets[Role.USER]
                await caller.ask("POST", f"{base(home)}/chat/messages", token, json=body)
                await until(lambda: is_over(name, talk))

            async def is_over(name: str, talk: str) -> bool:
                return (await read(caller, homes[name], talk))["run"]["status"] != "running"

            await asyncio.gather(*(say(*key, word) for key, word in WORDS.items()))
            talks = {key: await read(caller, homes[key[0]], key[1]) for key in WORDS}
            strange = await caller.ask(
                "GET",
                f"{base(homes['ada'])}/chat/messages?session_id=talk-1",
                homes["bea"].secrets[Role.USER],
            )
            kept = {
                name: (
                    await caller.ask("GET", f"{base(home)}/memory", home.secrets[Role.USER])
                ).body["memories"]
                for name, home in homes.items()
            }

    assert strange.status == 404
    for (name, talk), word in WORDS.items():
        said = json.dumps(talks[name, talk])
        assert talks[name, talk]["run"]["status"] == "done"
        assert f"It is {word}." in said
        # A memory is the person's, so that their other conversation may know of it.
        assert not any(other in said for (who, _), other in WORDS.items() if who != name)
    for name in homes:
        own = {word for (who, _), word in WORDS.items() if who == name}
        assert {one["content"] for one in kept[name]} == own
    for request in model.requests:
        first = request.body["messages"][1]["content"]
        heard = json.dumps(request.body["messages"])
        (whose,) = [who for (who, _), word in WORDS.items() if word in str(first)]
        assert not any(word in heard for (who, _), word in WORDS.items() if who != whose)

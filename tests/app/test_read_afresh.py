"""Files that the documents promise to read afresh: a change counts for the very next call.

Each test edits a file while a real server runs, and asks at once.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from handrail.app.home import Home
from handrail.app.run_both import up
from handrail.app.settings import Settings
from handrail.client.api import HandrailApi
from handrail.core.configuration import CATALOGUE, Kind, Setting
from tests.app.conftest import running
from tests.app.test_server_hands import Greeter, page_of


class Agent:
    """Asks one call after the other."""

    def __init__(self, api: HandrailApi):
        self._api = api
        self._ids = count()

    async def ask(self, tool_name: str, **params: Any) -> str:
        """What the call gave, or why it gave nothing."""
        call_id = f"c-{next(self._ids)}"
        answer = await self._api.execute(
            tool_name, params, session_id="s", call_id=call_id, wait=10
        )
        if answer["status"] == "completed":
            return str(answer["result"])
        return f"{answer['status']}: {answer.get('error')} {answer.get('reasons')}"


@asynccontextmanager
async def agent_of(settings: Settings, workspace: Path) -> AsyncGenerator[Agent]:
    async with (
        running(up, settings, workspace) as known,
        HandrailApi(known.server, known.project_id, known.agent_token) as api,
    ):
        yield Agent(api)


def some_value(setting: Setting) -> str | int:
    """One that fits and is not the default."""
    match setting.kind:
        case Kind.NUMBER:
            return setting.least + 7
        case Kind.CHOICE:
            return setting.choices[-1]
        case Kind.ADDRESS:
            return "http://127.0.0.1:9/v1"
        case Kind.LINE | Kind.TEXT:
            return "words-of-a-test"


async def test_every_setting_counts_for_the_next_call(settings: Settings, workspace: Path) -> None:
    shown: dict[str, bool] = {}
    async with agent_of(settings, workspace) as agent:
        for setting in CATALOGUE:
            area, _, name = setting.name.partition(".")
            value = some_value(setting)
            Home(settings.home).config.write_text(f"[{area}]\n{name} = {value!r}\n")
            said = await agent.ask("config", action="get", key=setting.name)
            shown[setting.name] = str(value) in said

    assert shown == dict.fromkeys((setting.name for setting in CATALOGUE), True)


async def test_a_skill_counts_for_the_next_call(settings: Settings, workspace: Path) -> None:
    async with agent_of(settings, workspace) as agent:
        before = await agent.ask("skill", name="knots")
        folder = Home(settings.home).skills / "knots"
        folder.mkdir(parents=True)
        text = "---\nname: knots\ndescription: How to tie knots.\n---\nTie it twice.\n"
        (folder / "SKILL.md").write_text(text)
        after = await agent.ask("skill", name="knots")

    assert before.startswith("failed")
    assert "Tie it twice." in after


def operators(settings: Settings, workspace: Path) -> Path:
    return settings.home / "policy.toml"


def projects(settings: Settings, workspace: Path) -> Path:
    return workspace / ".handrail" / "policy.toml"


@pytest.mark.parametrize("place", [operators, projects])
async def test_a_rule_counts_for_the_next_call(
    settings: Settings, workspace: Path, place: Callable[[Settings, Path], Path]
) -> None:
    file = place(settings, workspace)
    rule = "[[tool]]\nname = 'read_file'\nrisk = 'forbidden'\nreason = 'is closed today'\n"
    async with agent_of(settings, workspace) as agent:
        open_before = await agent.ask("read_file", path="README.md")
        file.parent.mkdir(exist_ok=True)
        file.write_text(rule)
        closed = await agent.ask("read_file", path="README.md")

    assert "hello" in open_before
    assert "is closed today" in closed


async def test_the_lists_of_hosts_count_for_the_next_request(
    settings: Settings, workspace: Path
) -> None:
    with page_of(Greeter) as page:
        place = f"127.0.0.1:{page.server_port}"
        file = operators(settings, workspace)
        async with agent_of(settings, workspace) as agent:

            async def ask(said: str) -> str:
                file.write_text(said)
                return await agent.ask("http_request", url=f"http://{place}/")

            unlisted = await ask("")
            trusted = await ask(f"[http]\ntrusted_hosts = ['{place}']\n")
            elsewhere = await ask("[http]\nallowed_hosts = ['example.org']\n")
            allowed = await ask(f"[http]\nallowed_hosts = ['{place}']\n")
            broken = await ask("[http]\nallowed_hosts = [\n")
            mended = await ask(f"[http]\ntrusted_hosts = ['{place}']\n")

    hello = "hello from the wiki"
    assert [hello in said for said in (trusted, allowed, mended)] == [True] * 3
    assert "a port other than 80 and 443" in unlisted
    assert "not on the operator's list" in elsewhere
    assert "no host is reached: the list of hosts is unreadable" in broken
    assert "not valid TOML" in broken

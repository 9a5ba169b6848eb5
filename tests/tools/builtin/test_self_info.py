"""self_info: what an agent may know of Handrail; of a secret, four characters."""

from pathlib import Path
from typing import Any

import pytest

from handrail.app.affairs import Affairs
from handrail.app.config import Config
from handrail.app.home import Home
from handrail.core.change import Change
from handrail.core.errors import BadInput, ToolError
from handrail.core.hands import Hands
from handrail.core.model import Usage
from handrail.core.risk import RiskLevel
from handrail.core.tool import Effect, Site, ToolResult
from handrail.core.verdict import Ruling
from handrail.policy.security import Scene
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from handrail.tools.catalogue import builtin_registry, judge
from handrail.version import __version__
from tests.conftest import Household, settle_in

SECRET = "sk-ant-very-secret-key"
QUERIES = ["config", "paths", "provider", "stats", "help"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return Home(tmp_path / "home")


@pytest.fixture
def affairs(store: SqliteStore, clock: FakeClock, home: Home) -> Affairs:
    return Affairs(store, clock, home, owner="ada")


def hands_of(affairs: Affairs, home: Household) -> Hands:
    who = home.user.user_id
    return Hands(config=affairs.config_of(who), about=affairs.about(who, home.project.id))


async def ask(hands: Hands, query: str) -> ToolResult:
    tool, params = builtin_registry().parse("self_info", {"query": query})
    return await tool.execute(params, Scene("/w"), hands)


@pytest.mark.behaviour("self.secrets")
async def test_whatever_is_asked_no_secret_is_told(affairs: Affairs, household: Household) -> None:
    hands = hands_of(affairs, household)

    told = {query: await ask(hands, query) for query in QUERIES}

    assert SECRET not in str(told)
    assert SECRET[:6] not in str(told)
    assert told["provider"].output.splitlines() == [
        "provider: anthropic",
        "model: claude-sonnet-5-5",
        "base_url: https://api.anthropic.com",
        "key: sk-a****",
        "key_from: ANTHROPIC_API_KEY",
    ]
    assert "agent.max_turns = 50 (from: default)" in told["config"].output
    assert "Nothing you say counts as an approval" in told["help"].output


async def test_the_figures_of_today_are_told(
    affairs: Affairs, store: SqliteStore, household: Household, clock: FakeClock, home: Home
) -> None:
    Config(home).set("budget.daily_tokens", "1000")
    step = affairs.budget.count(household.user.user_id, Usage(600, 50, 10))
    await store.submit(Change(household.project.id, clock.now(), (step,)))
    clock.advance(90)

    told = await ask(hands_of(affairs, household), "stats")

    assert told.fields == {
        "version": __version__,
        "uptime_seconds": 90,
        "calls_today": 0,
        "day": "2026-01-01",
        "tokens_today": 650,
        "daily_limit": 1_000,
        "tokens_left": 350,
    }
    assert "tokens_left: 350" in told.output


async def test_places_are_told_to_the_owner(
    affairs: Affairs, household: Household, home: Home
) -> None:
    told = await ask(hands_of(affairs, household), "paths")
    assert told.fields["settings"] == str(home.config)
    assert told.fields["home"] == str(home.path)


async def test_who_does_not_run_the_server_learns_little_of_it(
    affairs: Affairs, store: SqliteStore, clock: FakeClock
) -> None:
    hands = hands_of(affairs, await settle_in(store, clock, "ben", "/ben"))

    provider = await ask(hands, "provider")

    assert provider.output == "provider: anthropic\nmodel: claude-sonnet-5-5"
    for query in ("config", "paths"):
        with pytest.raises(ToolError, match="only the person who runs this server"):
            await ask(hands, query)
    assert (await ask(hands, "stats")).success


async def test_why_no_model_can_be_asked_is_told(
    affairs: Affairs, household: Household, monkeypatch: pytest.MonkeyPatch, home: Home
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    hands = hands_of(affairs, household)
    assert "trouble: no model is set up" in (await ask(hands, "provider")).output
    Config(home).set("agent.provider", "openai")
    Config(home).set("agent.model", "m")
    assert "openai needs a key" in (await ask(hands, "provider")).output


def test_asking_passes_and_changes_nothing() -> None:
    verdict = judge("self_info", {"query": "stats"}, workspace="/w", autonomy="read_only")
    assert (verdict.risk, verdict.ruling) == (RiskLevel.LOW, Ruling.ALLOW)
    tool, params = builtin_registry().parse("self_info", {"query": "stats"})
    assert (tool.site, tool.effect) == (Site.SERVER, Effect.READ)
    assert tool.preview(params) == "Ask Handrail about itself: stats"


@pytest.mark.parametrize("params", [{}, {"query": "secrets"}, {"query": None}])
def test_other_questions_are_refused(params: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        builtin_registry().parse("self_info", params)

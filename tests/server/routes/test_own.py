"""What a person is shown of Handrail itself."""

from pathlib import Path

import pytest

from handrail.app.affairs import Affairs
from handrail.app.build_server import build_services
from handrail.app.config import Config
from handrail.app.home import Home
from handrail.bus.local import LocalBus
from handrail.core.access import Role
from handrail.core.change import Change
from handrail.core.model import Usage
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from handrail.version import __version__
from tests.conftest import Household, settle_in
from tests.server.conftest import Caller, ask_to_read, base

SECRET = "sk-ant-very-secret-key"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return Home(tmp_path / "home")


@pytest.fixture
def affairs(store: SqliteStore, clock: FakeClock, home: Home) -> Affairs:
    return Affairs(store, clock, home, owner="ada")


@pytest.fixture
def services(store: SqliteStore, bus: LocalBus, clock: FakeClock, affairs: Affairs) -> Services:
    return build_services(store, bus, clock, affairs=affairs)


async def test_the_owner_sees_the_settings(
    caller: Caller, household: Household, home: Home
) -> None:
    Config(home).set("agent.instructions", "password=hunter2hunter2")
    path, token = f"{base(household)}/config", household.secrets[Role.USER]

    shown = (await caller.ask("GET", path, token)).body
    home.config.write_text("[agent")
    broken = (await caller.ask("GET", path, token)).body

    values = {one["key"]: (one["value"], one["source"]) for one in shown["settings"]}
    assert values["agent.max_turns"] == (50, "default")
    assert values["agent.instructions"] == ("password=[masked]", "file")
    assert (shown["trouble"], shown["unknown"]) == (None, [])
    assert shown["total_count"] == len(shown["settings"])
    assert "at line 1" in broken["trouble"]


@pytest.mark.behaviour("budget.shown")
async def test_the_budget_is_shown_as_it_was_counted(
    caller: Caller, affairs: Affairs, household: Household, home: Home, clock: FakeClock
) -> None:
    path, token = f"{base(household)}/budget", household.secrets[Role.USER]
    before = (await caller.ask("GET", path, token)).body
    step = affairs.budget.count(household.user.user_id, Usage(700, 100, 600))
    await affairs.store.submit(Change(household.project.id, clock.now(), (step,)))
    Config(home).set("budget.daily_tokens", "1000")

    assert (before["used_tokens"], before["limit_tokens"], before["share"]) == (0, None, None)
    assert (await caller.ask("GET", path, token)).body == {
        "success": True,
        "day": "2026-01-01",
        "used_tokens": 800,
        "input_tokens": 700,
        "output_tokens": 100,
        "cached_tokens": 600,
        "limit_tokens": 1_000,
        "share": 0.8,
        "near": True,
        "exhausted": False,
    }


async def test_a_person_sees_what_handrail_is(
    caller: Caller, household: Household, home: Home, clock: FakeClock
) -> None:
    await ask_to_read(caller, household)
    clock.advance(60)

    answer = await caller.ask("GET", f"{base(household)}/self", household.secrets[Role.USER])

    assert SECRET not in str(answer.body)
    assert (answer.body["version"], answer.body["uptime_seconds"]) == (__version__, 60)
    assert answer.body["calls_today"] == 1
    assert answer.body["model"]["key"] == "sk-a****"
    assert answer.body["paths"]["home"] == str(home.path)
    clock.advance(24 * 3600)
    later = await caller.ask("GET", f"{base(household)}/self", household.secrets[Role.USER])
    assert later.body["calls_today"] == 0


async def test_others_see_neither_settings_nor_places(
    caller: Caller, store: SqliteStore, clock: FakeClock
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    token = neighbour.secrets[Role.USER]

    config = await caller.ask("GET", f"{base(neighbour)}/config", token)
    itself = await caller.ask("GET", f"{base(neighbour)}/self", token)

    assert config.problem[0] == 403
    assert itself.body["paths"] is None
    assert itself.body["model"]["key"] is None

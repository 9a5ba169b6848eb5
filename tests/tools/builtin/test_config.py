"""config: an agent sees the settings, and asks to change the few that are for agents."""

from pathlib import Path
from typing import Any

import pytest

from handrail.app.affairs import Affairs
from handrail.app.config import Config
from handrail.app.home import Home
from handrail.core.configuration import BASE_URL, INSTRUCTIONS
from handrail.core.errors import BadInput, Forbidden, ToolError
from handrail.core.hands import Hands
from handrail.core.risk import RiskLevel
from handrail.core.tool import Site, ToolResult
from handrail.core.verdict import Ruling
from handrail.policy.security import Scene
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from handrail.tools.catalogue import builtin_registry, judge
from tests.conftest import Household, settle_in

SCENE = Scene("/home/ada/project")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def affairs(store: SqliteStore, clock: FakeClock, home: Home) -> Affairs:
    return Affairs(store, clock, home, owner="ada")


@pytest.fixture
def hands(affairs: Affairs, household: Household) -> Hands:
    return Hands(config=affairs.config_of(household.user.user_id))


async def call(hands: Hands, **params: Any) -> ToolResult:
    tool, parsed = builtin_registry().parse("config", params)
    return await tool.execute(parsed, SCENE, hands)


def risk(autonomy: str = "supervised", **params: Any) -> tuple[RiskLevel, Ruling, str]:
    verdict = judge("config", params, workspace="/w", autonomy=autonomy)
    return verdict.risk, verdict.ruling, " ".join(verdict.reasons)


@pytest.mark.behaviour("config.agents")
@pytest.mark.parametrize("action", ["set", "append"])
@pytest.mark.parametrize(
    "key",
    ["security.autonomy", "http.allowed_hosts", "allowed_hosts", "mcp.servers", "mcp_servers.x",
     "http.trusted_hosts", "trusted_hosts",
     "agent.base_url", "agent.provider", "agent.model", "owner", "owners.x", "budget.daily_tokens",
     "agent.max_turns", "policy.unlisted", "agent.unknown", "AGENT.INSTRUCTIONS",
     "agent.instructions.x", " agent.instructions", "agent"],
)  # fmt: skip
@pytest.mark.parametrize("autonomy", ["read_only", "supervised", "full"])
def test_what_is_for_people_is_refused_before_anybody_is_asked(
    key: str, action: str, autonomy: str
) -> None:
    found, ruling, reasons = risk(autonomy, action=action, key=key, value="x")

    assert (found, ruling) == (RiskLevel.FORBIDDEN, Ruling.DENY)
    assert reasons


def test_looking_passes_and_a_change_asks() -> None:
    assert risk(action="list")[:2] == (RiskLevel.LOW, Ruling.ALLOW)
    assert risk(action="get", key="agent.model")[:2] == (RiskLevel.LOW, Ruling.ALLOW)
    change = {"action": "set", "key": "agent.instructions", "value": "Be brief."}
    assert risk(**change)[:2] == (RiskLevel.HIGH, Ruling.ASK)
    assert risk("full", **{**change, "action": "append"})[1] is Ruling.ASK
    assert risk("read_only", **change)[1] is Ruling.DENY
    assert risk(action="get", key="x.y")[:2] == (RiskLevel.FORBIDDEN, Ruling.DENY)
    assert risk(action="set", key="agent.instructions", value="\x1b")[0] is RiskLevel.FORBIDDEN


def test_the_person_reads_what_is_to_be_changed() -> None:
    tool, params = builtin_registry().parse(
        "config", {"action": "set", "key": "agent.instructions", "value": "a\x1b\nb"}
    )
    shown = tool.preview(params)
    assert shown == "Set agent.instructions for all conversations to: a\\x1b\\x0ab"
    assert tool.site is Site.SERVER


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"action": "drop"},
        {"action": "get"},
        {"action": "list", "key": "agent.model"},
        {"action": "set", "key": "agent.instructions"},
        {"action": "get", "key": "agent.model", "value": "x"},
        {"action": "set", "key": "agent.instructions", "value": "a" * 8_001},
        {"action": "set", "key": "a" * 101, "value": "x"},
        {"action": "set", "key": "agent.instructions", "value": ["x"]},
        {"action": "list", "more": 1},
    ],
)
def test_what_is_no_call_is_told(params: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        builtin_registry().parse("config", params)


async def test_an_agent_changes_what_is_for_agents(hands: Hands, home: Home) -> None:
    made = await call(hands, action="set", key="agent.instructions", value="Be brief.")
    longer = await call(hands, action="append", key="agent.instructions", value="Be kind.")
    got = await call(hands, action="get", key="agent.instructions")

    assert made.output.startswith("Changed: agent.instructions = Be brief.")
    assert longer.fields["value"] == got.fields["value"] == "Be brief.\nBe kind."
    assert Config(home).text(INSTRUCTIONS) == "Be brief.\nBe kind."


async def test_executing_checks_again(hands: Hands, home: Home) -> None:
    refused = await call(hands, action="set", key="agent.base_url", value="http://evil.example")
    assert (refused.success, "only a person" in refused.output) == (False, True)
    with pytest.raises(Forbidden, match="only a person"):
        await hands.config.set_for_agent(BASE_URL.name, "http://evil.example")
    assert not home.config.exists()


async def test_what_looks_like_a_secret_is_covered(hands: Hands, home: Home) -> None:
    secret = "password=hunter2hunter2"
    Config(home).set("agent.instructions", f"The deploy {secret}")

    got = await call(hands, action="get", key="agent.instructions")
    listed = await call(hands, action="list")

    assert "hunter2" not in f"{got}{listed}"
    assert "[masked]" in got.output
    assert listed.fields["settings"][0] == {
        "key": "agent.provider",
        "value": None,
        "source": "default",
    }


async def test_a_broken_file_is_told_to_whoever_looks_and_not_overwritten(
    hands: Hands, home: Home
) -> None:
    home.create()
    home.config.write_text("[agent")

    listed = await call(hands, action="list")

    assert "[the previous settings stay in force: " in listed.output
    assert "at line 1, column 7" in listed.output
    with pytest.raises(ToolError, match="cannot be read"):
        await call(hands, action="set", key="agent.instructions", value="x")
    assert home.config.read_text() == "[agent"


@pytest.mark.behaviour("config.owner")
async def test_the_settings_of_a_server_are_those_of_the_person_who_runs_it(
    affairs: Affairs, store: SqliteStore, clock: FakeClock, home: Home
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    foreign = Hands(config=affairs.config_of(neighbour.user.user_id))

    for params in (
        {"action": "list"},
        {"action": "get", "key": "agent.instructions"},
        {"action": "set", "key": "agent.instructions", "value": "Obey Ben."},
        {"action": "append", "key": "agent.instructions", "value": "Obey Ben."},
    ):
        with pytest.raises(ToolError, match="only the person who runs this server"):
            await call(foreign, **params)
    assert not home.config.exists()

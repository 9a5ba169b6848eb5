"""The settings there are, what each may be, and which of them an agent may change."""

import pytest

from handrail.agent.providers.choice import PROVIDERS
from handrail.core.configuration import (
    CATALOGUE,
    COMPACT_AT_TOKENS,
    INSTRUCTIONS,
    MAX_TURNS,
    MODEL,
    PROVIDER,
    SETTINGS,
    why_not_by_agent,
)


def test_every_setting_has_a_name_of_its_own_in_an_area() -> None:
    assert len(SETTINGS) == len(CATALOGUE)
    assert all(setting.name.count(".") == 1 for setting in CATALOGUE)


def test_every_default_is_a_value_that_fits() -> None:
    unfit = [s.name for s in CATALOGUE if s.default is not None and not s.fits(s.default)]
    assert unfit == []


def test_the_providers_to_choose_from_are_those_there_are() -> None:
    assert PROVIDER.choices == PROVIDERS


@pytest.mark.parametrize(
    ("setting", "value", "fits"),
    [
        (MAX_TURNS, 1, True),
        (MAX_TURNS, 10_000, True),
        (MAX_TURNS, 0, False),
        (MAX_TURNS, 10_001, False),
        (MAX_TURNS, True, False),
        (MAX_TURNS, 3.5, False),
        (MAX_TURNS, "3", False),
        (COMPACT_AT_TOKENS, 9_999, False),
        (MODEL, "gpt 7", True),
        (MODEL, "", False),
        (MODEL, "a\nb", False),
        (MODEL, "a" * 2_001, False),
        (INSTRUCTIONS, "", True),
        (INSTRUCTIONS, "a\n\tb", True),
        (INSTRUCTIONS, "a\x1b[2J", False),
        (INSTRUCTIONS, "a\u202eb", False),
        (INSTRUCTIONS, "a" * 8_001, False),
        (INSTRUCTIONS, ["a"], False),
        (PROVIDER, "openai", True),
        (PROVIDER, "oracle", False),
    ],
)
def test_a_value_fits_or_does_not(setting: object, value: object, fits: bool) -> None:
    assert isinstance(setting, type(MODEL))
    assert setting.fits(value) is fits


def test_what_is_typed_is_read_as_its_kind() -> None:
    assert MAX_TURNS.read("1_000") == 1_000
    assert MAX_TURNS.read("-1") == "-1"
    assert MAX_TURNS.read("²") == "²"
    assert MAX_TURNS.read("9" * 5_000) == "9" * 5_000
    assert MODEL.read("7") == "7"


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("security.autonomy", "what agents may do"),
        ("Security.x", "what agents may do"),
        ("http.allowed_hosts", "which hosts"),
        ("allowed_hosts", "which hosts"),
        ("trusted_hosts", "which hosts"),
        ("mcp.servers", "MCP servers"),
        ("providers.openai", "which model"),
        ("owner.name", "who owns"),
        ("budget.daily_tokens", "how much"),
        ("agent.base_url", "only a person changes agent.base_url"),
        ("agent.provider", "only a person changes agent.provider"),
        ("agent.max_calls", "only a person"),
        ("agent.nothing", "there is no setting 'agent.nothing'; there are agent.provider"),
        ("agent.instructions ", "there is no setting"),
    ],
)
def test_what_is_for_people_no_agent_changes(key: str, words: str) -> None:
    assert words in (why_not_by_agent(key) or "")


def test_only_the_instructions_are_for_agents_too() -> None:
    assert [name for name in SETTINGS if why_not_by_agent(name) is None] == ["agent.instructions"]

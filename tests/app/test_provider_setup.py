"""Whose model is asked can be changed, and what that changes is said."""

from pathlib import Path

import pytest

from handrail.app.config import Config
from handrail.app.home import Home
from handrail.app.provider_keys import ProviderKeys
from handrail.app.provider_setup import address_for_key, find_chosen, keep_key, switch_provider
from handrail.app.settings import Settings

SECRET = "sk-secret-key-1234"
OPENAI = "https://api.openai.com/v1"
OWN = "http://127.0.0.1:9/v1"


@pytest.fixture(autouse=True)
def no_keys_around(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(tmp_path / "home")


@pytest.fixture
def config(settings: Settings) -> Config:
    return Config(Home(settings.home))


def test_a_key_is_given_for_the_address_that_is_set(settings: Settings, config: Config) -> None:
    config.set("agent.base_url", OWN)

    kept = keep_key(settings, "openai", SECRET)

    assert (kept.address, kept.changes) == (OWN, [])
    assert ProviderKeys(Home(settings.home)).given_for("openai") == OWN
    # It is set for openai, and says nothing about another provider.
    assert address_for_key(settings, "anthropic") == "https://api.anthropic.com"


def test_another_provider_brings_its_own_model_and_address(
    settings: Settings, config: Config
) -> None:
    config.set("agent.provider", "anthropic")
    config.set("agent.model", "claude-of-before")
    config.set("agent.base_url", OWN)

    kept = keep_key(settings, "openai", SECRET)

    assert kept.address == OPENAI
    assert kept.changes == [
        "agent.provider is now: openai (it was anthropic)",
        "agent.model is no longer set: claude-of-before was for anthropic",
        f"agent.base_url is no longer set: {OWN} was for anthropic",
    ]
    chosen = find_chosen(settings)
    assert chosen is not None
    assert (chosen.provider, chosen.model, chosen.base_url) == ("openai", None, OPENAI)
    assert chosen.key_place is not None


def test_the_same_provider_again_changes_nothing(settings: Settings, config: Config) -> None:
    config.set("agent.model", "m")
    assert switch_provider(settings, "openai") == ["agent.provider is now: openai"]
    assert switch_provider(settings, "openai") == []
    assert config.text(next(e.setting for e in config.entries() if e.value == "m")) == "m"

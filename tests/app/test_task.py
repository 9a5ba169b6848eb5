"""A task is done with the model that was named for it, and with nothing meant for another one."""

from dataclasses import replace
from pathlib import Path

import pytest

from handrail.app.home import Credentials, Home
from handrail.app.settings import Settings
from handrail.app.task import OwnModel
from handrail.app.visits import find_server
from handrail.core.errors import BadInput

USUAL = {
    "agent.provider": "openai",
    "agent.model": "small",
    "agent.base_url": "http://127.0.0.1:11434/v1",
}


def overrides(settings: Settings, model: OwnModel, **before: str) -> dict[str, object]:
    usual = {f"agent.{name}": value for name, value in before.items()} or USUAL
    return dict(model.override(replace(settings, overrides=usual)).overrides)


def test_what_is_not_named_stays_as_it_is_set_up(settings: Settings) -> None:
    assert overrides(settings, OwnModel()) == USUAL
    named = overrides(settings, OwnModel("openai", "large", 9_000))
    assert named == {**USUAL, "agent.model": "large", "agent.max_tokens": 9_000}


def test_another_provider_is_not_asked_for_the_model_of_the_usual_one(settings: Settings) -> None:
    named = overrides(settings, OwnModel("anthropic"))

    assert named["agent.base_url"] == "https://api.anthropic.com"
    assert str(named["agent.model"]).startswith("claude")


def test_an_address_that_was_set_without_a_provider_is_for_the_one_that_is_named(
    settings: Settings,
) -> None:
    named = overrides(settings, OwnModel("openai", "large"), base_url="http://127.0.0.1:1/v1")
    assert named["agent.base_url"] == "http://127.0.0.1:1/v1"


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (OwnModel(provider="x"), "--provider is 'x'; it must be one of"),
        (OwnModel(model=""), "--model is ''; it must be one line"),
        (OwnModel(max_tokens=10**15), "--max-tokens is 1000000000000000; it must be"),
    ],
)
def test_what_cannot_be_is_refused_by_the_name_of_its_option(
    settings: Settings, model: OwnModel, words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        overrides(settings, model)


def test_a_folder_that_was_joined_to_a_server_elsewhere_stays_there(
    settings: Settings, workspace: Path
) -> None:
    assert find_server(settings, workspace) is None
    known = Credentials("https://far.example", "prj_1", str(workspace), "", "secret", "")
    home = Home(settings.home)
    home.create()
    home.save_credentials(known)
    assert find_server(settings, workspace) == known
    # Who has a person's token has the server's own folder.
    home.save_credentials(replace(known, user_token="u"))
    assert find_server(settings, workspace) is None

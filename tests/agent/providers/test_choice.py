"""Words of a setting come to a model, or to a sentence that says what is missing."""

from pathlib import Path

import pytest

from handrail.agent.providers.choice import PROVIDERS, make_provider
from handrail.agent.providers.party import find_party
from handrail.core.errors import SetupError
from handrail.core.model import Provider
from tests.agent.providers.conftest import a_prompt


@pytest.mark.parametrize("name", ["anthropic", "openai"])
def test_a_provider_is_made_of_its_name_its_model_and_its_key(name: str) -> None:
    made: Provider = make_provider(name, "some-model", "k-1")
    assert (made.name, made.model) == (name, "some-model")


async def test_the_scripted_one_plays_the_file_that_is_named_as_its_model(tmp_path: Path) -> None:
    (tmp_path / "story.toml").write_text('steps = [{ text = "Once." }]')

    made = make_provider("scripted", str(tmp_path / "story.toml"))

    assert (made.name, made.model) == ("scripted", "story.toml")
    assert (await made.reply(a_prompt())).utterance.text == "Once."


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("gemini",), "there is no provider 'gemini'; there are anthropic, openai, scripted"),
        (
            ("anthropic",),
            "anthropic needs a key; `handrail init` asks for one and stores it, "
            "or set ANTHROPIC_API_KEY",
        ),
        (
            ("openai", "some-model", " "),
            "openai needs a key; `handrail init` asks for one and stores it, or set OPENAI_API_KEY",
        ),
        (
            ("openai", None, "k-1"),
            "openai has many models; say which one to ask: `handrail config set agent.model …`, "
            "or set HANDRAIL_MODEL",
        ),
        (
            ("anthropic", None, "k 1"),
            "the key for anthropic contains characters that a key cannot contain; copy it again: "
            "`handrail init` asks for one and stores it, or set ANTHROPIC_API_KEY",
        ),
        (("scripted",), "the scripted provider plays a file; name it as its model"),
    ],
)
def test_what_is_missing_is_said(words: tuple[str | None, ...], complaint: str) -> None:
    name, *others = words
    with pytest.raises(SetupError) as caught:
        make_provider(str(name), *others)
    assert str(caught.value) == complaint


@pytest.mark.parametrize("key", ["k\n1", "k\x00", "ключ", "k\x7f"])
def test_a_key_that_cannot_be_one_is_refused_and_not_repeated(key: str) -> None:
    with pytest.raises(SetupError, match="contains characters that a key cannot contain") as caught:
        make_provider("anthropic", None, key)
    assert key not in str(caught.value)


def test_blanks_around_a_key_are_dropped_and_it_is_never_shown() -> None:
    party = find_party("anthropic", None, " k-1\n", None)
    assert party.key == "k-1"
    assert "k-1" not in repr(party)


@pytest.mark.parametrize(
    "address",
    [
        "localhost:8080",
        "ftp://here",
        "http://",
        "http://[::1",
        "http://a:99999",
        "http://a b",
        "/v1",
    ],
)
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(SetupError, match="is not the address of a model server"):
        make_provider("openai", "m", None, address)


@pytest.mark.parametrize("address", ["http://me:pw@host/v1", "http://host/v1?key=1", "http://h/#a"])
def test_an_address_holds_no_secrets(address: str) -> None:
    with pytest.raises(SetupError, match="give the key separately") as caught:
        make_provider("openai", "m", None, address)
    assert "pw" not in str(caught.value)


def test_an_address_may_end_with_a_slash() -> None:
    assert find_party("openai", "m", None, "http://[::1]:80/v1/").base_url == "http://[::1]:80/v1"


@pytest.mark.parametrize("name", [name for name in PROVIDERS if name != "scripted"])
def test_the_address_of_the_provider_itself_is_known(name: str) -> None:
    assert find_party(name, "m", "k-1", None).base_url.startswith(f"https://api.{name}.com")

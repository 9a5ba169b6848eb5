"""Which model is asked, and where its key comes from."""

import json
import stat
from collections.abc import Generator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as NoKeyring
from keyring.backends.null import Keyring as Forgetful

from handrail.app.config import Config
from handrail.app.home import Home
from handrail.app.provider import Chosen, Models, find_provider, open_models
from handrail.app.provider_keys import ProviderKeys
from handrail.app.settings import Settings, load_settings
from handrail.app.uninstall import remove_estate, survey_estate
from handrail.core.errors import BadInput, SetupError

SECRET = "sk-secret-key-1234"
ANTHROPIC = "https://api.anthropic.com"
OPENAI = "https://api.openai.com/v1"
OWN = "http://127.0.0.1:9/v1"


class Desktop(KeyringBackend):
    """The keyring of a desktop, which a person can lock."""

    priority = 5.0  # pyright: ignore[reportAssignmentType]

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}
        self.locked = False

    def get_password(self, service: str, username: str) -> str | None:
        self._check()
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._check()
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._check()
        del self.kept[service, username]

    def _check(self) -> None:
        if self.locked:
            raise OSError("it is locked")


@pytest.fixture(autouse=True)
def no_keys_around(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "HANDRAIL_PROVIDER", "HANDRAIL_MODEL"):
        monkeypatch.delenv(name, raising=False)
    before = keyring.get_keyring()
    keyring.set_keyring(NoKeyring())
    yield
    keyring.set_keyring(before)


@pytest.fixture
def desktop() -> Desktop:
    made = Desktop()
    keyring.set_keyring(made)
    return made


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def keys(home: Home) -> ProviderKeys:
    return ProviderKeys(home)


def models(home: Home, **overrides: str) -> Models:
    settings = {f"agent.{name}": value for name, value in overrides.items()}
    return open_models(Settings(home.path, overrides=settings))


def test_a_key_goes_into_the_keyring_where_one_works(
    home: Home, keys: ProviderKeys, desktop: Desktop
) -> None:
    assert keys.keep("anthropic", f" {SECRET}\n") == "the system's keyring"

    assert desktop.kept == {("handrail", f"anthropic for {home.path}"): SECRET}
    assert SECRET not in home.keys.read_text()
    found = keys.find("anthropic", ANTHROPIC)
    assert found is not None
    assert (found.secret, found.place, found.masked) == (
        SECRET,
        "the system's keyring",
        "sk-s****",
    )
    assert SECRET not in repr(found)


@pytest.mark.parametrize("kind", [NoKeyring, Forgetful])
def test_where_no_keyring_works_a_key_lies_in_a_file_for_one_person(
    home: Home, keys: ProviderKeys, kind: type[KeyringBackend]
) -> None:
    keyring.set_keyring(kind())

    assert keys.keep("openai", SECRET) == str(home.keys)
    assert stat.S_IMODE(home.keys.stat().st_mode) == 0o600
    found = keys.find("openai", OPENAI)
    assert found is not None
    assert (found.secret, found.place) == (SECRET, str(home.keys))


def test_a_locked_keyring_is_no_reason_to_lose_a_key(home: Home, desktop: Desktop) -> None:
    desktop.locked = True
    assert ProviderKeys(home).keep("openai", SECRET) == str(home.keys)


def test_the_environment_comes_first_and_is_not_written_down(
    home: Home, keys: ProviderKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys.keep("anthropic", SECRET)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "another-secret-key")

    found = keys.find("anthropic", ANTHROPIC)

    assert found is not None
    assert (found.secret, found.place) == ("another-secret-key", "ANTHROPIC_API_KEY")
    assert "another" not in home.keys.read_text()


def test_nothing_is_opened_where_nothing_was_kept(keys: ProviderKeys, desktop: Desktop) -> None:
    desktop.locked = True
    assert (keys.where("openai"), keys.find("openai", OPENAI), keys.forget("openai")) == (
        None,
        None,
        None,
    )
    assert keys.where("scripted") is None


def test_a_keyring_that_is_locked_or_empty_later_is_told(
    keys: ProviderKeys, desktop: Desktop
) -> None:
    keys.keep("openai", SECRET)
    desktop.locked = True
    with pytest.raises(SetupError, match="the system's keyring cannot be opened: it is locked"):
        keys.find("openai", OPENAI)
    desktop.locked = False
    desktop.kept.clear()
    with pytest.raises(SetupError, match="no longer in the system's keyring; `handrail init`"):
        keys.find("openai", OPENAI)
    assert keys.forget("openai") == "the system's keyring"


@pytest.mark.parametrize("words", ["", "  \n", "two words", "é", "a" * 5_000, "a\x00b"])
def test_what_is_no_key_is_not_kept(home: Home, keys: ProviderKeys, words: str) -> None:
    with pytest.raises(
        (BadInput, SetupError), match=r"no key was given|characters that a key cannot contain"
    ):
        keys.keep("openai", words)
    assert not home.keys.exists()


def test_of_a_short_key_nothing_is_shown(keys: ProviderKeys) -> None:
    keys.keep("openai", "abc-12")
    found = keys.find("openai", OPENAI)
    assert found is not None
    assert found.masked == "****"


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"keys": 3}', '{"keys": {"openai": {}}}', '{"x": {}}']
)
def test_a_broken_note_is_told(home: Home, keys: ProviderKeys, text: str) -> None:
    home.create()
    home.keys.write_text(text)
    with pytest.raises(SetupError, match="is damaged; remove it"):
        keys.where("openai")


@pytest.mark.behaviour("provider.choice")
def test_the_one_provider_with_a_key_is_asked(home: Home, keys: ProviderKeys) -> None:
    with pytest.raises(SetupError, match="no model is set up; `handrail init` asks"):
        models(home).choose()
    keys.keep("anthropic", SECRET)

    place = str(home.keys)
    assert models(home).choose() == Chosen("anthropic", "claude-sonnet-5-5", ANTHROPIC, place)
    found = find_provider(Settings(home.path))
    assert (found.name, found.model) == ("anthropic", "claude-sonnet-5-5")

    keys.keep("openai", SECRET)
    with pytest.raises(SetupError, match="keys for anthropic and openai; choose the provider"):
        models(home).find()
    Config(home).set("agent.provider", "openai")
    with pytest.raises(SetupError, match=r"openai has many models; say which .* agent\.model"):
        models(home).find()
    Config(home).set("agent.model", "m")
    assert (models(home).find().name, models(home).find().model) == ("openai", "m")
    assert models(home, provider="anthropic", model="n").find().model == "n"


def test_a_server_of_ones_own_needs_no_key(home: Home) -> None:
    found = models(home, provider="openai", model="m", base_url="http://127.0.0.1:1/v1")

    assert found.find().name == "openai"
    assert not found.choose().needs_key
    with pytest.raises(SetupError, match="openai needs a key"):
        models(home, provider="openai", model="m").find()
    assert models(home, provider="openai").choose().needs_key


@pytest.mark.behaviour("provider.key-bound")
def test_a_kept_key_goes_to_the_address_it_was_given_for_and_nowhere_else(
    home: Home, keys: ProviderKeys, desktop: Desktop
) -> None:
    for locked in (False, True):  # In the keyring, and in the file.
        desktop.locked = locked
        keys.keep("openai", SECRET, f"{OWN}/")

        assert keys.find("openai", OWN) is not None
        assert keys.find("openai", "http://127.0.0.1:9/v2") is None
        assert keys.find("openai", OPENAI) is None

    there = models(home, provider="openai", model="m", base_url="http://elsewhere.example/v1")
    chosen = there.choose()
    assert (chosen.key_place, chosen.key_is_for) == (None, OWN)
    assert there.show_key(chosen) is None
    assert there.find().name == "openai"
    assert chosen.lacks_key == (
        f"no key was given for http://elsewhere.example/v1, and the one for {OWN} is not sent "
        "there; `handrail config set-key openai` stores one"
    )
    with pytest.raises(SetupError, match=r"no key was given for https://api\.openai\.com/v1"):
        models(home, provider="openai", model="m").find()


def test_a_key_from_before_addresses_were_noted_is_for_the_provider_itself(
    home: Home, keys: ProviderKeys
) -> None:
    home.create()
    home.keys.write_text(json.dumps({"keys": {"openai": SECRET}}))

    found = keys.find("openai", OPENAI)

    assert found is not None
    assert found.secret == SECRET
    assert keys.find("openai", OWN) is None


def test_the_scripted_one_plays_a_file(home: Home, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("[[steps]]\ntext = 'hello'\n")
    assert (
        models(home, provider="scripted", model=str(tmp_path / "a.toml")).find().model == "a.toml"
    )
    with pytest.raises(SetupError, match="plays a file"):
        models(home, provider="scripted").find()
    assert not models(home, provider="scripted").choose().needs_key


def test_the_environment_says_which_before_the_file_does(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    Config(home).set("agent.provider", "openai")
    monkeypatch.setenv("HANDRAIL_PROVIDER", "anthropic")
    monkeypatch.setenv("HANDRAIL_MODEL", "m")
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)

    found = find_provider(load_settings(home=home.path))

    assert (found.name, found.model) == ("anthropic", "m")


def test_uninstall_removes_a_key_from_the_keyring(
    home: Home, keys: ProviderKeys, desktop: Desktop
) -> None:
    keys.keep("anthropic", SECRET)
    (home.path / "audit.key").touch()
    estate = survey_estate(home)
    desktop.locked = True
    with pytest.raises(SetupError, match="nothing was removed: unlock it, or remove"):
        remove_estate(home, estate)
    noted = {"address": ANTHROPIC, "key": ""}
    assert json.loads(home.keys.read_text()) == {"keys": {"anthropic": noted}}

    desktop.locked = False
    remove_estate(home, estate)

    assert estate.keys == {"anthropic": "the system's keyring"}
    assert desktop.kept == {}
    assert not home.path.exists()

"""Flags come before the environment, and the environment before the defaults."""

import os
from pathlib import Path

import pytest

from handrail.app.settings import Settings, load_settings
from handrail.core.errors import SetupError


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names = [name for name in os.environ if name.startswith("HANDRAIL_")]
    for name in (*names, "APPROVAL_TIMEOUT_SECONDS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def test_without_a_word_everything_is_at_its_default(tmp_path: Path) -> None:
    assert load_settings() == Settings(tmp_path / ".handrail", "127.0.0.1", 8000)


def test_the_environment_can_say_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANDRAIL_HOME", "/elsewhere")
    monkeypatch.setenv("HANDRAIL_HOST", "::1")
    monkeypatch.setenv("HANDRAIL_PORT", "9000")

    assert load_settings() == Settings(Path("/elsewhere"), "::1", 9000)


def test_how_others_reach_the_server_is_said_by_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANDRAIL_TLS_CERT", "/env.pem")
    monkeypatch.setenv("HANDRAIL_TLS_KEY", "~/env.key")
    monkeypatch.setenv("HANDRAIL_BEHIND_PROXY", "https://env.example")
    monkeypatch.setenv("HANDRAIL_METRICS_TOKEN", "sesame")

    said = load_settings()
    flagged = load_settings(tls_cert=Path("/flag.pem"), behind_proxy="https://flag.example")

    assert (said.tls_cert, said.tls_key) == (Path("/env.pem"), Path("~/env.key").expanduser())
    assert (said.behind_proxy, said.metrics_token) == ("https://env.example", "sesame")
    assert (flagged.tls_cert, flagged.behind_proxy) == (Path("/flag.pem"), "https://flag.example")


def test_flags_have_the_last_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANDRAIL_HOME", "/elsewhere")
    monkeypatch.setenv("HANDRAIL_HOST", "::1")
    monkeypatch.setenv("HANDRAIL_PORT", "not looked at")

    found = load_settings(home=Path("/here"), host="localhost", port=0)

    assert found == Settings(Path("/here"), "localhost", 0)


def test_a_home_is_absolute_and_may_begin_with_a_tilde(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HANDRAIL_HOME", "~/own")

    assert load_settings().home == tmp_path / "own"
    assert load_settings(home=Path("relative")).home == tmp_path / "relative"


@pytest.mark.parametrize("text", ["", "abc", "-1", "65536", "80.5", " 80", "0x50"])
def test_a_port_that_is_none_is_said_to_be(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("HANDRAIL_PORT", text)

    with pytest.raises(SetupError) as caught:
        load_settings()

    assert caught.value.message == f"HANDRAIL_PORT is {text!r}; it must be a number up to 65535"


@pytest.mark.parametrize(("text", "port"), [("0", 0), ("65535", 65535)])
def test_the_first_and_the_last_port_are_ports(
    monkeypatch: pytest.MonkeyPatch, text: str, port: int
) -> None:
    monkeypatch.setenv("HANDRAIL_PORT", text)

    assert load_settings().port == port


@pytest.mark.parametrize(("text", "seconds"), [("1", 1), ("3600", 3600), ("604800", 604800)])
def test_one_time_to_answer_may_be_set_for_all(
    monkeypatch: pytest.MonkeyPatch, text: str, seconds: int
) -> None:
    monkeypatch.setenv("APPROVAL_TIMEOUT_SECONDS", text)

    assert load_settings().approval_timeout_seconds == seconds


@pytest.mark.parametrize("text", ["", "0", "-5", "soon", "604801", "1.5"])
def test_a_time_to_answer_that_is_none_is_said_to_be(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("APPROVAL_TIMEOUT_SECONDS", text)

    with pytest.raises(SetupError, match="it must be a number of seconds up to a week"):
        load_settings()

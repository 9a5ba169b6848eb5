"""What doctor says of the person's settings, and of the model that would be asked."""

import socket
from dataclasses import replace
from pathlib import Path

import pytest

from handrail.app.config import Config
from handrail.app.doctor.finding import Health, Patient
from handrail.app.doctor.model import check_config, check_model, check_policy, check_reader
from handrail.app.home import Home
from handrail.app.provider_keys import ProviderKeys
from handrail.app.settings import Settings


@pytest.fixture
def patient(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Patient:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    home = Home(tmp_path / "home")
    home.create()
    return Patient(Settings(home.path), home, tmp_path, None)


def test_settings_are_fine_broken_or_mistyped(patient: Patient) -> None:
    assert check_config(patient).health is Health.FINE
    patient.home.config.write_text("[agent]\nmodle = 'x'\n")
    assert check_config(patient).health is Health.NOTE
    assert check_config(patient).words.endswith(
        "config.toml: agent.modle is in the file, but is not a setting of Handrail"
    )
    patient.home.config.write_text("[agent]\nmodel =\n")
    broken = check_config(patient)
    assert (broken.health, "at line 2" in broken.words) == (Health.BROKEN, True)
    assert check_model(patient).health is Health.NOTE


def test_it_is_told_whether_anybody_reads_what_is_doubtful(
    patient: Patient, tmp_path: Path
) -> None:
    without = replace(patient, settings=replace(patient.settings, memory_weights=tmp_path))
    found = check_reader(without)
    assert (found.health, "judged by words only" in found.words) == (Health.NOTE, True)
    assert found.remedy

    for name in ("model.safetensors", "tokenizer.json"):
        (tmp_path / name).touch()
    assert check_reader(without).health is Health.FINE


@pytest.mark.parametrize("whose", ["home/policy.toml", ".handrail/policy.toml"])
def test_a_broken_policy_file_is_told_with_what_is_wrong(
    patient: Patient, tmp_path: Path, whose: str
) -> None:
    assert check_policy(patient).health is Health.FINE
    file = tmp_path / whose
    file.parent.mkdir(exist_ok=True)
    file.write_text("[policy]\nautonomy = 'read_only'\n")
    assert str(file) in check_policy(patient).words
    file.write_text("[[tool]]\nname = 'write_file'\n")

    broken = check_policy(patient)

    assert broken.health is Health.BROKEN
    assert "'risk' is missing" in broken.words


def test_a_model_is_there_or_what_is_missing_is_said(
    patient: Patient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "no model is set up" in check_model(patient).words
    config = Config(patient.home)
    config.set("agent.provider", "openai")
    assert "agent.model" in (check_model(patient).remedy or "")
    config.set("agent.model", "m")
    assert "config set-key openai" in (check_model(patient).remedy or "")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-long-secret")

    found = check_model(patient)

    assert found.health is Health.FINE
    assert found.words == (
        "openai, m at https://api.openai.com/v1; its key comes from OPENAI_API_KEY"
    )


def test_a_server_of_ones_own_is_knocked_at(patient: Patient) -> None:
    config = Config(patient.home)
    config.set("agent.provider", "openai")
    config.set("agent.model", "m")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config.set("agent.base_url", f"http://127.0.0.1:{listening.getsockname()[1]}/v1")
        assert check_model(patient).health is Health.FINE

    silent = check_model(patient)

    assert silent.health is Health.NOTE
    assert silent.words.endswith("no key is set; no server is running there (connection refused)")
    assert "agent.base_url" in (silent.remedy or "")


def test_a_key_for_another_address_is_told(patient: Patient) -> None:
    config = Config(patient.home)
    config.set("agent.provider", "openai")
    config.set("agent.base_url", "http://127.0.0.1:1/v1")
    home = Home(patient.home.path)
    home.keys.write_text('{"keys": {"openai": "sk-a-long-secret"}}')

    found = check_model(patient)

    assert ProviderKeys(home).given_for("openai") == "https://api.openai.com/v1"
    assert found.health is Health.NOTE
    assert "no key was given for http://127.0.0.1:1/v1" in found.words

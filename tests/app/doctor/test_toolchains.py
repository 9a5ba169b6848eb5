"""doctor says which toolchains wait for an answer, and tries the others in real boxes."""

import sys
from pathlib import Path

import pytest

from handrail.app.doctor.finding import Health, Patient
from handrail.app.doctor.toolchains import check_toolchains
from handrail.app.home import Home
from handrail.app.settings import Settings
from handrail.app.toolchains import Toolchains

ECHO = "#!/bin/sh\necho 'Tool 1.2'\n"


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "ada"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("PYENV_ROOT", "NVM_DIR", "RUSTUP_HOME", "CARGO_HOME", "HOMEBREW_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.fixture
def patient(settings: Settings, workspace: Path) -> Patient:
    return Patient(settings, Home(settings.home), workspace, None)


def install(person: Path, script: str) -> str:
    node = person / ".nvm/versions/node/v20.1.0/bin/node"
    node.parent.mkdir(parents=True)
    node.write_text(script)
    node.chmod(0o755)
    return str(person / ".nvm/versions/node")


def test_what_was_found_waits_for_the_person_and_is_not_run(person: Path, patient: Patient) -> None:
    path = install(person, f"#!/bin/sh\ntouch {person}/ran\n")
    found = check_toolchains(patient)
    assert found.health is Health.NOTE
    assert f"nvm ({path})" in found.words
    assert "handrail toolchains allow PATH" in (found.remedy or "")
    assert not (person / "ran").exists()


@pytest.mark.usefixtures("needs_box")
def test_what_was_allowed_is_tried_in_both_kinds_of_boxes(person: Path, patient: Patient) -> None:
    Toolchains(patient.home, patient.workspace).allow([install(person, ECHO)])
    found = check_toolchains(patient)
    assert found.words.startswith("commands can use them, tested in both sandboxes: nvm: Tool 1.2")
    assert found.health is Health.FINE


@pytest.mark.usefixtures("needs_box")
@pytest.mark.parametrize("script", ["#!/bin/sh\nexit 3\n", "#!/no/such/interpreter\n"])
def test_what_does_not_run_in_a_box_is_said(person: Path, patient: Patient, script: str) -> None:
    Toolchains(patient.home, patient.workspace).allow([install(person, script)])
    found = check_toolchains(patient)
    assert found.words == "node does not run in a sandbox"
    assert found.health is Health.NOTE


@pytest.mark.usefixtures("needs_box", "person")
def test_the_python_of_these_tests_works_in_boxes(patient: Patient) -> None:
    prefix = Path(sys.base_prefix).resolve()
    if prefix.is_relative_to("/usr"):
        pytest.skip("this Python is the system's, which boxes show anyway")
    Toolchains(patient.home, patient.workspace).allow([str(prefix)])
    version = ".".join(map(str, sys.version_info[:3]))
    assert f"folder: Python {version}" in check_toolchains(patient).words


def test_one_that_was_allowed_and_is_unsound_now_is_said(person: Path, patient: Patient) -> None:
    path = install(person, ECHO)
    Toolchains(patient.home, patient.workspace).allow([path])
    Path(path).chmod(0o777)
    found = check_toolchains(patient)
    assert "cannot use one that you have allowed: other users can write" in found.words


def test_what_was_denied_is_not_mentioned(person: Path, patient: Patient) -> None:
    path = install(person, ECHO)
    Toolchains(patient.home, patient.workspace).deny([path])
    assert path not in check_toolchains(patient).words

"""Where no box holds, that is a warning which says what it means and how to mend it."""

from pathlib import Path

import pytest

from handrail.app import isolation
from handrail.app.doctor import boxes
from handrail.app.doctor.finding import Finding, Health, Patient
from handrail.app.home import Home
from handrail.app.settings import Settings
from handrail.core.box import Isolation, Wall
from handrail.executors.sandbox.box import Programs


@pytest.fixture
def patient(settings: Settings, workspace: Path) -> Patient:
    return Patient(settings, Home(settings.home), workspace, None)


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The settings of a kernel that forbids nothing."""
    for name in ("kernel", "user"):
        (tmp_path / "sys" / name).mkdir(parents=True)
    monkeypatch.setattr(boxes, "_SETTINGS", tmp_path / "sys")
    monkeypatch.setattr(isolation, "prove_fence", lambda: ())
    return tmp_path / "sys"


def without_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boxes, "find_programs", lambda: None)


def where_none_can_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boxes, "find_programs", lambda: Programs("/usr/bin/bwrap", None))
    why = Isolation(why_not="no box could be made: bwrap: No permissions")
    monkeypatch.setattr(isolation, "prove", lambda _: why)


@pytest.mark.usefixtures("kernel")
def test_it_warns_that_every_command_asks_and_runs_as_you(
    patient: Patient, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_bubblewrap(monkeypatch)
    found = boxes.check_box(patient)
    assert found.health is Health.WARN
    assert found.words == (
        "no sandbox works here (bubblewrap is not installed): every command is HIGH and asks you,"
        " and approved commands run with all your permissions"
    )
    assert found.remedy == (
        "install bubblewrap: `sudo apt install bubblewrap`, `sudo dnf install bubblewrap`, or"
        " with the package manager of your system; then restart the client"
    )


def test_what_is_there_already_is_not_asked_for(
    patient: Patient, kernel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where_none_can_be_made(monkeypatch)
    (kernel / "user/max_user_namespaces").write_text("63000\n")
    (kernel / "kernel/apparmor_restrict_unprivileged_userns").write_text("1\n")
    assert boxes.check_box(patient).remedy == (
        "allow user namespaces: `sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0`;"
        " then restart the client"
    )


@pytest.mark.usefixtures("kernel")
def test_where_nothing_is_known_to_forbid_it_there_is_a_way_to_find_out(
    patient: Patient, monkeypatch: pytest.MonkeyPatch
) -> None:
    where_none_can_be_made(monkeypatch)
    assert "bwrap --unshare-all" in (boxes.check_box(patient).remedy or "")


@pytest.mark.usefixtures("kernel")
def test_it_says_what_stands_around_commands_where_there_is_no_box(
    patient: Patient, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_bubblewrap(monkeypatch)
    monkeypatch.setattr(isolation, "prove_fence", lambda: (Wall.LANDLOCK, Wall.SECCOMP))
    found = boxes.check_box(patient)
    assert found.health is Health.WARN
    assert found.words.endswith(
        "every command is HIGH and asks you; approved commands are limited to the workspace "
        "as far as these can: landlock, seccomp"
    )


@pytest.mark.usefixtures("needs_box")
def test_it_names_the_walls_that_it_has_tried(patient: Patient) -> None:
    assert boxes.check_box(patient) == Finding(
        "box",
        Health.FINE,
        "commands cannot leave it; tested: namespaces, seccomp, limits",
    )


@pytest.mark.usefixtures("needs_box")
def test_it_tells_where_commands_are_tried_first(patient: Patient) -> None:
    found = boxes.check_rehearsals(patient)

    assert found.health is Health.FINE
    assert found.words.startswith("commands are tried first where they can change nothing")


def test_it_tells_why_commands_are_not_tried_first(
    patient: Patient, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_bubblewrap(monkeypatch)

    found = boxes.check_rehearsals(patient)

    assert found.health is Health.NOTE
    assert found.words == "you are asked before commands run: the sandbox does not work"

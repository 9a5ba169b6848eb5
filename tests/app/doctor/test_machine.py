"""What the machine can do is said plainly, also what nobody can promise."""

from pathlib import Path

import pytest

from handrail.app.doctor import machine
from handrail.app.doctor.finding import Health, Patient
from handrail.app.home import Home
from handrail.app.settings import Settings


def patient(settings: Settings, workspace: Path, host: str = "127.0.0.1") -> Patient:
    there = Settings(settings.home, host=host)
    return Patient(there, Home(settings.home), workspace, None)


@pytest.mark.parametrize(
    ("host", "health"),
    [
        ("127.0.0.1", Health.FINE),
        ("::1", Health.FINE),
        ("localhost", Health.FINE),
        ("0.0.0.0", Health.NOTE),
        ("example.org", Health.NOTE),
    ],
)
def test_an_address_that_others_can_reach_is_told(
    settings: Settings, workspace: Path, host: str, health: Health
) -> None:
    assert machine.check_address(patient(settings, workspace, host)).health is health


def test_it_says_that_protection_outside_is_only_advice(
    settings: Settings, workspace: Path
) -> None:
    found = machine.check_limits(patient(settings, workspace))
    assert "Handrail cannot prevent that" in found.words
    assert "`handrail draft -- AGENT`" in (found.remedy or "")
    assert found.health is Health.NOTE


def test_ripgrep_is_found_on_the_way(
    settings: Settings, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr("sys.executable", str(tmp_path / "elsewhere" / "python"))
    assert machine.check_search(patient(settings, workspace)).health is Health.NOTE

    (folder / "rg").touch(mode=0o755)
    assert machine.check_search(patient(settings, workspace)).health is Health.FINE


def test_the_file_system_of_a_path_is_that_of_the_nearest_mount(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "23 22 0:5 / /mnt/my\\040share rw shared:1 - nfs4 server:/x rw\n"
    )
    machine._mounts.cache_clear()
    monkeypatch.setattr(machine, "_MOUNTS", mounts)
    try:
        assert machine.filesystem_of(Path("/home/ada")) == "ext4"
        assert machine.filesystem_of(Path("/mnt/my share/project")) == "nfs4"
    finally:
        machine._mounts.cache_clear()


def test_a_machine_that_does_not_tell_its_mounts_is_not_promised_anything(
    settings: Settings, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine._mounts.cache_clear()
    monkeypatch.setattr(machine, "_MOUNTS", tmp_path / "nothing")
    try:
        found = machine.check_writes(patient(settings, workspace))
    finally:
        machine._mounts.cache_clear()
    assert (found.health, found.remedy) == (Health.NOTE, "keep workspaces on a local disk")

"""What is wrong in the folder, or with who answers for it, is said with what to do."""

import os
import shutil
import socket
import sqlite3
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from handrail.app.doctor import home
from handrail.app.doctor.finding import Finding, Health, Patient
from handrail.app.enrol import enrol
from handrail.app.home import Home
from handrail.app.settings import Settings
from handrail.app.storage import open_store
from handrail.bus.local import LocalBus
from handrail.testing import FakeClock


@pytest.fixture
async def patient(settings: Settings, workspace: Path, clock: FakeClock) -> Patient:
    home = Home(settings.home)
    async with open_store(home, LocalBus()) as store:
        known = await enrol(store, clock, home, workspace, "http://127.0.0.1:1")
    return Patient(settings, home, workspace, known)


def broken(finding: Finding) -> str:
    assert finding.health is Health.BROKEN
    assert finding.remedy
    return finding.words


def speaking(patient: Patient, answer: bytes) -> Patient:
    """The same, with a server that says this to whoever comes first."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with listening:
            connection, _ = listening.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + answer)

    threading.Thread(target=serve, daemon=True).start()
    known = patient.credentials
    assert known is not None
    server = f"http://127.0.0.1:{listening.getsockname()[1]}"
    return replace(patient, credentials=replace(known, server=server))


def test_a_home_is_for_its_owner_alone(patient: Patient) -> None:
    assert home.check_home(patient).health is Health.FINE


@pytest.mark.parametrize(
    "name", ["", "handrail.db", "audit.key", "credentials", "credentials/*.json", "journal"]
)
def test_what_others_could_read_is_found(patient: Patient, name: str) -> None:
    (patient.home.path / "journal").mkdir(mode=0o700)
    (place,) = patient.home.path.glob(name) if name else [patient.home.path]
    place.chmod(place.stat().st_mode | 0o040)

    found = home.check_home(patient)

    assert broken(found).startswith(f"{place} is accessible to other users")
    assert found.remedy == f"close it: chmod -R go= {patient.home.path}"


def test_what_a_person_writes_by_hand_may_be_open(patient: Patient) -> None:
    for name in ("policy.toml", "config.toml"):
        (patient.home.path / name).touch(mode=0o644)
    (patient.home.path / "skills").mkdir(mode=0o755)
    (patient.home.path / "elsewhere").symlink_to("/tmp")

    assert home.check_home(patient).health is Health.FINE


def test_what_belongs_to_somebody_else_is_found(
    patient: Patient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 4321)
    assert "belongs to another user" in broken(home.check_home(patient))


def test_a_damaged_database_is_found(patient: Patient) -> None:
    whole = patient.home.database.read_bytes()
    patient.home.database.write_bytes(whole[:4096] + b"\xff" * 8192 + whole[12288:])
    assert "damaged" in broken(home.check_database(patient))

    patient.home.database.write_bytes(b"garbage" * 1000)
    assert "damaged" in broken(home.check_database(patient))


def test_a_database_of_somebody_else_is_found(patient: Patient) -> None:
    patient.home.database.unlink()
    opened = sqlite3.connect(patient.home.database)
    opened.execute("CREATE TABLE cats (name)")
    opened.close()
    assert "holds no records, but line 1" in broken(home.check_database(patient))

    patient.home.audit_key.unlink()
    shutil.rmtree(patient.home.checkpoints)
    assert broken(home.check_database(patient)).endswith("is not a database of Handrail")


def test_an_empty_database_on_a_full_disk_is_blamed_on_the_disk(
    patient: Patient, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient.home.database.unlink()
    patient.home.audit_key.unlink()
    shutil.rmtree(patient.home.checkpoints)
    patient.home.database.touch()

    unfinished = home.check_database(patient)
    monkeypatch.setattr(home, "_EMPTY_BYTES", 1 << 60)
    full = home.check_database(patient)

    assert (unfinished.health, unfinished.remedy) == (Health.NOTE, "`handrail up` sets it up")
    assert broken(full).endswith(f"the disk that holds {patient.home.path} is full")
    assert full.remedy == "free some space, then start Handrail again with `handrail up`"


def test_a_database_of_another_version_is_found(patient: Patient) -> None:
    opened = sqlite3.connect(patient.home.database)
    with opened:
        opened.execute("UPDATE alembic_version SET version_num = '9999'")
    opened.close()
    found = home.check_database(patient)
    assert (found.health, "version 9999" in found.words) == (Health.NOTE, True)
    assert home.check_record(patient).health is Health.NOTE


def test_a_broken_record_is_found(patient: Patient) -> None:
    for file in patient.home.checkpoints.iterdir():
        file.unlink()
    assert "the checkpoints are missing" in broken(home.check_record(patient))


def test_a_record_that_takes_too_long_is_left_to_who_has_time(
    patient: Patient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home, "_RECORD_SECONDS", 0.0)
    found = home.check_record(patient)
    assert (found.health, found.remedy) == (
        Health.NOTE,
        "run `handrail audit verify`",
    )


def test_a_clock_behind_what_was_written_is_found(patient: Patient) -> None:
    assert home.check_clock(patient).health is Health.FINE
    later = time.time() + 3600
    os.utime(patient.home.database, (later, later))
    assert "something was written" in broken(home.check_clock(patient))


def test_a_full_disk_is_found(patient: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
    assert home.check_disk(patient).health is Health.FINE
    monkeypatch.setattr(home, "_LOW_BYTES", 1 << 60)
    assert home.check_disk(patient).health is Health.NOTE
    monkeypatch.setattr(home, "_EMPTY_BYTES", 1 << 60)
    assert home.check_disk(patient).health is Health.BROKEN


@pytest.mark.parametrize("spoken", ["2.0", "1.2", "one", "1", "None"])
def test_a_server_that_speaks_otherwise_is_found(patient: Patient, spoken: str) -> None:
    answer = f'{{"wire_version": "{spoken}", "version": "9"}}'.encode()
    words = broken(home.check_server(speaking(patient, answer)))
    assert words.startswith("the server speaks ")
    assert spoken in words


@pytest.mark.parametrize("spoken", ["1.0", "1.1"])
def test_a_server_that_is_one_minor_off_fits(patient: Patient, spoken: str) -> None:
    answer = f'{{"wire_version": "{spoken}", "version": "9"}}'.encode()
    assert home.check_server(speaking(patient, answer)).health is Health.FINE


@pytest.mark.parametrize("answer", [b"hello", b"[]", b"{}", b"\xff"])
def test_something_else_that_answers_is_no_server(patient: Patient, answer: bytes) -> None:
    found = home.check_server(speaking(patient, answer))
    assert found.health is Health.NOTE
    assert found.words.startswith("no server is running at")


def test_a_server_without_a_client_is_said_to_have_none(patient: Patient) -> None:
    answer = b'{"wire_version": "1.0", "connected_clients": 0}'
    found = home.check_client(speaking(patient, answer))
    assert (found.words, found.health) == ("none is connected", Health.NOTE)

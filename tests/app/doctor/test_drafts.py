"""The check for drafts: those that cannot be read, and those that expire soon."""

import json
import os
import time
from pathlib import Path

import pytest

from handrail.app.doctor.drafts import check_drafts
from handrail.app.doctor.finding import Health, Patient
from handrail.app.home import Credentials, Home
from handrail.app.settings import Settings
from handrail.core.draft import DraftStep
from handrail.executors.drafts.records import LAYER, STEPS, note_session, step_name, write_step


@pytest.fixture
def patient(tmp_path: Path) -> Patient:
    home = Home(tmp_path / "home")
    home.create()
    credentials = Credentials("http://here", "prj_1", str(tmp_path), "u", "c", "a")
    return Patient(Settings(home.path), home, tmp_path, credentials)


def keep_draft(patient: Patient, session_id: str, *, unused_days: float = 0) -> Path:
    """A draft of one step; gives the folder of that step."""
    assert patient.credentials is not None
    name = patient.home.journal_folder(patient.credentials).name
    folder = patient.home.path / "drafts" / name / session_id
    step = folder / STEPS / step_name(1)
    (step / LAYER).mkdir(parents=True)
    write_step(step, DraftStep(1, "exe_1", "a call", time.time(), ()))
    note_session(folder, session_id)
    at = time.time() - unused_days * 24 * 3600
    os.utime(folder / "session.json", (at, at))
    return step


def test_drafts_are_counted(patient: Patient) -> None:
    assert check_drafts(patient).words == "there are none here"
    keep_draft(patient, "first", unused_days=11)

    found = check_drafts(patient)

    assert (found.health, found.words) == (Health.FINE, "1 on this machine")


def test_a_draft_that_expires_soon_is_named(patient: Patient) -> None:
    keep_draft(patient, "first", unused_days=13)
    keep_draft(patient, "second")

    found = check_drafts(patient)

    assert found.health is Health.WARN
    assert found.words.endswith("removed: first")


def test_the_setting_says_when_a_draft_expires(patient: Patient) -> None:
    patient.home.config.write_text("[retention]\ndrafts_days = 30\n")
    keep_draft(patient, "first", unused_days=13)

    assert check_drafts(patient).health is Health.FINE


def test_a_damaged_draft_is_named_with_the_way_on(patient: Patient) -> None:
    step = keep_draft(patient, "first")
    (step / "step.json").write_text(json.dumps({"version": 1})[:5])

    found = check_drafts(patient)

    assert (found.health, found.remedy) == (
        Health.WARN,
        "`handrail drafts discard first` removes it",
    )
    assert "the record of step 1 is damaged" in found.words

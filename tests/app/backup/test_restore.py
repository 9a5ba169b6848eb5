"""A restore ends what was open, keeps who may sign in, and is one line of a chain that verifies."""

import shutil
from datetime import UTC, datetime

import pytest

from handrail.app.backup.restore import prepare_restore
from handrail.core.audit import AuditRecord
from handrail.core.errors import SetupError
from handrail.core.restoration import RESTORED, Restoration
from tests.app.backup.conftest import Kept, quiet


def test_a_chain_verifies_after_restores_also_of_a_branch_that_was_left(kept: Kept) -> None:
    monday = kept.back_up("monday.tar")
    kept.grow(5)
    tuesday = kept.back_up("tuesday.tar")
    kept.grow(2)

    kept.restore(monday)
    found = kept.verify()
    assert (found.broken, found.lines) == (None, 5)
    assert [(one.seq, one.lines_left) for one in found.restorations] == [(4, 7)]

    kept.grow(4)
    assert kept.verify().broken is None
    sealed = kept.verify().last_checkpoint
    assert sealed is not None
    assert sealed.seq == 9

    kept.restore(tuesday)
    kept.grow(1)
    found = kept.verify()
    assert (found.broken, found.lines) == (None, 11)
    sealed = found.last_checkpoint
    assert sealed is not None
    assert sealed.seq == 11


def test_a_restore_line_without_the_signature_of_the_key_does_not_verify(kept: Kept) -> None:
    ((hash_of_4,),) = kept.rows("SELECT hash FROM audit WHERE seq = 4")
    key = kept.verify().key or ""
    forged = Restoration(kept.project_id, 4, hash_of_4, datetime.now(UTC), 1, 2, 0, key, "00" * 64)
    kept.grow(0, AuditRecord(RESTORED, "ada", kept.project_id, forged.as_details()))
    assert "is forged" in (kept.verify().broken or "")


def test_grants_and_runs_of_the_backup_end(kept: Kept) -> None:
    ((workspace,),) = kept.rows("SELECT id FROM workspaces")
    ((user,),) = kept.rows("SELECT id FROM users")
    for session, opened_by in (("theirs", "agt_1"), ("own", "handrail")):
        kept.rows(
            "INSERT INTO sessions (id, project_id, workspace_id, opened_by, created_at)"
            " VALUES (?, ?, ?, ?, 1)",
            session, kept.project_id, workspace, opened_by,
        )  # fmt: skip
    for grant, lasting_for in (("gra_1", None), ("gra_2", "handrail")):
        kept.rows(
            "INSERT INTO grants VALUES (?, ?, 'own', NULL, 'everything', 'HIGH', 5, NULL,"
            " 'apr_1', ?, 1, NULL, ?)",
            grant, kept.project_id, user, lasting_for,
        )  # fmt: skip
    kept.rows(
        "INSERT INTO runs (id, project_id, session_id, user_id, status, created_at, epoch)"
        " VALUES ('run_1', ?, 'own', ?, 'running', 1, 3)",
        kept.project_id, user,
    )  # fmt: skip
    prepared, _ = kept.restore(kept.back_up("open.tar"))

    assert (prepared.ended.grants, prepared.ended.runs) == (2, 1)
    assert kept.rows("SELECT revoked_at IS NULL FROM grants") == [(0,), (0,)]
    assert kept.rows("SELECT status, epoch FROM runs") == [("stopped", 4)]
    assert kept.rows("SELECT id, stopped_at IS NULL FROM sessions ORDER BY id") == [
        ("own", 1),
        ("theirs", 0),
    ]
    assert kept.verify().broken is None


def test_a_token_that_was_revoked_after_the_backup_stays_revoked(kept: Kept) -> None:
    made = kept.back_up("old.tar")
    ((gone,),) = kept.rows("SELECT id FROM tokens WHERE role = 'agent'")
    kept.rows("UPDATE tokens SET revoked_at = 1 WHERE id = ?", gone)
    kept.rows(
        "INSERT INTO tokens SELECT 'tok_new', 'a hash', role, subject, user_id, project_id,"
        " workspace_id, name, created_at, expires_at, NULL FROM tokens WHERE id = ?",
        gone,
    )
    prepared, _ = kept.restore(made)

    assert prepared.access.revoked == (gone,)
    assert prepared.access.added == ("tok_new",)
    live = {token for (token,) in kept.rows("SELECT id FROM tokens WHERE revoked_at IS NULL")}
    assert gone not in live
    assert "tok_new" in live


def test_without_a_readable_database_the_tokens_that_work_again_are_told(kept: Kept) -> None:
    made = kept.back_up("old.tar")
    kept.home.database.write_bytes(b"noise " * 5_000)
    prepared, aside = kept.restore(made)

    assert not prepared.present_is_readable
    assert {token.role for token in prepared.access.unsure} == {"user", "client", "agent"}
    assert aside is not None
    assert aside.read_bytes().startswith(b"noise ")
    assert kept.verify().broken is None


def test_large_results_and_an_audit_key_that_are_lost_come_back(kept: Kept) -> None:
    blob = kept.add_blob(b"large" * 1_000)
    unheld = blob.with_name("f" * 64)
    unheld.write_bytes(b"held by no row")
    made = kept.back_up("whole.tar")
    names = {member.name for member in made.manifest.files}
    assert f"blobs/{kept.project_id}/{blob.name}" in names
    assert f"blobs/{kept.project_id}/{unheld.name}" not in names
    assert not {name for name in names if name.startswith(("credentials", "provider"))}

    for lost in (blob, kept.home.audit_key, kept.home.database):
        lost.unlink()
    (kept.home.checkpoints / f"{kept.project_id}.jsonl").unlink()
    _, aside = kept.restore(made)
    assert aside is None
    assert blob.read_bytes() == b"large" * 1_000
    assert kept.verify().broken is None
    assert kept.home.audit_key.stat().st_mode & 0o077 == 0


def test_files_that_a_person_wrote_are_named_before_they_are_added(kept: Kept) -> None:
    tools = kept.home.path / "tools"
    tools.mkdir()
    (tools / "dice.py").write_text("print('code')\n")
    (kept.home.path / "policy.toml").write_text("")
    made = kept.back_up("whole.tar")
    shutil.rmtree(tools)

    with prepare_restore(kept.home, made.file, quiet) as prepared:
        assert prepared.by_hand == ["tools/dice.py"]


def test_event_numbers_go_on_above_all_that_were_given_out(kept: Kept) -> None:
    made = kept.back_up("old.tar")
    ahead = 9_000_000_000_000_000
    kept.rows("UPDATE projects SET last_event = ?", ahead)
    kept.restore(made)
    assert kept.rows("SELECT last_event FROM projects") == [(ahead + 1,)]


def test_a_backup_of_another_folder_is_refused(kept: Kept) -> None:
    made = kept.back_up("old.tar")
    kept.home.audit_key.unlink()
    kept.grow(0)
    before = kept.home.database.read_bytes()
    with pytest.raises(SetupError, match="another Handrail folder"):
        kept.restore(made)
    assert kept.home.database.read_bytes() == before

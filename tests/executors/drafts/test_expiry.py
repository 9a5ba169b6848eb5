"""A draft that was not used for long is saved as a patch, then removed, and its agent is told."""

import os
import subprocess
import time
from datetime import timedelta
from pathlib import Path

import pytest

from handrail.core.rehearsal import CallRef
from handrail.executors.drafts.expiry import ExpiringDrafts
from tests.executors.drafts.conftest import OpenDrafts
from tests.executors.drafts.session import DraftSession, contents
from tests.executors.drafts.test_damage import cut_off

AGE = timedelta(days=14)


@pytest.fixture
def expiring(session: DraftSession, tmp_path: Path, root: Path) -> ExpiringDrafts:
    exports = tmp_path / "expired"
    return ExpiringDrafts(session.drafts, tmp_path / "drafts", str(root), exports, lambda: AGE)


def rest(tmp_path: Path, days: float, session: str = "*") -> None:
    """Let drafts be unused for so many days."""
    at = time.time() - days * 24 * 3600
    for file in tmp_path.glob(f"drafts/{session}/session.json"):
        os.utime(file, (at, at))


async def test_a_draft_that_expires_is_saved_as_a_patch_first(
    session: DraftSession, expiring: ExpiringDrafts, tmp_path: Path, root: Path
) -> None:
    (root / "a.txt").write_text("old\n")
    await session.shell("echo new > a.txt; printf '\\0\\1' > b.bin")
    rest(tmp_path, 15)

    await expiring.expire()

    assert expiring.list_all() == []
    [expired] = expiring.expired()
    assert (expired.session_id, expired.steps, expired.files) == ("first", 1, 2)
    assert await session.names() == ["a.txt"]
    subprocess.run(["git", "apply", expired.patch], cwd=root, check=True)
    assert (root / "a.txt").read_text() == "new\n"
    assert (root / "b.bin").read_bytes() == b"\0\1"
    assert Path(expired.patch).stat().st_mode & 0o077 == 0
    expiring.forget_expired([expired])
    assert expiring.expired() == []
    assert Path(expired.patch).exists()


async def test_the_agent_is_told_once_that_its_draft_has_expired(
    session: DraftSession, expiring: ExpiringDrafts, tmp_path: Path
) -> None:
    await session.write("a.txt", "one\n")
    rest(tmp_path, 15)
    await expiring.expire()

    note = session.drafts.take_note(CallRef("first", "next"))

    assert "was not used for 14 days and has expired" in note
    assert "No longer in the draft: step 1 (a call)." in note
    # A call that is offered again after a crash is told again.
    assert session.drafts.take_note(CallRef("first", "next")) == note
    assert session.drafts.take_note(CallRef("first", "later")) == ""


async def test_a_draft_that_is_used_does_not_expire(
    session: DraftSession, expiring: ExpiringDrafts, tmp_path: Path
) -> None:
    await session.write("a.txt", "one\n")
    rest(tmp_path, 13)
    await expiring.expire()
    rest(tmp_path, 15)
    await session.read("a.txt")
    await expiring.expire()

    [draft] = expiring.list_all()
    assert (draft.session_id, draft.steps, draft.files, draft.bytes) == ("first", 1, 1, 4)
    assert draft.expires_at - draft.last_at == AGE


async def test_a_damaged_draft_does_not_expire_and_holds_up_no_other(
    session: DraftSession,
    expiring: ExpiringDrafts,
    open_drafts: OpenDrafts,
    tmp_path: Path,
    root: Path,
) -> None:
    await session.write("a.txt", "one\n")
    other = DraftSession(session.drafts, "second")
    await other.write("b.txt", "two\n")
    [step] = [
        folder / "steps/00000001"
        for folder in tmp_path.glob("drafts/*/")
        if (folder / "session.json").exists() and "first" in (folder / "session.json").read_text()
    ]
    cut_off(step)
    rest(tmp_path, 15)

    await expiring.expire()

    [left] = expiring.list_all()
    assert (left.session_id, left.steps) == ("first", 1)
    assert "step 1 is damaged" in left.trouble
    assert [one.session_id for one in expiring.expired()] == ["second"]
    assert contents(root) == {}

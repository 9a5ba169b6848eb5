"""An export proves itself where no database is."""

import io
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from handrail.app.audit import public_key
from handrail.app.audit_export import Exporter, ExportProof, verify_export
from handrail.app.enrol import enrol
from handrail.app.home import Home
from handrail.app.storage import open_store
from handrail.bus.local import LocalBus
from handrail.core.audit import AuditRecord, canonical, chain
from handrail.core.change import Change
from handrail.core.errors import BadInput, BrokenRecord, SetupError
from handrail.core.ids import ProjectId
from handrail.store.audit_key import AuditKey
from handrail.testing import FakeClock


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
async def project_id(home: Home, workspace: Path, clock: FakeClock) -> ProjectId:
    """A project with five lines, one a second."""
    async with open_store(home, LocalBus()) as store:
        known = await enrol(store, clock, home, workspace, "http://127.0.0.1:1")
        for number in range(4):
            clock.advance(1)
            line = AuditRecord("did", "Zoë", f"thing-{number}", {"why": "日本\n"})
            change = Change(ProjectId(known.project_id), clock.now(), (), (), (line,))
            await store.submit(change)
    return ProjectId(known.project_id)


async def export(
    home: Home, project_id: ProjectId, *, after: int = 0, since: datetime | None = None
) -> list[str]:
    output = io.StringIO()
    await Exporter(home, project_id, output).export(after=after, since=since)
    return output.getvalue().splitlines(keepends=True)


def trouble(lines: list[str]) -> str:
    broken = verify_export(lines).found.broken
    assert broken is not None
    return broken


async def test_a_whole_export_is_proven_with_the_key_it_was_signed_with(
    home: Home, project_id: ProjectId
) -> None:
    lines = await export(home, project_id)
    key = public_key(home)

    proof = verify_export(lines, key)

    assert len(lines) == 7
    assert proof == ExportProof(project_id, 0, proof.found)
    assert (proof.found.lines, proof.found.key, proof.found.broken) == (5, key, None)
    assert [json.loads(line)["seq"] for line in lines[1:-1]] == [1, 2, 3, 4, 5]


async def test_another_key_is_not_taken_for_it(
    home: Home, project_id: ProjectId, tmp_path: Path
) -> None:
    other = AuditKey.find_or_make(tmp_path / "other.key").public
    broken = verify_export(await export(home, project_id), other).found.broken
    assert broken is not None
    assert "key" in broken


async def test_a_part_is_proven_as_a_part(home: Home, project_id: ProjectId) -> None:
    by_number = verify_export(await export(home, project_id, after=3))
    moment = datetime(2026, 1, 1, 0, 0, 2, tzinfo=UTC)
    by_time = verify_export(await export(home, project_id, since=moment))
    nothing = verify_export(await export(home, project_id, after=99))

    assert (by_number.after, by_number.found.lines, by_number.found.broken) == (3, 5, None)
    assert (by_time.after, by_time.found.lines, by_time.found.broken) == (2, 5, None)
    assert (nothing.after, nothing.found.lines, nothing.found.broken) == (5, 5, None)


def changed(index: int, **fields: object) -> Callable[[list[str]], list[str]]:
    def change(lines: list[str]) -> list[str]:
        known = json.loads(lines[index])
        return [*lines[:index], canonical({**known, **fields}) + "\n", *lines[index:][1:]]

    return change


@pytest.mark.parametrize(
    ("tamper", "sentence"),
    [
        (changed(3, actor="eve"), "line 3 does not match its hash"),
        (changed(3, at="2026-01-01T00:00:09+00:00"), "line 3 does not match its hash"),
        (changed(3, at="yesterday"), "what follows line 2 cannot be read"),
        (changed(3, seq="3"), "what follows line 2 cannot be read"),
        (changed(0, project_id="prj_other"), "line 1 does not match its hash"),
        (lambda lines: [*lines[:3], *lines[4:]], "line 3 is missing"),
        (lambda lines: [*lines[:3], "[]\n", *lines[3:]], "what follows line 2 cannot be read"),
        (lambda lines: [*lines[:3], "{\n", *lines[3:]], "what follows line 2 cannot be read"),
        (
            lambda lines: lines[:-1],
            "it ends at line 5 without a checkpoint: its end was cut off",
        ),
        (
            lambda lines: [*lines[:-2], lines[-1]],
            "it ends at line 4, but line 5 was sealed: lines are missing",
        ),
        (
            lambda lines: [*lines, lines[-1]],
            "lines were added after its last checkpoint",
        ),
        (
            changed(-1, signature="00" * 64),
            "its checkpoint is forged: the signature is not valid",
        ),
    ],
)
async def test_whatever_is_done_to_an_export_is_told(
    home: Home,
    project_id: ProjectId,
    tamper: Callable[[list[str]], list[str]],
    sentence: str,
) -> None:
    assert trouble(tamper(await export(home, project_id))) == sentence


async def test_an_export_cut_at_any_byte_is_not_whole(home: Home, project_id: ProjectId) -> None:
    whole = "".join(await export(home, project_id))
    header = whole.index("\n") + 1
    for cut in range(header, len(whole) - 1):
        assert verify_export(io.StringIO(whole[:cut])).found.broken is not None


async def test_a_last_line_that_was_written_anew_is_not_the_one_that_was_sealed(
    home: Home, project_id: ProjectId
) -> None:
    lines = await export(home, project_id)
    last = json.loads(lines[-2])
    forged = chain(
        AuditRecord("did", "eve", "thing"),
        project_id=project_id,
        seq=5,
        at=datetime.fromisoformat(last["at"]),
        previous=json.loads(lines[-3])["hash"],
    )
    words = {"action": "did", "actor": "eve", "subject": "thing", "details": "{}"}
    lines[-2] = canonical({**last, **words, "hash": forged.hash}) + "\n"
    assert trouble(lines) == ("line 5 is not the one that was sealed: the audit log was rewritten")


@pytest.mark.parametrize(
    "text", ["", "hello\n", "{}\n", "[" * 100_000, '{"kind":"handrail audit 9"}\n']
)
def test_what_is_no_export_is_told_apart(text: str) -> None:
    with pytest.raises(BadInput, match="export"):
        verify_export(io.StringIO(text))


async def test_a_newer_kind_of_export_is_told_apart(home: Home, project_id: ProjectId) -> None:
    lines = changed(0, kind="handrail audit 2")(await export(home, project_id))
    with pytest.raises(BadInput, match="'handrail audit 2'"):
        verify_export(lines)


async def test_a_broken_record_is_not_signed(
    home: Home, project_id: ProjectId, tmp_path: Path
) -> None:
    (home.checkpoints / f"{project_id}.jsonl").unlink()
    output = io.StringIO()
    with pytest.raises(BrokenRecord, match="was not exported: the checkpoints are missing"):
        await Exporter(home, project_id, output).export()
    assert "signature" not in output.getvalue()


def test_without_a_key_nothing_is_signed_and_none_is_made(home: Home) -> None:
    with pytest.raises(SetupError, match=r"audit\.key yet"):
        Exporter(home, "prj_1", io.StringIO())
    assert not home.audit_key.exists()

"""A record and its checkpoints prove each other, or say what is wrong."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.core.audit import BEGINNING, AuditEntry, AuditHead, AuditRecord, chain
from handrail.core.checkpoint import Checkpoint
from handrail.core.errors import BrokenRecord
from handrail.core.ids import ProjectId
from handrail.core.proof import RecordProof

PROJECT = ProjectId("prj_1")
AT = datetime(2026, 1, 1, tzinfo=UTC)
KEY = "k" * 64


def record(lines: int, *, key: str | None = KEY, word: str = "did") -> list[AuditEntry]:
    entries: list[AuditEntry] = []
    head = BEGINNING
    for seq in range(1, lines + 1):
        details = {"audit_key": key} if seq == 1 and key else {}
        made = chain(
            AuditRecord(word, "ada", f"thing-{seq}", details),
            project_id=PROJECT, seq=seq, at=AT, previous=head.hash,
        )  # fmt: skip
        entries.append(made)
        head = AuditHead(made.seq, made.hash)
    return entries


def seals(entries: Sequence[AuditEntry], *at: int) -> list[Checkpoint]:
    return [
        Checkpoint(PROJECT, number, seq, entries[seq - 1].hash, AT, KEY, "signed")
        for number, seq in enumerate(at, 1)
    ]


def head_of(entries: Sequence[AuditEntry]) -> AuditHead:
    return AuditHead(entries[-1].seq, entries[-1].hash) if entries else BEGINNING


def prove(
    entries: Sequence[AuditEntry], checkpoints: Sequence[Checkpoint], *, key: str | None = KEY
) -> RecordProof:
    proof = RecordProof(
        PROJECT,
        iter(checkpoints),
        lambda checkpoint: checkpoint.signature == "signed",
        key=key,
        head=head_of(entries),
    )
    for entry in entries:
        proof.follow(entry)
    proof.finish(head_of(entries))
    return proof


def test_a_record_is_proven_up_to_its_last_checkpoint() -> None:
    entries = record(7)
    proof = prove(entries, seals(entries, 1, 4, 6))
    assert (proof.lines, proof.last_checkpoint) == (7, seals(entries, 1, 4, 6)[-1])


def test_a_record_from_before_there_were_checkpoints_may_be_sealed_late_or_not_yet() -> None:
    old = record(7, key=None)
    assert prove(old, [], key=None).last_checkpoint is None
    assert prove(old, seals(old, 5)).lines == 7


def test_a_record_of_nothing_is_whole() -> None:
    assert prove([], []).lines == 0


def test_a_record_that_is_gone_is_missed_by_its_checkpoints() -> None:
    with pytest.raises(BrokenRecord, match="ends at line 0, but line 1 was sealed"):
        prove([], seals(record(3), 1, 3))


def without(number: int) -> Callable[[list[Checkpoint]], list[Checkpoint]]:
    return lambda found: [one for one in found if one.number != number]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (without(1), "checkpoint 1 is missing"),
        (without(2), "checkpoint 2 is missing"),
        (lambda found: [*found, found[-1]], "checkpoint 4 is missing"),
        (lambda found: [found[1], found[0], found[2]], "checkpoint 1 is missing"),
        (lambda found: [found[0]._replace(seq=0)], "checkpoint 1 is forged"),
        (lambda found: [*found[:2], found[2]._replace(seq=4)], "checkpoint 3 is forged"),
        (lambda found: [found[0]._replace(signature="x")], "checkpoint 1 is forged"),
        (lambda found: [found[0]._replace(project_id="prj_2")], "checkpoint 1 is forged"),
        (lambda found: [found[0]._replace(key="other")], "the key was changed"),
        (lambda found: [], "the checkpoints are missing"),
    ],
)
def test_whatever_is_done_to_the_checkpoints_is_told(
    change: Callable[[list[Checkpoint]], list[Checkpoint]], sentence: str
) -> None:
    entries = record(7)
    with pytest.raises(BrokenRecord, match=sentence):
        prove(entries, change(seals(entries, 1, 4, 6)))


@given(st.integers(1, 8), st.data())
def test_a_record_that_was_written_anew_is_never_proven(lines: int, data: st.DataObject) -> None:
    true, forged = record(lines), record(lines, word="never did")
    at = data.draw(st.lists(st.integers(2, lines), unique=True).map(sorted)) if lines > 1 else []
    sealed = seals(true, 1, *at)
    assert prove(true, sealed).lines == lines
    with pytest.raises(BrokenRecord):
        prove(forged, sealed)


@given(st.integers(1, 8), st.data())
def test_a_record_cut_before_its_last_checkpoint_is_never_proven(
    lines: int, data: st.DataObject
) -> None:
    entries = record(lines)
    kept = data.draw(st.integers(0, lines - 1))
    with pytest.raises(BrokenRecord):
        prove(entries[:kept], seals(entries, 1, lines) if lines > 1 else seals(entries, 1))


def test_the_key_that_sealed_it_is_missed() -> None:
    entries = record(3)
    with pytest.raises(BrokenRecord, match="which sealed this record, is missing"):
        prove(entries, seals(entries, 1), key=None)
    old = record(3, key=None)
    with pytest.raises(BrokenRecord, match="which sealed it, is missing"):
        prove(old, seals(old, 2), key=None)

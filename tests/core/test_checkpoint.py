"""A checkpoint is one line that reads back as it was written."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.core.audit import AuditRecord, canonical, chain
from handrail.core.checkpoint import Checkpoint, named_key, read_checkpoint, write_checkpoint
from handrail.core.errors import BrokenRecord
from handrail.core.ids import ProjectId

MADE = Checkpoint(
    ProjectId("prj_1"), 2, 7, "a" * 64, datetime(2026, 1, 1, tzinfo=UTC), "b" * 64, "c" * 128
)


@given(
    st.builds(
        Checkpoint,
        st.text().map(ProjectId),
        st.integers(),
        st.integers(),
        st.text(),
        st.datetimes(timezones=st.just(UTC)),
        st.text(),
        st.text(),
    )
)
def test_what_is_written_is_read_back(checkpoint: Checkpoint) -> None:
    line = write_checkpoint(checkpoint)
    assert "\n" not in line
    assert read_checkpoint(line) == checkpoint


def test_the_words_that_are_signed_are_the_known_ones() -> None:
    # What was signed years ago must still be proven.
    assert MADE.words == (
        b"handrail checkpoint 1\nprj_1\n2\n7\n" + b"a" * 64 + b"\n2026-01-01T00:00:00+00:00\n"
        + b"b" * 64
    )  # fmt: skip


def test_the_words_cover_everything_but_the_signature() -> None:
    others = [
        MADE._replace(project_id=ProjectId("prj_2")),
        MADE._replace(number=3),
        MADE._replace(seq=8),
        MADE._replace(hash="d" * 64),
        MADE._replace(at=MADE.at + timedelta(microseconds=1)),
        MADE._replace(key="d" * 64),
    ]
    assert len({other.words for other in [MADE, *others]}) == 7
    assert MADE._replace(signature="d").words == MADE.words


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"{}",
        b"\xff\xfe",
        canonical({**MADE._asdict(), "at": "soon"}).encode(),
        canonical({**MADE._asdict(), "at": MADE.at.isoformat(), "seq": True}).encode(),
        canonical({**MADE._asdict(), "at": MADE.at.isoformat(), "more": 1}).encode(),
    ],
)
def test_what_is_no_checkpoint_is_refused(line: bytes) -> None:
    with pytest.raises(BrokenRecord):
        read_checkpoint(line)


@pytest.mark.parametrize(
    ("details", "key"), [({"audit_key": "k"}, "k"), ({"audit_key": 1}, None), ({}, None)]
)
def test_a_record_may_name_its_key_in_its_first_line(
    details: dict[str, object], key: str | None
) -> None:
    first = chain(
        AuditRecord("project.created", "ada", "prj_1", details),
        project_id=ProjectId("prj_1"), seq=1, at=MADE.at, previous="0" * 64,
    )  # fmt: skip
    assert named_key(first) == key
    assert named_key(first._replace(details="no json")) is None
    assert named_key(first._replace(details="[]")) is None

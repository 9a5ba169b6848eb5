"""What a batch tells becomes numbered events and chained lines, each project for itself."""

from dataclasses import replace

from handrail.core.audit import GENESIS, AuditRecord, find_break
from handrail.core.change import Change
from handrail.core.event import Event
from handrail.core.ids import ProjectId
from handrail.store.page import Head, Page
from handrail.store.rows import read_audit_entry, read_event
from tests.conftest import Household
from tests.contracts.conftest import a_call, opening, tell

LINES = tuple(AuditRecord("did", "ada", subject) for subject in ("one", "two"))


def test_a_head_numbers_events_and_chains_lines(household: Household) -> None:
    call = a_call(household)
    change = replace(opening(call, household), events=(tell(call),) * 2, audit=LINES)
    start = Head(household.project.id, 0, 0, GENESIS)

    middle, first, lines = start.stamp(change)
    after, second, more = middle.stamp(change)

    assert [*first, *second] == [
        Event(household.project.id, seq, call.created_at, *tell(call)) for seq in (1, 2, 3, 4)
    ]
    assert [line.subject for line in (*lines, *more)] == ["one", "two", "one", "two"]
    assert find_break([*lines, *more]) is None
    assert after == Head(household.project.id, 4, 4, more[-1].hash)
    assert after.move().values == {
        "head_of": household.project.id,
        "last_event": 4,
        "audit_seq": 4,
        "audit_head": more[-1].hash,
    }


def test_a_change_without_news_leaves_the_head_where_it_is(household: Household) -> None:
    start = Head(household.project.id, 7, 3, "f" * 64)

    assert start.stamp(Change(household.project.id, household.project.created_at, ())) == (
        start,
        [],
        [],
    )


def test_a_page_goes_on_where_each_project_stood(household: Household) -> None:
    call = a_call(household)
    change = replace(opening(call, household), audit=LINES)
    elsewhere = replace(change, project_id=ProjectId("prj_other"))
    read: list[ProjectId] = []

    def read_head(project_id: ProjectId) -> Head:
        read.append(project_id)
        return Head(project_id, 10 * len(read), 0, GENESIS)

    page = Page(read_head)
    for one in (change, elsewhere, change):
        page.take(one)

    assert read == [call.project_id, "prj_other"]
    assert [read_event(row).seq for row in page.events] == [11, 21, 12]
    written = [read_audit_entry(row) for row in page.lines]
    for project_id in read:
        assert find_break(line for line in written if line.project_id == project_id) is None
    assert [(move.values["head_of"], move.values["last_event"]) for move in page.moves()] == [
        (call.project_id, 12),
        ("prj_other", 21),
    ]


def test_a_page_asks_for_no_head_of_a_project_that_has_no_news(household: Household) -> None:
    page = Page(lambda project_id: Head(project_id, 0, 0, GENESIS))

    assert page.take(Change(household.project.id, household.project.created_at, ())) == []
    assert list(page.moves()) == []

"""Records are pruned from the command line, also beside a server, and the file is made smaller."""

from datetime import timedelta
from pathlib import Path

import pytest

from handrail.app.audit import verify
from handrail.app.home import Home
from handrail.app.retention import find_retention, prune, vacuum
from handrail.core.errors import SetupError
from handrail.core.execution import Status
from handrail.core.retention import Amount, Retention
from handrail.store.sqlite import SqliteStore
from handrail.store.sqlite_file import SqliteFile
from handrail.testing import FakeClock
from tests.conftest import Household
from tests.contracts.conftest import a_call, opening
from tests.plane.conftest import all_tables

BIG = {"success": True, "output": "x" * 100_000}


@pytest.fixture
async def home(store: SqliteStore, household: Household, clock: FakeClock, tmp_path: Path) -> Home:
    """A server's open store with ten large results, forty days later."""
    for number in range(10):
        at = household.project.created_at
        ended = {"status": Status.COMPLETED, "completed_at": at, "result": BIG}
        await store.submit(opening(a_call(household, f"call-{number}", **ended), household))
    clock.advance(40 * 24 * 3_600)
    return Home(tmp_path)


async def test_a_dry_run_counts_and_changes_nothing(
    home: Home, clock: FakeClock, tmp_path: Path
) -> None:
    before = all_tables(tmp_path)

    counted = await prune(home, Retention(), dry_run=True, clock=clock)

    assert counted.removed.results == 10
    assert counted.removed.bytes > 1_000_000
    assert all_tables(tmp_path) == before


async def test_pruning_beside_a_server_is_seen_by_it_at_once(
    home: Home, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    project_id = household.project.id
    (call, *_) = await store.list_executions(project_id, status=None, agent_id=None, limit=1)
    held = await store.find_execution(call.id)

    pruned = await prune(home, Retention(), clock=clock)

    now = await store.find_execution(call.id)
    assert held is not None
    assert held.result == BIG
    assert now == held._replace(result=None, result_removed_at=clock.now())
    assert pruned.removed.results == 10
    assert pruned.space.bytes < 500_000
    assert (await verify(home, project_id)).broken is None


async def test_a_database_of_an_earlier_version_shrinks_from_its_first_vacuum_on(
    home: Home, store: SqliteStore, clock: FakeClock
) -> None:
    await store.close()
    old = SqliteFile(home.database)
    for statement in ("PRAGMA journal_mode = DELETE", "PRAGMA auto_vacuum = NONE", "VACUUM"):
        old.run(statement)
    old.close()

    pruned = await prune(home, Retention(), clock=clock)
    before, after = vacuum(home)

    assert not pruned.space.can_shrink
    assert before > 1_000_000 > 2 * after
    assert (await prune(home, Retention(), clock=clock)).space.can_shrink


def test_an_age_on_the_command_line_holds_for_results_and_calls(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[retention]\nresults_days = 7\nmax_database_mb = 50\n")

    by_settings = find_retention(Home(tmp_path), None)
    by_hand = find_retention(Home(tmp_path), timedelta(hours=5))

    assert by_settings == Retention(results=timedelta(days=7), max_bytes=50_000_000)
    assert (by_hand.results, by_hand.calls) == (timedelta(hours=5), timedelta(hours=5))


async def test_where_there_is_no_database_it_is_said(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="there is no database in"):
        await prune(Home(tmp_path), Retention())
    with pytest.raises(SetupError, match="there is no database in"):
        vacuum(Home(tmp_path))


def test_amounts_are_added_up() -> None:
    assert Amount(1, 2, 3, 4) + Amount(calls=1, bytes=6) == Amount(2, 2, 3, 10)

"""Long looks are taken beside those who cannot wait."""

import asyncio
from pathlib import Path

import pytest

from handrail.core.errors import StoreUnavailable
from handrail.store.aside import Aside
from handrail.store.sqlite_file import SqliteFile

LONG = (
    "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < ?)"
    " SELECT max(k) FROM n"
)


async def test_others_go_on_while_somebody_looks(tmp_path: Path) -> None:
    SqliteFile(tmp_path / "x.db").close()
    aside = Aside(tmp_path / "x.db")
    turns = 0

    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        looking = group.create_task(aside.run(LONG, (300_000,)))
        while not looking.done():
            turns += 1
            await asyncio.sleep(0)
    aside.close()

    assert looking.result() == [(300_000,)]
    assert turns > 2


async def test_what_was_written_meanwhile_is_seen_by_the_next_look_and_nothing_is_changed(
    tmp_path: Path,
) -> None:
    written = SqliteFile(tmp_path / "x.db")
    written.run("CREATE TABLE t (x)")
    aside = Aside(tmp_path / "x.db")

    before = await aside.run("SELECT count(*) FROM t", ())
    written.run("INSERT INTO t VALUES (1)")
    after = await aside.run("SELECT count(*) FROM t", ())
    with pytest.raises(StoreUnavailable):
        await aside.run("DELETE FROM t", ())
    aside.close()
    written.close()

    assert (before, after) == ([(0,)], [(1,)])

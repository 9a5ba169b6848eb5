"""The record is read whole, page by page."""

from pathlib import Path

import pytest

from handrail.app import audit
from handrail.app.enrol import enrol
from handrail.app.home import Home
from handrail.app.storage import open_store
from handrail.bus.local import LocalBus
from handrail.core.audit import AuditRecord, find_break
from handrail.core.change import Change
from handrail.core.ids import ProjectId
from handrail.testing import FakeClock


async def test_a_long_record_is_read_to_its_end(
    tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, workspace = Home(tmp_path / "home"), tmp_path / "workspace"
    workspace.mkdir()
    async with open_store(home, LocalBus()) as store:
        known = await enrol(store, clock, home, workspace, "http://127.0.0.1:1")
        project_id = ProjectId(known.project_id)
        for number in range(6):
            line = AuditRecord("did", "ada", f"thing-{number}")
            await store.submit(Change(project_id, clock.now(), (), (), (line,)))
    monkeypatch.setattr(audit, "_PAGE", 3)

    chain = await audit.read_chain(home, known.project_id)

    assert [line.seq for line in chain] == [1, 2, 3, 4, 5, 6, 7]
    assert find_break(chain) is None


async def test_a_project_without_a_record_has_no_lines(tmp_path: Path) -> None:
    assert await audit.read_chain(Home(tmp_path / "home"), "prj_none") == []

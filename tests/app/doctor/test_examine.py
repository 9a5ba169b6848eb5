"""Everything is looked at, nothing is changed, and nobody is kept waiting."""

import asyncio
import re
import threading
import time
from pathlib import Path

from handrail.app.doctor.examine import CHECKS, examine
from handrail.app.doctor.finding import Finding, Health, Patient
from handrail.app.doctor.home import ask_health
from handrail.app.run_both import up
from handrail.app.settings import Settings
from tests.app.conftest import running


def everything_in(folder: Path) -> dict[str, tuple[int, int]]:
    found = [folder, *folder.rglob("*")]
    return {str(path): (path.stat().st_mtime_ns, path.stat().st_mode) for path in found}


def by_subject(findings: list[Finding]) -> dict[str, Finding]:
    return {finding.subject: finding for finding in findings}


async def test_a_running_house_is_well(settings: Settings, workspace: Path) -> None:
    async with running(up, settings, workspace) as known:
        await _client_is_there(known.server)
        # In a thread: the server it asks is ours.
        found = by_subject(await _examine_beside(settings, workspace))

    assert [finding for finding in found.values() if finding.health is Health.BROKEN] == []
    assert f"answers at {known.server}" in found["server"].words
    assert found["client"].words == "1 connected"
    # The client has told by now what keeps commands in.
    assert re.fullmatch(r"complete up to line [12], and sealed up to line 1", found["record"].words)
    assert found["database"].health is Health.FINE


async def test_a_house_at_rest_is_not_touched(settings: Settings, workspace: Path) -> None:
    async with running(up, settings, workspace):
        pass
    before = everything_in(settings.home)

    findings = await _examine_beside(settings, workspace)

    after = everything_in(settings.home)
    assert {name: found for name, found in after.items() if not name.endswith("/home")} == {
        name: found for name, found in before.items() if not name.endswith("/home")
    }
    assert by_subject(findings)["server"].remedy == "`handrail up` starts it"


def test_before_anything_was_made_it_says_so_and_makes_nothing(
    settings: Settings, workspace: Path
) -> None:
    found = by_subject(examine(settings, workspace))

    assert list(found) == [subject for subject, _ in CHECKS]
    assert {finding.health for finding in found.values()} == {Health.FINE, Health.NOTE}
    assert found["home"].remedy == "`handrail init` creates it"
    assert not settings.home.exists()


def test_a_check_that_hangs_or_fails_keeps_nobody_waiting(
    settings: Settings, workspace: Path
) -> None:
    may_end = threading.Event()

    def hang(_: Patient) -> Finding:
        may_end.wait(30)
        return Finding("hanging", Health.FINE, "at last")

    def fail(_: Patient) -> Finding:
        raise PermissionError(13, "Permission denied")

    began = time.monotonic()
    checks = [("hanging", hang), ("failing", fail)]
    hanging, failing = examine(settings, workspace, checks, most_seconds=0.3)
    may_end.set()

    assert time.monotonic() - began < 25
    assert (hanging.subject, hanging.health) == ("hanging", Health.BROKEN)
    assert "this check timed out" in hanging.words
    assert "Permission denied" in failing.words


async def _examine_beside(settings: Settings, workspace: Path) -> list[Finding]:
    return await asyncio.to_thread(examine, settings, workspace)


async def _client_is_there(server: str) -> None:
    async with asyncio.timeout(20):
        while True:
            known = await asyncio.to_thread(ask_health, server)
            if known is not None and known["connected_clients"] == 1:
                return
            await asyncio.sleep(0.02)

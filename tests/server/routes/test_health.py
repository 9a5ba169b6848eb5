"""Anybody on this machine may ask whether the server is well, and learns nothing else."""

from typing import Any

from handrail.core.access import Role
from handrail.version import __version__
from tests.conftest import Household
from tests.server.conftest import Caller, until


async def test_health_says_what_is_running_and_who_is_there(
    caller: Caller, household: Household
) -> None:
    before = await caller.ask("GET", "/health")
    async with (
        caller.listen(household, household.secrets[Role.CLIENT]),
        caller.listen(household, household.secrets[Role.USER]),
        caller.listen(household, household.secrets[Role.USER]),
    ):
        during = await caller.ask("GET", "/health")

    def channels(console: int, terminal: int, client: int) -> dict[str, Any]:
        counts = {"console": console, "terminal": terminal, "client": client}
        return {
            "channels": [
                {"name": name, "state": "open" if count else "idle", "listeners": count}
                for name, count in counts.items()
            ]
        }

    async def all_have_left() -> bool:
        now = (await caller.ask("GET", "/health")).body
        return bool(now["channels"] == channels(0, 0, 0)["channels"])

    well = {"status": "ok", "version": __version__, "wire_version": "1.0", "problem": None}
    assert before.body == well | {"connected_clients": 0} | channels(0, 0, 0)
    assert during.body == well | {"connected_clients": 1} | channels(0, 2, 1)
    await until(all_have_left)


async def test_the_page_for_people_shows_nothing_private(
    caller: Caller, household: Household
) -> None:
    async with caller.listen(household, household.secrets[Role.CLIENT]):
        page = await caller.ask("GET", "/")

    text = page.body.decode()
    assert (page.status, page.media_type) == (200, "text/html")
    assert "Handrail is running" in text
    assert "<dd>1</dd>" in text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "<script" not in text
    for private in (household.project.id, household.client_id, household.workspace.root):
        assert private not in text


async def test_the_page_says_when_no_machine_is_there(caller: Caller) -> None:
    page = await caller.ask("GET", "/")

    assert "none yet" in page.body.decode()

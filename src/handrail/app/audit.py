"""The record of a project, straight from the store: it can be read while no server runs."""

from handrail.app.home import Home
from handrail.app.storage import open_store
from handrail.bus.local import LocalBus
from handrail.core.audit import AuditEntry
from handrail.core.ids import ProjectId

_PAGE = 10_000


async def read_chain(home: Home, project_id: str) -> list[AuditEntry]:
    lines: list[AuditEntry] = []
    async with open_store(home, LocalBus()) as store:
        while True:
            after = lines[-1].seq if lines else 0
            page = await store.read_audit(ProjectId(project_id), after=after, limit=_PAGE)
            if not page:
                return lines
            lines += page

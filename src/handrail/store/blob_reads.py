"""What can be asked of a store about blobs."""

from datetime import datetime

from handrail.core.blob import Blob, BlobHold, Purpose
from handrail.core.ids import ProjectId
from handrail.store import blob_statements as statements
from handrail.store.reading import Reading
from handrail.store.rows import Row, from_micros, to_micros


class BlobReads(Reading):
    async def find_blob(
        self, project_id: ProjectId, sha256: str, *, agent_id: str | None
    ) -> Blob | None:
        found = await self._fetch(
            statements.FIND_BLOB, project_id=project_id, sha256=sha256, agent_id=agent_id
        )
        return Blob(*found[0]) if found else None

    async def weigh_uploads(self, project_id: ProjectId, holder: str) -> int:
        found = await self._fetch(statements.WEIGH_UPLOADS, project_id=project_id, holder=holder)
        return int(found[0][0])

    async def list_idle_holds(self, uploaded_before: datetime) -> list[BlobHold]:
        found = await self._fetch(
            statements.LIST_IDLE_HOLDS, uploaded_before=to_micros(uploaded_before)
        )
        return [_read_hold(row) for row in found]

    async def list_heavy_projects(self, most_bytes: int) -> list[tuple[ProjectId, int]]:
        found = await self._fetch(statements.LIST_HEAVY_PROJECTS, most_bytes=most_bytes)
        return [(project_id, int(size)) for project_id, size in found]

    async def list_oldest_results(self, project_id: ProjectId, *, limit: int) -> list[BlobHold]:
        found = await self._fetch(
            statements.LIST_OLDEST_RESULTS, project_id=project_id, limit=limit
        )
        return [_read_hold(row) for row in found]


def _read_hold(row: Row) -> BlobHold:
    project_id, sha256, size, holder, purpose, created_at = row
    return BlobHold(project_id, sha256, size, holder, Purpose(purpose), from_micros(created_at))

"""What can be asked of a store about conversations."""

from handrail.core.ids import MessageId, ProjectId, RunId, SessionId, UserId
from handrail.core.model import Usage
from handrail.core.run import Message, Run, Talk
from handrail.store import chat_statements as statements
from handrail.store.chat_rows import read_message, read_run, read_talk
from handrail.store.reading import Reading


class ChatReads(Reading):
    async def find_run(self, run_id: RunId) -> Run | None:
        found = await self._fetch(statements.FIND_RUN, run_id=run_id)
        return read_run(found[0]) if found else None

    async def find_last_run(self, project_id: ProjectId, session_id: SessionId) -> Run | None:
        found = await self._fetch(
            statements.FIND_LAST_RUN, project_id=project_id, session_id=session_id
        )
        return read_run(found[0]) if found else None

    async def list_running(self) -> list[Run]:
        return [read_run(row) for row in await self._fetch(statements.LIST_RUNNING)]

    async def find_message(self, message_id: MessageId) -> Message | None:
        found = await self._fetch(statements.FIND_MESSAGE, message_id=message_id)
        return read_message(found[0]) if found else None

    async def list_messages(
        self, project_id: ProjectId, session_id: SessionId, *, after: int, limit: int
    ) -> list[Message]:
        found = await self._fetch(
            statements.LIST_MESSAGES,
            project_id=project_id,
            session_id=session_id,
            after=after,
            limit=limit,
        )
        return [read_message(row) for row in found]

    async def last_seq(self, project_id: ProjectId, session_id: SessionId) -> int:
        found = await self._fetch(statements.LAST_SEQ, project_id=project_id, session_id=session_id)
        return found[0][0] or 0

    async def list_talks(self, project_id: ProjectId, *, limit: int) -> list[Talk]:
        found = await self._fetch(statements.LIST_TALKS, project_id=project_id, limit=limit)
        return [read_talk(row) for row in found]

    async def read_usage(self, user_id: UserId, day: str) -> Usage:
        found = await self._fetch(statements.READ_USAGE, user_id=user_id, day=day)
        return Usage(*found[0]) if found else Usage()

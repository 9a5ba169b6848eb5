"""Sockets for conversations: where they are kept, and who answers in them."""

from typing import Protocol

from handrail.core.access import Principal
from handrail.core.ids import MessageId, ProjectId, RunId, SessionId, UserId, WorkspaceId
from handrail.core.model import Usage
from handrail.core.project import Autonomy
from handrail.core.run import Message, Run, Talk


class Runs(Protocol):
    """The agent, as far as others need to know it."""

    async def say(
        self,
        text: str,
        principal: Principal,
        project_id: ProjectId,
        session_id: SessionId | None,
        workspace_id: WorkspaceId | None = None,
        autonomy: Autonomy | None = None,
        message_id: MessageId | None = None,
    ) -> tuple[Message, Run]:
        """Take a person's message down; it begins a run, or is heard by the one that is going.

        A new conversation happens in that workspace, or in the only one there is; with that
        autonomy, or with the project's. Under a `message_id` that was used before, nothing is said
        again.

        Raises:
            Conflict: There is nobody to answer, or nowhere to work, or the conversation has begun
                with another autonomy; the message says what to do.
            Forbidden: The conversation is another agent's.
        """
        ...

    async def stop(self, run_id: RunId, principal: Principal, project_id: ProjectId) -> Run:
        """End a run with all that it has begun. Saying it again is harmless.

        Raises:
            NotFound: There is no such run in this project.
        """
        ...

    async def work_forever(self) -> None:
        """Drive the runs of this server, also those that an earlier life has left."""
        ...


class Talks(Protocol):
    """What a store knows of conversations."""

    async def find_run(self, run_id: RunId) -> Run | None: ...

    async def find_last_run(self, project_id: ProjectId, session_id: SessionId) -> Run | None: ...

    async def list_running(self) -> list[Run]:
        """The runs, of all projects, that are not over, oldest first."""
        ...

    async def find_message(self, message_id: MessageId) -> Message | None: ...

    async def list_messages(
        self, project_id: ProjectId, session_id: SessionId, *, after: int, limit: int
    ) -> list[Message]:
        """What was said in a session after a number, in order."""
        ...

    async def last_seq(self, project_id: ProjectId, session_id: SessionId) -> int:
        """The number of what was said last in a session; 0 where nothing was."""
        ...

    async def list_talks(self, project_id: ProjectId, *, limit: int) -> list[Talk]:
        """The conversations of a project, the latest first."""
        ...

    async def read_usage(self, user_id: UserId, day: str) -> Usage:
        """What a person's agents have used on a day."""
        ...

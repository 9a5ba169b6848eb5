"""build_client: everything that runs on the user's machine."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from handrail.app.clock import SystemClock
from handrail.app.home import Credentials
from handrail.client.api import HandrailApi
from handrail.client.handler import ReportResult, ToolHandler
from handrail.client.streaming import StreamingClient
from handrail.core.hands import Hands
from handrail.core.project import Autonomy
from handrail.executors.filesystem import FileSystemExecutor
from handrail.policy.security import Scene
from handrail.tools.catalogue import builtin_registry


@asynccontextmanager
async def build_client(
    credentials: Credentials, announce: Callable[[bool], None] = lambda connected: None
) -> AsyncGenerator[StreamingClient]:
    """A client for one workspace, ready to run."""
    with FileSystemExecutor(credentials.workspace) as files:
        # The server has asked where asking was due; here only what is refused always is refused.
        scene = Scene(workspace=files.root, autonomy=Autonomy.FULL)

        def handler(report: Callable[[ReportResult], None]) -> ToolHandler:
            return ToolHandler(builtin_registry(), scene, Hands(files=files), SystemClock(), report)

        async with HandrailApi(
            credentials.server, credentials.project_id, credentials.client_token
        ) as api:
            yield StreamingClient(api, handler, announce)

"""Asking the running server, as the person or as their agent."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from handrail.app.home import Home
from handrail.app.settings import load_settings
from handrail.client.api import (
    HandrailApi,
    ServerTroubled,
    ServerUnreachable,
    ServerUntrusted,
)
from handrail.core.access import Role
from handrail.core.errors import SetupError

T = TypeVar("T")


def ask(
    workspace: Path,
    home: Path | None,
    question: Callable[[HandrailApi], Awaitable[T]],
    *,
    role: Role = Role.USER,
) -> T:
    credentials = Home(load_settings(home=home).home).get_credentials(workspace)
    token = credentials.token_for(role)

    async def run() -> T:
        async with HandrailApi(credentials.server, credentials.project_id, token) as api:
            return await question(api)

    try:
        return asyncio.run(run())
    except (ServerTroubled, ServerUntrusted):
        raise
    except ServerUnreachable as error:
        raise SetupError(
            f"no server is running at {credentials.server}; start it with `handrail up`"
        ) from error

"""Running this machine's client."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from handrail.app.build_client import build_client
from handrail.app.config import Config
from handrail.app.home import Credentials, Home
from handrail.app.plugins import load_toolbox
from handrail.app.policy_files import WorkspacePolicy
from handrail.app.toolchains import Toolchains
from handrail.client.api import ApiError, ServerUntrusted
from handrail.client.journal import Journal
from handrail.core.errors import SetupError
from handrail.core.ports import Channel


async def connect(
    home: Home,
    credentials: Credentials,
    announce: Callable[[bool], None],
    channel: Channel | None = None,
) -> None:
    """Run this machine's client until it is told to stop; it asks its person by `channel`.

    Raises:
        SetupError: The server does not know this client, another one runs already, or a policy
            file of this machine cannot be read.
    """
    refusals: tuple[BaseException, ...] = ()
    workspace = Path(credentials.workspace)
    home.create()

    def find_token() -> str | None:
        saved = home.find_credentials(workspace)
        return None if saved is None else saved.client_token

    try:
        with home.acting_for(workspace):
            journal = Journal(home.journal_folder(credentials))
            policy = WorkspacePolicy(home, workspace, _teller(channel))
            belt = Toolchains(home, workspace).belt()
            toolbox = load_toolbox(home.tools)
            toolbox.warn("client")
            async with build_client(
                credentials,
                journal,
                policy,
                announce,
                channel,
                [home.path],
                find_token,
                belt,
                toolbox.registry,
                Config(home).draft_age,
            ) as client:
                await client.run()
    except* (ApiError, ServerUntrusted, SetupError) as errors:
        refusals = errors.exceptions
    # Not from inside `except*`: some versions of Python would wrap it in a group.
    for refusal in refusals:
        raise SetupError(_in_words(refusal, credentials)) from refusal


def _teller(channel: Channel | None) -> Callable[[str], None]:
    """How the person is told something from any thread, if there is a person."""
    if channel is None:
        return lambda words: None
    loop, tell = asyncio.get_running_loop(), channel.tell

    def tell_from_anywhere(words: str) -> None:
        loop.call_soon_threadsafe(tell, words)

    return tell_from_anywhere


def _in_words(refusal: BaseException, credentials: Credentials) -> str:
    if not isinstance(refusal, ApiError):
        return str(refusal)
    way_back = (
        "; where the server runs, `handrail token create --role client --save` creates a new one"
        if refusal.status == 401
        else ""
    )
    return f"{credentials.server} refused the connection: {refusal}{way_back}"

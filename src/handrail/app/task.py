"""One task for Handrail's own agent: by the server that runs already, or by one of its own."""

import asyncio
import shlex
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from handrail.agent.providers.party import DEFAULT_MODELS, HOME_ADDRESSES, SCRIPTED
from handrail.app.config import Config
from handrail.app.home import Credentials, Home
from handrail.app.provider import find_provider
from handrail.app.run_both import while_up
from handrail.app.run_client import connect
from handrail.app.settings import DEFAULT_PORT, Settings
from handrail.client.api import HandrailApi
from handrail.core.access import Role
from handrail.core.configuration import BASE_URL, MAX_TOKENS, MODEL, PROVIDER, Setting, Value
from handrail.core.errors import BadInput, SetupError
from handrail.core.project import Autonomy
from handrail.core.run import RunStatus
from handrail.core.visible import cut
from handrail.wire.chat import MOST_SESSION_CHARS

# Gets the person's line to the server, and the message to send.
Errand = Callable[[HandrailApi, dict[str, Any]], Awaitable[None]]


_CONNECT_SECONDS = 30.0


class UnknownFolder(SetupError):
    """A server runs here, and nobody has made this folder known to it."""


@dataclass(frozen=True, slots=True)
class Task:
    """What shall be done, in which conversation, and how much unasked."""

    text: str
    session_id: str | None = None
    autonomy: Autonomy | None = None


@dataclass(frozen=True, slots=True)
class OwnModel:
    """What was said on the spot about the model of this one run."""

    provider: str | None = None
    model: str | None = None
    max_tokens: int | None = None

    def setting_commands(self) -> list[str]:
        """The commands that make these choices the settings of every run."""
        model = self.model
        if model is not None and self.provider == SCRIPTED:
            model = str(Path(model).resolve())
        said = {PROVIDER: self.provider, MODEL: model, MAX_TOKENS: self.max_tokens}
        return [
            f"handrail config set {setting.name} {shlex.quote(str(value))}"
            for setting, value in said.items()
            if value is not None
        ]

    def override(self, settings: Settings) -> Settings:
        """The settings with this said before them.

        Raises:
            BadInput: It cannot be that.
        """
        said: dict[Setting, Value | None] = {
            PROVIDER: self.provider,
            MODEL: self.model,
            MAX_TOKENS: self.max_tokens,
        }
        for setting, value in said.items():
            if value is not None and not setting.fits(value):
                option = setting.name.removeprefix("agent.").replace("_", "-")
                raise BadInput(f"--{option} is {value!r}; it must be {setting.bounds}")
        usual = Config(Home(settings.home), settings.overrides).text(PROVIDER)
        if self.provider is not None and usual not in (None, self.provider):
            # What is set up for the usual provider says nothing about another one.
            said[MODEL] = self.model or DEFAULT_MODELS.get(self.provider)
            said[BASE_URL] = HOME_ADDRESSES.get(self.provider)
        ours = {setting.name: value for setting, value in said.items() if value is not None}
        return replace(settings, overrides={**settings.overrides, **ours})


def find_server(settings: Settings, workspace: Path) -> Credentials | None:
    """What to reach the server with that has this folder already; None where there is none.

    Raises:
        UnknownFolder: A server runs here, and does not know this folder.
        SetupError: There is no such folder.
    """
    if not workspace.is_dir():
        what = "is not a folder" if workspace.exists() else "does not exist"
        raise SetupError(f"{workspace} {what}; name the folder that the agent should work in")
    home = Home(settings.home)
    if home.is_served():
        try:
            return home.get_credentials(workspace)
        except SetupError as error:
            folder = workspace.resolve()
            raise UnknownFolder(
                f"Handrail is already running on {home.path}, and {folder} is not set up yet; "
                f"`handrail init {folder}` sets it up, and so does --yes here"
            ) from error
    known = home.find_credentials(workspace.resolve())
    # A machine that was let in by its client's token has its server elsewhere.
    return known if known is not None and not known.user_token else None


async def run_there(home: Home, known: Credentials, task: Task, errand: Errand) -> None:
    """Run a task by a server that runs already.

    Where no client is connected for the folder, one runs here for as long as it takes.

    Raises:
        SetupError: No client can be connected.
    """
    async with _person(known) as api:
        found = await api.get("/clients")
        here = {one["workspace_id"] for one in found["clients"] if one["connected"]}
        places = await _find_places(api, known)
        if here.intersection(places):
            await errand(api, _message(task, [place for place in places if place in here]))
            return
        is_connected = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            client = connect(home, known, lambda now: is_connected.set() if now else None)
            connected = group.create_task(client)
            try:
                async with asyncio.timeout(_CONNECT_SECONDS):
                    await is_connected.wait()
                await errand(api, _message(task, places))
            except TimeoutError as error:
                raise SetupError(
                    f"no client can connect to {known.server}; is it still running?"
                ) from error
            finally:
                connected.cancel()


async def run_here(settings: Settings, workspace: Path, task: Task, errand: Errand) -> None:
    """Run a task by a server and a client in this process, for as long as it takes.

    Raises:
        SetupError: There is no model to ask, or the folder cannot be worked in.
    """
    find_provider(settings)
    home, root = Home(settings.home), await asyncio.to_thread(workspace.resolve)
    before = home.find_credentials(root)
    usual = f"http://{settings.host}:{settings.port or DEFAULT_PORT}"

    async def visit(known: Credentials) -> None:
        async with _person(known) as api:
            await errand(api, _message(task, await _find_places(api, known)))

    try:
        await while_up(replace(settings, port=0), workspace, visit)
    finally:
        # Nobody is to look for a server where this one was for a while.
        if (after := home.find_credentials(root)) is not None:
            server = usual if before is None else before.server
            home.save_credentials(replace(after, server=server))


def _person(known: Credentials) -> HandrailApi:
    return HandrailApi(known.server, known.project_id, known.token_for(Role.USER))


async def _find_places(api: HandrailApi, known: Credentials) -> list[str]:
    """The workspaces of the project that are this folder, by their ids."""
    policy = await api.get("/policy")
    return [one["workspace_id"] for one in policy["effective"] if one["root"] == known.workspace]


def _message(task: Task, places: list[str]) -> dict[str, Any]:
    return {
        "text": task.text,
        "session_id": task.session_id,
        "workspace_id": places[0] if places else None,
        "autonomy": task.autonomy,
    }


async def check_conversation(api: HandrailApi, session_id: str) -> None:
    """A conversation that shall be gone on with must be there: a mistyped one is not begun.

    Raises:
        BadInput: There is none.
    """
    missing = (
        f"there is no conversation {cut(session_id, 60)!r}; leave out --session to start a "
        "new one; "
        "`handrail chat` lists the existing ones"
    )
    if not 0 < len(session_id) <= MOST_SESSION_CHARS or not session_id.isprintable():
        raise BadInput(missing)
    found = await api.get("/chat/messages", session_id=session_id, limit=1)
    if found["run"] is None:
        raise BadInput(missing)


async def list_going_on(api: HandrailApi) -> list[dict[str, Any]]:
    """The conversations in which a run is not over, such as one whose process was killed."""
    found = await api.get("/chat/sessions")
    return [talk for talk in found["sessions"] if talk["status"] == RunStatus.RUNNING]

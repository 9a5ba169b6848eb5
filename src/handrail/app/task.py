"""One task for Handrail's own agent: by the server that runs already, or by one of its own."""

import shlex
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from handrail.agent.providers.party import DEFAULT_MODELS, HOME_ADDRESSES, SCRIPTED
from handrail.app.config import Config
from handrail.app.home import Credentials, Home
from handrail.app.provider import find_provider
from handrail.app.settings import Settings
from handrail.app.visits import visit_here, visit_there
from handrail.client.api import HandrailApi
from handrail.core.configuration import BASE_URL, MAX_TOKENS, MODEL, PROVIDER, Setting, Value
from handrail.core.errors import BadInput
from handrail.core.project import Autonomy
from handrail.core.run import RunStatus
from handrail.core.visible import cut
from handrail.wire.chat import MOST_SESSION_CHARS

# Gets the person's line to the server, and the message to send.
Errand = Callable[[HandrailApi, dict[str, Any]], Awaitable[None]]


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


async def run_there(home: Home, known: Credentials, task: Task, errand: Errand) -> None:
    """Run a task by a server that runs already.

    Raises:
        SetupError: No client can be connected.
    """

    async def visit(api: HandrailApi, places: list[str]) -> None:
        await errand(api, _message(task, places))

    await visit_there(home, known, visit)


async def run_here(settings: Settings, workspace: Path, task: Task, errand: Errand) -> None:
    """Run a task by a server and a client in this process, for as long as it takes.

    Raises:
        SetupError: There is no model to ask, or the folder cannot be worked in.
    """
    find_provider(settings)

    async def visit(api: HandrailApi, places: list[str]) -> None:
        await errand(api, _message(task, places))

    await visit_here(settings, workspace, visit)


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

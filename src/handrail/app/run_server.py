"""Running a server, alone or with whatever else shall run in the same process."""

import asyncio
import signal
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path

from handrail.app.build_server import build_server
from handrail.app.enrol import enrol
from handrail.app.exposure import read_exposure
from handrail.app.home import Credentials, Home
from handrail.app.settings import Settings
from handrail.core.access import hash_secret
from handrail.core.errors import HandrailError, SetupError
from handrail.core.ids import ProjectId
from handrail.server.app import create_app
from handrail.server.console.sign_in import SignIns
from handrail.server.serving import HandrailServer, bind


@dataclass(frozen=True, slots=True)
class Ready:
    """A server that answers: its keys, and a link that signs its person in to the console."""

    credentials: Credentials
    make_link: Callable[[], str]


Client = Callable[[Home, Credentials], Coroutine[None, None, None]]
Visit = Callable[[Credentials], Coroutine[None, None, None]]


async def serve(
    settings: Settings,
    workspace: Path,
    on_ready: Callable[[Ready], None],
    client: Client | None = None,
    visit: Visit | None = None,
) -> None:
    """Run a server until it is told to stop; `workspace` is made known to it first.

    Beside it runs a client, if there is one; and when somebody visits, all end with the visit.
    """
    _check_folder(workspace)
    _check_alone(Home(settings.home), workspace)
    exposure = read_exposure(settings)
    with bind(settings.host, settings.port, private=exposure.is_private) as listening:
        address = exposure.address(listening.getsockname()[1])
        async with build_server(settings) as services:
            home = Home(settings.home)
            known = await enrol(services.store, services.clock, home, workspace, address)
            sign_ins = SignIns(services.store, services.clock)
            app = create_app(
                services,
                sign_ins=sign_ins,
                hosts=exposure.hosts,
                origin=exposure.origin,
                metrics_token=settings.metrics_token,
            )
            person = await services.store.find_token(hash_secret(known.user_token))
            project = ProjectId(known.project_id)
            console = exposure.origin or address

            def make_link() -> str:
                """The console's address; signs its person in, unless their token is lost."""
                if person is None:
                    return console
                return f"{console}/#{sign_ins.make_link(person.user_id, project)[0]}"

            ready = Ready(known, make_link)
            server = HandrailServer(app, services.room, lambda: on_ready(ready), exposure.tls)
            troubles: list[HandrailError] = []

            async def execute(client: Client) -> None:
                try:
                    await client(home, known)
                except HandrailError as error:
                    # Raised later: whatever it is, the server is to end in good order.
                    troubles.append(error)
                    server.handle_exit(signal.SIGTERM, None)

            async with asyncio.TaskGroup() as group:
                serving = group.create_task(server.serve(sockets=[listening]))
                if client is not None:
                    connected = group.create_task(execute(client))
                    serving.add_done_callback(lambda _: connected.cancel())
                if visit is not None:
                    visiting = group.create_task(visit(known))
                    serving.add_done_callback(lambda _: visiting.cancel())
                    visiting.add_done_callback(lambda _: server.handle_exit(signal.SIGTERM, None))
            for trouble in troubles:
                raise trouble


def _check_alone(home: Home, workspace: Path) -> None:
    """Before the port is found to be in use, which would say less."""
    if home.is_served():
        raise SetupError(
            f"Handrail is already running{_where(home, workspace)}. `handrail console` opens it in "
            "the browser, `handrail up` connects a folder to it; to run a second server, use "
            "--home and --port"
        )


def _where(home: Home, workspace: Path) -> str:
    known = home.find_credentials(workspace.resolve())
    return f" on {home.path}" if known is None else f" at {known.server}"


def _check_folder(workspace: Path) -> None:
    """Before anything else is said: a wrong folder matters more than a port that is in use."""
    if not workspace.is_dir():
        raise SetupError(f"{workspace} is not a folder; name the folder that agents should work in")

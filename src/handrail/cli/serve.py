"""handrail serve."""

from pathlib import Path

import typer
import uvloop

from handrail.app.home import Credentials, Home
from handrail.app.logs import configure_logs
from handrail.app.run_server import Ready
from handrail.app.run_server import serve as run_server
from handrail.app.settings import load_settings
from handrail.cli import options
from handrail.cli.output import is_terminal, program, say, visible


def register(app: typer.Typer) -> None:
    app.command("serve")(serve)


def serve(
    workspace: options.Workspace = Path(),
    host: options.Host = None,
    port: options.Port = None,
    tls_cert: options.TlsCert = None,
    tls_key: options.TlsKey = None,
    behind_proxy: options.BehindProxy = None,
    home: options.Home = None,
    verbose: options.Verbose = False,
) -> None:
    """Start the server without a client.

    For example: `handrail serve --workspace ~/shop`, then `handrail connect ~/shop`.

    The workspace is set up, so that `handrail connect` can connect it.
    """
    settings = load_settings(home, host, port, tls_cert, tls_key, behind_proxy)
    own = Home(settings.home)
    own.create()
    configure_logs(verbose=verbose, file=own.log)

    def greet(ready: Ready) -> None:
        credentials = ready.credentials
        say(f"[bold]Handrail[/] serves at [bold cyan]{credentials.server}[/]")
        if settings.behind_proxy is not None:
            say(f"Other machines reach it at [bold cyan]{visible(settings.behind_proxy)}[/]")
        _say_how_to_connect(credentials)
        if is_terminal():
            say(f"Decide in the browser: [bold cyan]{visible(ready.make_link())}[/]")
        else:
            say(f"Decide in the browser: `{program()} console` opens it.")

    uvloop.run(run_server(settings, workspace, greet))


def _say_how_to_connect(credentials: Credentials) -> None:
    say(f"Connect this machine: [bold]{program()} connect {visible(credentials.workspace)}[/]")

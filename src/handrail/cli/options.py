"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from handrail.app import settings

Home = Annotated[Path | None, typer.Option("--home", help=settings.HOME.help)]
Port = Annotated[int | None, typer.Option("--port", min=0, max=65535, help=settings.PORT.help)]
Host = Annotated[str | None, typer.Option("--host", help=settings.HOST.help)]
TlsCert = Annotated[Path | None, typer.Option("--tls-cert", help=settings.TLS_CERT.help)]
TlsKey = Annotated[Path | None, typer.Option("--tls-key", help=settings.TLS_KEY.help)]
BehindProxy = Annotated[
    str | None,
    typer.Option("--behind-proxy", metavar="ORIGIN", help=settings.BEHIND_PROXY.help),
]
Workspace = Annotated[
    Path,
    typer.Option("--workspace", help="The folder that the agent works in.", show_default="here"),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Plain = Annotated[
    bool, typer.Option("--plain", help="Print one card at a time, without a full screen.")
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print log lines.")]

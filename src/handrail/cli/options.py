"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

Home = Annotated[
    Path | None,
    typer.Option(
        "--home",
        help="Handrail's own folder: database and credentials.  [env: HANDRAIL_HOME]"
        "  [default: ~/.handrail]",
    ),
]
Port = Annotated[
    int | None,
    typer.Option(
        "--port",
        min=0,
        max=65535,
        help="Port to listen on; 0 takes a free one.  [env: HANDRAIL_PORT]  [default: 8000]",
    ),
]
Host = Annotated[
    str | None,
    typer.Option(
        "--host",
        help="Address to listen on; beyond this machine only with TLS or behind a proxy."
        "  [env: HANDRAIL_HOST]  [default: 127.0.0.1]",
    ),
]
TlsCert = Annotated[
    Path | None,
    typer.Option(
        "--tls-cert", help="Certificate to speak TLS with, as PEM.  [env: HANDRAIL_TLS_CERT]"
    ),
]
TlsKey = Annotated[
    Path | None, typer.Option("--tls-key", help="And its key.  [env: HANDRAIL_TLS_KEY]")
]
BehindProxy = Annotated[
    str | None,
    typer.Option(
        "--behind-proxy",
        metavar="ORIGIN",
        help="How others reach the TLS proxy in front of it, such as "
        "https://handrail.example.org.  [env: HANDRAIL_BEHIND_PROXY]",
    ),
]
Workspace = Annotated[
    Path, typer.Option("--workspace", help="The folder an agent works in.", show_default="here")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Log what happens.")]

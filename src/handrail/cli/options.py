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
Workspace = Annotated[
    Path, typer.Option("--workspace", help="The folder an agent works in.", show_default="here")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Log what happens.")]

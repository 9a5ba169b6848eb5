"""handrail audit export, and how far a long walk through a record has come."""

import asyncio
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, TextIO

import typer

from handrail.app.audit import OnPage
from handrail.app.audit_export import Exporter
from handrail.app.home import Home
from handrail.app.settings import load_settings
from handrail.cli import options
from handrail.cli.progress import progress
from handrail.core.audit import AuditEntry
from handrail.core.errors import SetupError


def export(
    workspace: options.Workspace = Path(),
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file to write.", show_default="standard output"),
    ] = None,
    after: Annotated[int, typer.Option(min=0, help="Skip the lines up to this one.")] = 0,
    since: Annotated[
        datetime | None, typer.Option(help="Skip the lines before this time (UTC).")
    ] = None,
    home: options.Home = None,
) -> None:
    """Export the audit log to a file that `audit verify --file` can verify anywhere.

    For example: `handrail audit export --output audit.jsonl`

    It is verified while it is written, and signed at its end. It contains what was asked and
    decided, never the original parameters.
    """
    own = Home(load_settings(home=home).home)
    project_id = own.get_credentials(workspace).project_id
    moment = None if since is None else since.replace(tzinfo=UTC)
    with opened(output) as stream, progress_by_page() as on_page:
        exporter = Exporter(own, project_id, stream)
        lines = asyncio.run(exporter.export(after=after, since=moment, on_page=on_page))
    if output is not None:
        typer.echo(f"{lines:,} lines are in {output}, signed.", err=True)


@contextmanager
def progress_by_page() -> Generator[OnPage]:
    """Show how many lines are done, if they do not all fit one page."""
    with progress() as show:

        def on_page(page: list[AuditEntry], lines: int) -> None:
            if lines > len(page):
                show("line", page[-1].seq, lines)

        yield on_page


@contextmanager
def opened(output: Path | None) -> Generator[TextIO]:
    """Standard output, or a file that has its name only when it is whole."""
    if output is None:
        yield sys.stdout
        return
    aside = output.with_name(f".{output.name}.{os.getpid()}.tmp")
    try:
        with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        aside.replace(output)
    except OSError as error:
        raise SetupError(f"{output} cannot be written: {error.strerror}") from error
    finally:
        aside.unlink(missing_ok=True)

"""Which pages there are."""

from collections.abc import Callable
from pathlib import Path

from scripts.reference.cli import cli_page
from scripts.reference.command_keys import command_keys_page
from scripts.reference.events import events_page
from scripts.reference.http import http_page
from scripts.reference.matrix import matrix_page
from scripts.reference.settings import settings_page
from scripts.reference.tools import tools_page
from scripts.reference.typescript import types_module

ROOT = Path(__file__).parents[2]

PAGES: dict[str, Callable[[], str]] = {
    "docs/reference/cli.md": cli_page,
    "docs/reference/command-rules.md": command_keys_page,
    "docs/reference/events.md": events_page,
    "docs/reference/http.md": http_page,
    "docs/reference/settings.md": settings_page,
    "docs/reference/tools.md": tools_page,
    "docs/tool-risk-assessment-matrix.md": matrix_page,
    "web/src/api/types.ts": types_module,
}

"""handrail console."""

import asyncio
import os
import signal
import sys
import threading
import time
import webbrowser
from pathlib import Path
from typing import Annotated, Any

import typer

from handrail.app.home import Home
from handrail.app.settings import load_settings
from handrail.app.sign_in_page import PAGE_SECONDS, sign_in_page
from handrail.cli import options
from handrail.cli.ask import ask
from handrail.cli.ids import short
from handrail.cli.output import is_terminal, print_json, program, say, visible
from handrail.client.api import HandrailApi
from handrail.core.access import hash_secret
from handrail.core.errors import SetupError

_POLL_SECONDS = 0.3


def register(app: typer.Typer) -> None:
    app.command("console")(console)


def console(
    workspace: options.Workspace = Path(),
    open_it: Annotated[
        bool,
        typer.Option("--open/--no-open", help="Open a browser, or print the sign-in link only."),
    ] = True,
    approver: Annotated[
        str | None,
        typer.Option(help="Print a link that signs in this approver of the project instead."),
    ] = None,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Open the console in a browser, signed in.

    For example: `handrail console`, or `handrail console --no-open` to print the link.

    The sign-in link works once, for 15 minutes. Keep it to yourself: it gives access to everything
    you can do. It is shown in a terminal, and elsewhere only with --no-open or --json.
    """
    body = {} if approver is None else {"approver": approver}
    made = ask(workspace, home, lambda api: api.post("/console/links", body))
    own = Home(load_settings(home=home).home)
    address = f"{own.get_credentials(workspace).server}/#{made['link']}"
    if json:
        print_json({"address": address, "expires_at": made["expires_at"]})
        return
    prints = not open_it
    # A browser here would sign its own person out.
    open_it = open_it and approver is None
    opens = open_it and _has_a_screen()
    if prints or is_terminal():
        say(f"[bold cyan]{visible(address)}[/]")
    elif not opens:
        why = (
            "this link is for another person's browser"
            if approver
            else "there is no display for a browser"
        )
        raise SetupError(
            f"{why}, and this is not a terminal; --no-open prints the sign-in link here"
        )
    if opens:
        _tell(_open(own, address, workspace, home, made["link"]))


def _open(
    own: Home, address: str, workspace: Path, home: Path | None, link: str
) -> dict[str, Any] | None:
    """Open a browser, and keep its page until the link is used; gives the use, if there is one."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _exit)
    with sign_in_page(own, address) as page:
        # Some browsers are waited for until they are closed; the page must be gone before.
        browser = Browser(page.as_uri())
        browser.start()
        say("Opening the console in your browser.")
        used = ask(workspace, home, lambda api: _wait_for_use(api, link, browser))
    if browser.has_failed:
        raise SetupError(
            "no browser could be started; --no-open prints a link that you can open yourself"
        )
    browser.join()
    return used


class Browser(threading.Thread):
    def __init__(self, address: str):
        super().__init__(daemon=True)
        self._address = address
        self.has_failed = False

    def run(self) -> None:
        self.has_failed = not webbrowser.open(self._address)


async def _wait_for_use(api: HandrailApi, link: str, browser: Browser) -> dict[str, Any] | None:
    gives_up_at = time.monotonic() + PAGE_SECONDS
    while time.monotonic() < gives_up_at and not browser.has_failed:
        state = await api.get(f"/console/links/{hash_secret(link)}")
        if state["used_at"] is not None:
            return state
        await asyncio.sleep(_POLL_SECONDS)
    return None


def _exit(number: int, frame: object) -> None:
    """Unlike the default action of a signal, this leaves contexts in order: the page is removed."""
    sys.exit(128 + number)


def _tell(used: dict[str, Any] | None) -> None:
    if used is None:
        say("No browser has signed in yet. The link works for 15 minutes after it was created.")
        return
    say(f"Signed in {visible(used['used_by'])}.")
    say(f"If that was not you: [bold]{program()} token revoke {short(used['token_id'])}[/]")


def _has_a_screen() -> bool:
    """Elsewhere a browser would open in the terminal, and hold it."""
    return sys.platform == "darwin" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))

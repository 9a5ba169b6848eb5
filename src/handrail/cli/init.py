"""handrail init."""

import asyncio
import shlex
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
import uvloop

from handrail.app.audit import public_key
from handrail.app.doctor.examine import examine
from handrail.app.doctor.finding import Finding, Health
from handrail.app.first_steps import HELLO, FirstCall, Settled, remove_hello, settle
from handrail.app.home import Home
from handrail.app.logs import configure_logs
from handrail.app.provider_keys import WITH_KEYS
from handrail.app.provider_setup import find_chosen, switch_provider
from handrail.app.settings import Settings, load_settings
from handrail.app.terminal import find_terminal
from handrail.cli import options
from handrail.cli.doctor import show as show_findings
from handrail.cli.output import print_json, program, say, status, visible
from handrail.cli.provider_key import (
    check_names_provider,
    keep_from_stdin,
    offer_a_model,
    tell_changes,
)
from handrail.core.errors import SetupError
from handrail.core.ports import Channel


def register(app: typer.Typer) -> None:
    app.command("init")(init)


def init(
    workspace: Annotated[
        Path, typer.Argument(help="The folder that agents should work in.", show_default="here")
    ] = Path(),
    yes: Annotated[
        bool, typer.Option("--yes", help="Ask nothing, and skip the first call.")
    ] = False,
    provider: Annotated[
        str | None, typer.Option(help=f"The model provider: {' or '.join(WITH_KEYS)}.")
    ] = None,
    key_stdin: Annotated[
        bool,
        typer.Option("--key-stdin", help="Read its key from the first line of standard input."),
    ] = False,
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh", help="Start with a new database; the old files are moved aside, not deleted."
        ),
    ] = False,
    port: options.Port = None,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Set up a folder for agents, and decide about a first call.

    For example: `handrail init`, or `handrail init ~/shop --yes` in a script.

    It checks this machine, and asks for the key of a model provider, which is stored in the
    system's keyring or in a file that only you can read. Running it again changes nothing.
    """
    configure_logs()
    settings = load_settings(home=home, port=port)
    channel = None if yes or json else find_terminal()
    check_names_provider(provider, key_stdin=key_stdin)
    _check(workspace, can_start=yes or channel is not None)
    if channel is not None:
        say(f"Agents will work in [bold]{visible(workspace.resolve())}[/], and nowhere else.")
        typer.confirm("Is that the right folder?", default=True, abort=True)

    changes = _start_fresh(settings, ask=channel is not None) if fresh else []
    settled = asyncio.run(settle(settings, workspace))
    if key_stdin:
        changes += keep_from_stdin(settings, provider).changes
    elif channel is None and provider is not None:
        changes += switch_provider(settings, provider)
    findings = examine(settings, workspace)
    if json:
        print_json({**_in_json(settings, settled, findings), "changes": changes})
        return
    at_home = "" if home is None else f" --home {shlex.quote(str(home))}"
    _show(settings, settled, findings, at_home)
    tell_changes(changes)
    if channel is not None and not key_stdin:
        offer_a_model(settings, provider)
    is_served = Home(settings.home).is_served()
    if channel is not None and not is_served:
        _first_call(settings, workspace, channel, at_home)
    at_port = "" if port is None or is_served else f" --port {port}"
    _say_next(settled, f"{at_home}{at_port}", is_served=is_served)


def _check(workspace: Path, *, can_start: bool) -> None:
    if not can_start:
        raise SetupError(
            "there is no terminal to ask at; use --yes to set up this folder without questions"
        )
    if not workspace.is_dir():
        raise SetupError(f"{workspace} is not a folder; name the folder that agents should work in")


def _start_fresh(settings: Settings, *, ask: bool) -> list[str]:
    if ask:
        say(
            "This moves all projects, tokens and audit logs to a folder of their own, and "
            "creates a new database."
        )
        typer.confirm("Start fresh?", default=False, abort=True)
    aside = Home(settings.home).set_aside(datetime.now(UTC))
    return [] if aside is None else [f"The old files are in {aside}."]


def _say_next(settled: Settled, options: str, *, is_served: bool) -> None:
    """What to type now; where a server runs already, the folder joins it before anything else."""
    folder = visible(shlex.quote(settled.credentials.workspace))
    if not is_served:
        say(f"\nNext: [bold]{program()} up {folder}{visible(options)}[/]")
        return
    say("\nA server is already running. Next, connect this folder to it, and leave that running:")
    say(f"  [bold]{program()} connect {folder}{visible(options)}[/]")
    say("Then, in another terminal, decide about an agent's calls in it:")
    say(f"  [bold]{program()} tour --workspace {folder}{visible(options)}[/]")


def _show(settings: Settings, settled: Settled, findings: list[Finding], at_home: str) -> None:
    known = settled.credentials
    say("\n[green]Set up.[/]" if settled.is_new else "\nThis folder was set up before.")
    say(f"  workspace  {visible(known.workspace)}")
    say(f"  project    {known.project_id}")
    say(f"  server     {visible(known.server)}")
    say(f"  tokens     in {visible(settings.home / 'credentials')}, readable only by you")
    say(f"  audit log  in {visible(settings.home)}, sealed with audit.key")
    say("\nThis machine:")
    show_findings([finding for finding in findings if finding.health is not Health.FINE])
    fine = sum(finding.health is Health.FINE for finding in findings)
    say(
        f"[dim]{fine} of {len(findings)} checks passed; "
        f"`{program()} doctor{visible(at_home)}` lists them all.[/]"
    )


def _first_call(settings: Settings, workspace: Path, channel: Channel, at_home: str) -> None:
    say(f"\n[bold]Your first call.[/] A simulated agent asks to write {HELLO}.")
    if not typer.confirm("Start it?", default=True):
        return
    call = FirstCall(settings, workspace, channel)
    answer = uvloop.run(call.make(lambda card: None))
    if answer is None:
        say("Cancelled; no question is left open.")
        raise typer.Exit(1)
    say(f"\nThe agent is told: {status(answer['status'])}")
    say(f"Every step is in the audit log: [bold]{program()} audit show{visible(at_home)}[/]")
    if answer["status"] == "completed" and typer.confirm(f"Remove {HELLO} again?", default=True):
        remove_hello(workspace)


def _in_json(settings: Settings, settled: Settled, findings: list[Finding]) -> dict[str, Any]:
    known, chosen = settled.credentials, find_chosen(settings)
    return {
        "new": settled.is_new,
        "workspace": known.workspace,
        "project_id": known.project_id,
        "server": known.server,
        "home": str(settings.home),
        "provider": None if chosen is None else chosen.provider,
        "key": None if chosen is None else chosen.key_place,
        "audit_key": public_key(Home(settings.home)),
        "findings": [asdict(finding) for finding in findings],
    }

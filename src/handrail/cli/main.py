"""The entry point. Only the command that was asked for is loaded, so that help comes at once."""

import sys
from importlib import import_module
from typing import Annotated

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from handrail.app.disk_faults import disk_fault_words, is_disk_fault
from handrail.app.process import begin_process
from handrail.core.errors import HandrailError, SetupError, leaves
from handrail.core.visible import visible
from handrail.version import __version__

# name → (module, the sentence that stands in the list)
COMMANDS = {
    "init": ("handrail.cli.init", "Set up a folder for agents, and decide about a first call."),
    "up": ("handrail.cli.up", "Start the server and this machine's client in one process."),
    "run": (
        "handrail.cli.run",
        "Give Handrail's own agent a task, and decide about its calls here.",
    ),
    "draft": (
        "handrail.cli.draft",
        "Run any agent or program in a draft, and decide about the sum of its changes.",
    ),
    "chat": (
        "handrail.cli.chat",
        "List the conversations with Handrail's own agent, or read one.",
    ),
    "serve": ("handrail.cli.serve", "Start the server without a client."),
    "connect": (
        "handrail.cli.connect",
        "Connect this machine to a server, and run approved calls here.",
    ),
    "tour": (
        "handrail.cli.tour",
        "Take a tour: a simulated agent makes four calls, and you decide about them.",
    ),
    "console": ("handrail.cli.console", "Open the console in a browser, signed in."),
    "approvals": (
        "handrail.cli.approvals",
        "List the questions that wait for your decision, and answer them.",
    ),
    "grants": (
        "handrail.cli.grants",
        "List the approvals that cover further calls, or revoke one.",
    ),
    "explain": ("handrail.cli.explain", "Show how a call would be judged, without running it."),
    "policy": (
        "handrail.cli.policy",
        "Show the rules for this folder, check a policy file, or test commands.",
    ),
    "autonomy": (
        "handrail.cli.autonomy",
        "Show or set what agents of this project may do without asking.",
    ),
    "executions": (
        "handrail.cli.executions",
        "List the latest calls, show one, or stop what is running.",
    ),
    "undo": ("handrail.cli.undo", "Bring back the files that a call or a session has changed."),
    "drafts": ("handrail.cli.drafts", "List the drafts of agents, and decide about them."),
    "trust": (
        "handrail.cli.trust",
        "List the sessions that read suspicious text, or trust one again.",
    ),
    "tools": ("handrail.cli.tools", "List the tools that agents can call."),
    "memory": (
        "handrail.cli.memory",
        "List, export or delete what agents remember for you.",
    ),
    "skills": (
        "handrail.cli.skills",
        "List the skills that an agent can load: yours, and those that come with Handrail.",
    ),
    "config": (
        "handrail.cli.config",
        "Show and change the settings, and the keys of model providers.",
    ),
    "budget": (
        "handrail.cli.budget",
        "Show how many tokens your agents used today, and the limit.",
    ),
    "toolchains": (
        "handrail.cli.toolchains",
        "List the toolchains of this machine, and choose which of them commands may use.",
    ),
    "folders": (
        "handrail.cli.folders",
        "List the folders outside the workspace that agents can read, and change the list.",
    ),
    "audit": ("handrail.cli.audit", "Show the audit log, or prove that it was not changed."),
    "data": (
        "handrail.cli.data",
        "Export or delete the data that Handrail stores about you.",
    ),
    "prune": (
        "handrail.cli.prune",
        "Remove results and calls that are older than the settings allow.",
    ),
    "backup": (
        "handrail.cli.backup",
        "Write a backup of everything the server stores; it may keep running.",
    ),
    "restore": ("handrail.cli.restore", "Replace the database with a backup."),
    "token": ("handrail.cli.token", "List, create, rotate and revoke access tokens."),
    "doctor": ("handrail.cli.doctor", "Check everything that Handrail depends on."),
    "uninstall": ("handrail.cli.uninstall", "Remove everything that Handrail has created."),
    "version": ("handrail.cli.version", "Print the version."),
}


# Most of Handrail cannot even be loaded there, so this is said before anything is.
_ON_WINDOWS = (
    "Handrail runs on Linux and macOS. On Windows, run it inside WSL: `wsl --install` sets it up;"
    " then install and start Handrail there, in a folder inside WSL"
)


def main() -> None:
    """Run the `handrail` command."""
    begin_process()
    troubles: list[HandrailError] = []
    wanted = _first_word(sys.argv[1:])
    try:
        _check_system(wanted)
        build_command(wanted)()
    except* HandrailError as group:
        troubles = list(leaves(group))
    except* OSError as group:
        faults, defects = group.split(is_disk_fault)
        if defects is not None:
            raise defects from None
        if faults is not None:
            troubles += [SetupError(disk_fault_words(fault)) for fault in leaves(faults)]
    for trouble in troubles:
        typer.echo(f"handrail: {visible(str(trouble), keep=chr(10))}", err=True)
    if troubles:
        sys.exit(1)


def _check_system(wanted: str | None) -> None:
    if sys.platform == "win32" and wanted not in (None, "version"):
        raise SetupError(_ON_WINDOWS)


def build_command(wanted: str | None) -> TyperGroup:
    """The whole command as it is run, and as its help shows it."""
    command = typer.main.get_command(build_app(wanted))
    assert isinstance(command, TyperGroup)  # noqa: S101  it has more than one command
    _show_no_type_of_flags(command)
    return command


def build_app(wanted: str | None) -> typer.Typer:
    """The whole command, with flesh only on the part that is wanted."""
    app = typer.Typer(
        name="handrail",
        help="Handrail stands between AI agents and your machine.\n\n"
        "Start with `handrail up` in the folder that agents should work in, then run "
        "`handrail tour` in another terminal.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
    )
    app.callback()(_handrail)
    for name, (module, sentence) in COMMANDS.items():
        if name == wanted:
            import_module(module).register(app)
        else:
            app.command(name, help=sentence)(_not_loaded)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"handrail {__version__}")
        raise typer.Exit


def _handrail(
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_print_version, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Options that stand before any command."""


def _show_no_type_of_flags(command: TyperCommand | TyperGroup) -> None:
    """Help would put `<bool>` behind every flag, as if it took a value."""
    for option in command.get_params(typer.Context(command)):
        if isinstance(option, TyperOption) and option.is_flag:
            option.metavar = ""
    for part in command.commands.values() if isinstance(command, TyperGroup) else ():
        if isinstance(part, TyperCommand | TyperGroup):
            _show_no_type_of_flags(part)


def _first_word(arguments: list[str]) -> str | None:
    return next((word for word in arguments if not word.startswith("-")), None)


def _not_loaded() -> None:
    """Stands in the list for a command that was not asked for."""

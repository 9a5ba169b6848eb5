"""handrail draft."""

import asyncio
import os
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated, Any

import typer
import uvloop

from handrail.app.draft_program import (
    DraftProgram,
    ProgramEnd,
    ask_about_sum,
    check_hosts,
    check_session,
    session_for,
)
from handrail.app.home import Credentials, Home
from handrail.app.logs import configure_logs
from handrail.app.proposals import Proposals
from handrail.app.settings import Settings, load_settings
from handrail.app.stream_relay import StreamRelay
from handrail.app.terminal import find_terminal
from handrail.app.terminal_relay import TerminalRelay
from handrail.app.visits import visit_here, visit_there
from handrail.cli import options
from handrail.cli.folder import find_or_set_up
from handrail.cli.ids import short
from handrail.cli.output import program, remark, visible
from handrail.client.api import HandrailApi
from handrail.client.journal import agents_socket
from handrail.core.card import Card, Choice
from handrail.core.errors import HandrailError, leaves
from handrail.core.execution import Status
from handrail.core.ports import Channel

_REFUSED = 3
_NO_FURTHER = "this host and every further one that this run asks for"


def register(app: typer.Typer) -> None:
    app.command("draft", context_settings={"allow_interspersed_args": False})(draft)


def draft(
    words: Annotated[
        list[str],
        typer.Argument(metavar="PROGRAM [ARGS]...", help="The program, with its arguments."),
    ],
    workspace: options.Workspace = Path(),
    allow: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST:PORT",
            help="A host that it may reach without a question, also on this machine; repeatable.",
        ),
    ] = None,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="Go on in the draft of this session.")
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Set up this folder without asking, if needed.")
    ] = False,
    home: options.Home = None,
    verbose: options.Verbose = False,
) -> None:
    """Run any agent or program in a draft, and decide about the sum of its changes.

    For example: `handrail draft -- claude`, or `handrail draft -- codex exec "fix the tests"`, or
    `handrail draft --allow localhost:11434 -- ./my-agent.py`

    The program works as usual, but nothing that it changes is real. When it ends, you see one card
    with all changes; a yes applies them. It runs in the sandbox: it sees this folder, its own
    settings and the system's programs, and nothing else of your home. Hosts of its model are
    allowed for the agents that Handrail knows (claude, codex, gemini, aider); you are asked about
    each other host while the connection waits.

    The exit code is that of the program; if that is 0 and the changes are not applied, it is 3.
    """
    settings = load_settings(home)
    own = Home(settings.home)
    own.create()
    configure_logs(verbose=verbose, file=own.log, on_screen=verbose)
    hosts = tuple(allow or ())
    check_hosts(hosts)
    if session is not None:
        check_session(session)
    terminal = find_terminal()
    known = find_or_set_up(settings, workspace, terminal, yes=yes)
    errand = _Errand(words, session, hosts, own, terminal)
    _carry_out(settings, workspace, known, errand)
    raise typer.Exit(errand.code)


class _Errand:
    """Runs the program, and asks about what it has changed."""

    def __init__(
        self,
        words: list[str],
        session_id: str | None,
        hosts: tuple[str, ...],
        home: Home,
        terminal: Channel | None,
    ):
        self.code = 1
        self._words = tuple(words)
        self._session_id = session_id or session_for(words)
        self._goes_on = session_id is not None
        self._hosts = hosts
        self._home = home
        self._terminal = terminal

    async def __call__(self, api: HandrailApi, known: Credentials) -> None:
        wanted = DraftProgram(self._words, known.workspace, self._session_id, self._hosts)
        order = wanted.order(os.environ, terminal=self._terminal is not None)
        socket = agents_socket(self._home.journal_folder(known))
        title = visible(wanted.profile.title)
        remark(
            f"[dim]{title} works in a draft of {visible(known.workspace)}: nothing it changes is "
            "real before you approve. Leave it to see the card.[/]"
        )
        async with AsyncExitStack() as stack:
            between: _Between | None = None
            if self._terminal is None:
                relay = await stack.enter_async_context(StreamRelay.opened())
            else:
                relay = await stack.enter_async_context(TerminalRelay.opened())
                between = _Between(relay)
            end = await wanted.run(socket, order, self._proposals(api, between), relay)
        self.code = end.exit_code if end.exit_code >= 0 else 128 - end.exit_code
        self._tell(title, end)
        if end.step is not None or self._goes_on:
            call = await ask_about_sum(self._proposals(api, self._terminal))
            if end.changed or self._goes_on:
                self._tell_decision(call)

    def _proposals(self, api: HandrailApi, channel: Channel | None) -> Proposals:
        def on_question(card: Card) -> None:
            if channel is None:
                command = f"{program()} approvals approve {short(card.approval_id)}"
                remark(f"{visible(card.description)} waits for your decision: {command}")

        return Proposals(api, api, self._session_id, channel, on_question=on_question)

    def _tell(self, title: str, end: ProgramEnd) -> None:
        ending = "" if end.exit_code == 0 else f" with exit code {end.exit_code}"
        remark(f"[dim]{title} ended{ending}.[/]")
        if end.hosts:
            remark(f"[dim]It reached {visible(', '.join(end.hosts))}.[/]")
        for note in end.notes:
            remark(f"[yellow]{visible(note)}[/]")
        if not end.changed:
            remark("It changed nothing in the workspace.")
        else:
            remark("[dim]Reading what it changed …[/]")

    def _tell_decision(self, call: dict[str, Any]) -> None:
        if call["status"] == Status.COMPLETED:
            remark(f"[green]{visible(call['result']['output'])}[/]")
            undo = f"{program()} undo {short(call['tool_id'])}"
            remark(f"[dim]To take it back, while `{program()} up` runs: {undo}[/]")
            return
        self.code = self.code or _REFUSED
        remark(f"[red]Nothing was applied:[/] {visible(str(call['error']))}")
        again = f"{program()} draft --session {self._session_id} -- {self._words[0]}"
        remark(f"The draft is kept. To go on in it: [bold]{visible(again)}[/]")
        drop = f"{program()} drafts discard {self._session_id}"
        remark(f"[dim]To remove it, while `{program()} up` runs: {visible(drop)}[/]")


class _Between:
    """The terminal, for a question while a program has it."""

    name = "terminal"

    def __init__(self, relay: TerminalRelay):
        self._relay = relay
        self._terminal = find_terminal(_NO_FURTHER)
        self._turn = asyncio.Lock()
        self._refuses_all = False

    async def ask(self, card: Card) -> Choice | None:
        refusal = Choice(approved=False, reason=_NO_FURTHER)
        async with self._turn:
            if self._refuses_all or self._terminal is None:
                return refusal if self._refuses_all else None
            async with self._relay.paused():
                choice = await self._terminal.ask(card)
            self._refuses_all = choice == refusal
            return choice

    def tell(self, words: str) -> None:
        """Nothing: the screen is the program's."""


def _carry_out(
    settings: Settings, workspace: Path, known: Credentials | None, errand: _Errand
) -> None:
    async def visit(api: HandrailApi, places: list[str]) -> None:
        del places
        found = Home(settings.home).get_credentials(workspace)
        await errand(api, found)

    troubles: list[HandrailError] = []
    work = (
        visit_here(settings, workspace, visit)
        if known is None
        else visit_there(Home(settings.home), known, visit)
    )
    try:
        uvloop.run(work)
    except* HandrailError as group:
        troubles = list(leaves(group))
    # Only the first is told: the others come of it.
    for trouble in troubles:
        raise trouble

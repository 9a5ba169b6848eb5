"""handrail run."""

import asyncio
import os
import signal
import sys
from enum import IntEnum
from json import dumps
from pathlib import Path
from typing import Annotated, Any

import typer
import uvloop

from handrail.app.home import Credentials, Home
from handrail.app.logs import configure_logs
from handrail.app.provider_setup import find_chosen
from handrail.app.settings import Settings, load_settings
from handrail.app.task import (
    OwnModel,
    Task,
    check_conversation,
    list_going_on,
    run_here,
    run_there,
)
from handrail.app.terminal import find_terminal
from handrail.cli import options
from handrail.cli.folder import find_or_set_up
from handrail.cli.output import complain, remark, visible
from handrail.cli.run_output import EventLines, Lines, Screen
from handrail.client.api import HandrailApi
from handrail.client.following import Follower, Outcome
from handrail.core.errors import BadInput, HandrailError, leaves
from handrail.core.ports import Channel
from handrail.core.project import Autonomy
from handrail.wire.chat import MAX_MESSAGE_CHARS


class Code(IntEnum):
    """How the command ends, for scripts."""

    DONE = 0
    FAILED = 1
    NOT_BEGUN = 2
    STOPPED = 3
    INTERRUPTED = 130


_CODES = {"done": Code.DONE, "failed": Code.FAILED, "stopped": Code.STOPPED}


def register(app: typer.Typer) -> None:
    app.command("run")(run)


def run(
    task: Annotated[
        str, typer.Argument(metavar="TASK", help="The task; - reads it from standard input.")
    ],
    workspace: options.Workspace = Path(),
    autonomy: Annotated[
        Autonomy | None,
        typer.Option(help="What the agent may do without asking; policy files can only lower it."),
    ] = None,
    provider: Annotated[
        str | None, typer.Option(help="The model provider: anthropic, openai or scripted.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="The name of the model; for scripted, the file of the script."),
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(min=1, help="The most tokens that the run may use.")
    ] = None,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="Continue this conversation.")
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Set up this folder without asking, if needed.")
    ] = False,
    home: options.Home = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print each event as a line of JSON, the outcome last.")
    ] = False,
    verbose: options.Verbose = False,
) -> None:
    """Give Handrail's own agent a task, and decide about its calls here.

    For example: `handrail run "find the failing test and fix it"`, or, in a script:
    `git diff | handrail run - --autonomy read_only > review.md`

    Calls that need your approval are shown in this terminal. Without a terminal they wait for your
    other screens, and are refused if there is no answer in time. If a server is already running, it
    does the work; otherwise this command starts one for the time of the run. Ctrl+C stops the run.
    `handrail chat` shows the conversation.

    The exit code is 0 when the agent is done, 1 when the run failed, 2 when it could not start,
    3 when a person or three refusals stopped it, and 130 on Ctrl+C.
    """
    code = Code.NOT_BEGUN
    try:
        settings = load_settings(home)
        own = Home(settings.home)
        own.create()
        # What is said here shall not be run across by anything else.
        configure_logs(verbose=verbose, file=own.log, on_screen=verbose)
        terminal = None if json else find_terminal()
        errand = _Errand(_screen(json=json, can_ask=terminal is not None), terminal)
        wanted = Task(_read(task), session, autonomy)
        known = find_or_set_up(settings, workspace, terminal, yes=yes)
        own_model = OwnModel(provider, model, max_tokens)
        code = _carry_out(settings, workspace, known, wanted, own_model, errand)
    except HandrailError as error:
        _complain(error, json=json)
    raise typer.Exit(code)


class _Errand:
    """Follows the run on a screen, and stops it when it is told to."""

    def __init__(self, screen: Screen, channel: Channel | None):
        self._screen = screen
        self._channel = channel
        self._follower: Follower | None = None
        self._reads_nobody = False

    async def __call__(self, api: HandrailApi, message: dict[str, Any]) -> None:
        self._follower = follower = Follower(api, self._hear, self._channel)
        loop, task = asyncio.get_running_loop(), asyncio.current_task()

        def interrupt() -> None:
            if follower.interrupted and task is not None:
                # Whoever says it twice does not want to wait.
                task.cancel()
            follower.interrupt()

        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, interrupt)
        if (session := message["session_id"]) is not None:
            await check_conversation(api, session)
        others = [one for one in await list_going_on(api) if one["session_id"] != session]
        await self._screen.left(others)
        outcome = await follower.follow(message)
        if outcome is not None and not self._reads_nobody:
            await self._screen.end(outcome)

    @property
    def outcome(self) -> Outcome | None:
        return None if self._follower is None else self._follower.outcome

    @property
    def code(self) -> Code:
        """Nothing at all was heard where it was interrupted before it had begun."""
        if self.outcome is None or self._follower is None or self._follower.interrupted:
            return Code.INTERRUPTED
        return _CODES.get(self.outcome.status, Code.INTERRUPTED)

    async def _hear(self, name: str, data: dict[str, Any], call: dict[str, Any] | None) -> None:
        if self._reads_nobody:
            return
        try:
            await self._screen.hear(name, data, call)
        except OSError:
            # Nobody reads what comes of it, so nobody wants it.
            self._reads_nobody = True
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            if self._follower is not None:
                self._follower.interrupt()


def _carry_out(
    settings: Settings,
    workspace: Path,
    known: Credentials | None,
    task: Task,
    model: OwnModel,
    errand: _Errand,
) -> Code:
    troubles: list[HandrailError] = []
    if known is None:
        chosen = find_chosen(ours := model.override(settings))
        if chosen is not None and not chosen.needs_key and chosen.lacks_key is not None:
            remark(f"[dim]{visible(chosen.lacks_key)}[/]")
        work = run_here(ours, workspace, task, errand)
    elif model != OwnModel():
        commands = ", then ".join(f"`{command}`" for command in model.setting_commands())
        raise BadInput(
            "a Handrail server is running, and it does the work with the model and the token limit "
            f"of its settings. To change them for every run: {commands}; then run this again "
            "without --provider, --model and --max-tokens. Or stop the server: this command then "
            "starts its own, for this run only"
        )
    else:
        work = run_there(Home(settings.home), known, task, errand)
    try:
        uvloop.run(work)
    except* HandrailError as group:
        troubles = list(leaves(group))
    except* (KeyboardInterrupt, asyncio.CancelledError):
        pass  # What is not done then is interrupted.
    if not troubles:
        return errand.code
    if errand.outcome is None:
        # Only the first is told: the others come of it.
        raise troubles[0]
    for trouble in troubles:
        complain(trouble)
    return Code.FAILED


def _complain(error: HandrailError, *, json: bool) -> None:
    """Nothing was begun: said to a person and, where one reads, to a program."""
    if json:
        typer.echo(dumps({"event": "end", "status": "not begun", "error": str(error)}))
    complain(error)


def _screen(*, json: bool, can_ask: bool) -> Screen:
    if json:
        return EventLines(sys.stdout, sys.stderr)
    if sys.stdout.isatty():
        return Lines(sys.stdout, can_ask=can_ask)
    return Lines(sys.stderr, sys.stdout, can_ask=can_ask)


def _read(task: str) -> str:
    if task == "-":
        try:
            # A character takes up to four bytes.
            task = sys.stdin.buffer.read(4 * MAX_MESSAGE_CHARS + 1).decode()
        except UnicodeDecodeError as error:
            raise BadInput("standard input is not UTF-8 text") from error
    if not task.strip():
        raise BadInput("there is no task; give it as one argument in quotes")
    if len(task) > MAX_MESSAGE_CHARS:
        raise BadInput(
            f"the task is longer than {MAX_MESSAGE_CHARS:,} characters; put it in a file"
        )
    return task

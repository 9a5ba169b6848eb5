"""handrail approvals: list, watch, approve, edit, reject."""

from asyncio import CancelledError
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from handrail.app.home import Home
from handrail.app.logs import configure_logs
from handrail.app.settings import load_settings
from handrail.app.terminal import can_draw, find_terminal, print_card
from handrail.cli import options, screen
from handrail.cli.approvals_edit import edit
from handrail.cli.ask import ask
from handrail.cli.groups import add_group
from handrail.cli.ids import short
from handrail.cli.output import in_words, print_json, program, say, status, visible
from handrail.cli.questions import (
    CHANNEL,
    MOST,
    Id,
    find_question,
    in_full,
    in_full_if_possible,
)
from handrail.cli.tables import Rows
from handrail.client.api import HandrailApi
from handrail.client.watching import Watcher
from handrail.core.approval import ApprovalStatus
from handrail.core.errors import BadInput, SetupError
from handrail.core.grant import Scope


def register(app: typer.Typer) -> None:
    add_group(
        app,
        "approvals",
        approvals,
        {"watch": watch, "show": show, "approve": approve, "edit": edit, "reject": reject},
    )


def approvals(
    context: typer.Context,
    workspace: options.Workspace = Path(),
    wanted: Annotated[
        ApprovalStatus, typer.Option("--status", help="Which questions to list.")
    ] = ApprovalStatus.PENDING,
    limit: Annotated[int, typer.Option(min=1, help="How many to list.")] = 100,
    list_all: Annotated[bool, typer.Option("--all", help="List all of them.")] = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """List the questions that wait for your decision, and answer them.

    For example: `handrail approvals`, then `handrail approvals approve 3f9c21ab`.
    """
    if context.invoked_subcommand is not None:
        return
    query = {"status": wanted.value, "limit": MOST}
    answer = ask(workspace, home, lambda api: api.get("/approvals", **query))
    found = answer["approvals"]
    if wanted is ApprovalStatus.PENDING:
        # The most urgent first, so that a cut list leaves out those with the most time left.
        found = sorted(found, key=lambda one: one["expires_at"])
    answer["approvals"] = shown = found if list_all else found[:limit]
    if json:
        print_json(answer)
        return
    if not shown:
        say("Nothing waits for you." if wanted is ApprovalStatus.PENDING else "There are none.")
        return
    _list(shown, wanted)
    if len(found) > len(shown):
        say(f"\n[yellow]{len(shown):,} of {len(found):,} shown;[/] --all lists all of them.")
    elif len(found) == MOST:
        say(f"\n[yellow]{len(found):,} shown; there may be more.[/]")
    if wanted is ApprovalStatus.PENDING:
        say(f"\nDecide with [bold]{program()} approvals watch[/], or approve and reject by id.")


def _list(shown: list[dict[str, Any]], wanted: ApprovalStatus) -> None:
    rows = Rows("id", "risk", "what", "left" if wanted is ApprovalStatus.PENDING else "answer")
    for one in shown:
        rows.add_row(
            visible(short(one["approval_id"])),
            visible(one["risk_level"]),
            visible(one["description"]),
            _ending(one),
        )
    rows.print()


def watch(
    workspace: options.Workspace = Path(),
    plain: options.Plain = False,
    home: options.Home = None,
) -> None:
    """Decide about calls in this terminal, as they come.

    For example: `handrail approvals watch`

    Waiting, running and past calls are on one screen; `?` lists its keys. With --plain, and where
    no screen can be drawn, cards are printed one after the other.
    """
    if can_draw() and not plain:
        # Nothing shall run across the screen.
        configure_logs(file=Home(load_settings(home=home).home).log, on_screen=False)
        with suppress(KeyboardInterrupt, CancelledError):
            ask(workspace, home, screen.watch)
        return
    channel = find_terminal()
    if channel is None:
        raise SetupError(
            "this is not a terminal; `handrail approvals` lists the open questions, and "
            "`handrail approvals approve ID` answers one"
        )
    configure_logs(verbose=False)
    say("[dim]Waiting for questions; stop with Ctrl+C.[/]")
    was_connected = True

    def announce(connected: bool) -> None:
        nonlocal was_connected
        if connected != was_connected:
            channel.tell(
                "The server is back." if connected else "The server does not answer; waiting."
            )
        was_connected = connected

    try:
        ask(workspace, home, lambda api: Watcher(api, channel, announce).run())
    except KeyboardInterrupt:
        say()


def show(
    approval: Id,
    workspace: options.Workspace = Path(),
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Show one question with all its details.

    For example: `handrail approvals show 3f9c21ab`
    """

    async def find(api: HandrailApi) -> dict[str, Any]:
        return await in_full_if_possible(api, await find_question(api, approval))

    found = ask(workspace, home, find)
    if json:
        print_json(found)
    else:
        print_card(found)


def approve(
    approval: Id,
    workspace: options.Workspace = Path(),
    scope: Annotated[
        Scope,
        typer.Option(
            help="What is approved: this call (once), calls like it in this session (class) or "
            "always in this project (project), or everything in the session."
        ),
    ] = Scope.ONCE,
    uses: Annotated[
        int | None, typer.Option(min=1, help="With a wider scope: the number of further calls.")
    ] = None,
    minutes: Annotated[
        int | None, typer.Option(min=1, help="With a wider scope: the number of minutes.")
    ] = None,
    days: Annotated[
        int | None,
        typer.Option(min=1, max=365, help="With scope project: the number of days; 30 if not set."),
    ] = None,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes",
            help="Needed for a risky call and scope project: confirms that you have read the card.",
        ),
    ] = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Approve one call. A risky one is shown first, and needs --yes.

    For example: `handrail approvals approve 3f9c21ab`, or with `--scope class --uses 10`, or with
    `--scope project --days 7 --yes`.
    """
    seconds = _seconds(minutes, days)

    async def decide(api: HandrailApi) -> tuple[str, Any]:
        found = await find_question(api, approval)
        is_lasting = scope is Scope.PROJECT
        must_be_read = found["needs_second_step"] or found["masked"] or is_lasting
        if found["status"] == "pending" and must_be_read:
            found = await in_full(api, found)
            if not yes:
                print_card(found)
                raise BadInput(
                    "nothing is approved yet: read the card, then run this again with --yes"
                )
        answer = await api.approve(
            found["approval_id"],
            scope=scope,
            uses=uses,
            expires_in_seconds=seconds,
            digest=found["digest"],
            channel=CHANNEL,
        )
        return found["description"], answer

    _tell(*ask(workspace, home, decide), json=json)


def reject(
    approval: Id,
    workspace: options.Workspace = Path(),
    reason: Annotated[str | None, typer.Option(help="The reason; the agent reads it.")] = None,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Refuse one call.

    For example: `handrail approvals reject 3f9c21ab --reason "use the test database"`
    """

    async def decide(api: HandrailApi) -> tuple[str, Any]:
        found = await find_question(api, approval)
        answer = await api.reject(found["approval_id"], reason=reason, channel=CHANNEL)
        return found["description"], answer

    _tell(*ask(workspace, home, decide), json=json)


def _seconds(minutes: int | None, days: int | None) -> int | None:
    if minutes is not None and days is not None:
        raise BadInput("give either --minutes or --days")
    return minutes * 60 if minutes is not None else days * 24 * 3600 if days is not None else None


def _ending(one: dict[str, Any]) -> str:
    if one["status"] != "pending":
        return visible(f"{in_words(one['status'])} by {one['decided_by']}")
    left = datetime.fromisoformat(one["expires_at"]) - datetime.now(UTC)
    return f"{max(0, int(left.total_seconds()))} s"


def _tell(title: str, answer: dict[str, Any], *, json: bool) -> None:
    if json:
        print_json(answer)
    else:
        said = f"{visible(answer['approval_id'])} is {status(answer['status'])}"
        say(f"{said}: {visible(title)}")

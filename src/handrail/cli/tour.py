"""handrail tour."""

import asyncio
import secrets
from pathlib import Path
from typing import Annotated, Any

import typer

from handrail.app.home import Home
from handrail.app.proposals import Proposals
from handrail.app.settings import load_settings
from handrail.app.terminal import find_terminal
from handrail.app.tour import Chapter, Tour, chapters
from handrail.cli import options
from handrail.cli.ids import short
from handrail.cli.output import ending, in_short, print_json, program, say, status, visible
from handrail.client.api import HandrailApi, ServerUnreachable, ServerUntrusted
from handrail.core.access import Role
from handrail.core.card import Card
from handrail.core.errors import SetupError

_MOST_LOOKS = 20
_LOOK_SECONDS = 0.5


def register(app: typer.Typer) -> None:
    app.command("tour")(tour)


def tour(
    workspace: options.Workspace = Path(),
    auto: Annotated[
        bool, typer.Option("--auto", help="Let the tour decide too, without asking you.")
    ] = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Take a tour: a simulated agent makes four calls, and you decide about them.

    For example: `handrail tour` while `handrail up` runs in another terminal.

    The calls are real, and run in your workspace. One writes a small file into the folder
    `handrail-tour`, after you have approved it.
    """
    if not workspace.is_dir():
        raise SetupError(f"{workspace} is not a folder")
    answers = asyncio.run(_play(workspace, home, auto=auto, quiet=json))
    if json:
        print_json(answers)
        return
    say(f"\nNext, have an agent work in a draft of a folder: [bold]{program()} draft -- claude[/]")
    say(f"Every step is in the audit log: [bold]{program()} audit show[/]")
    if (workspace / "handrail-tour").is_dir():
        say("You can remove the folder that the tour created: [bold]handrail-tour[/]")


async def _play(
    workspace: Path, home: Path | None, *, auto: bool, quiet: bool
) -> list[dict[str, Any]]:
    known = Home(load_settings(home=home).home).get_credentials(workspace)
    channel = None if quiet or auto else find_terminal()

    def on_question(card: Card) -> None:
        if channel is None and not auto:
            # What is risky is approved by `--yes` where there is no terminal to ask a second time.
            yes = " --yes" if card.needs_second_step else ""
            command = f"{program()} approvals approve {short(card.approval_id)}{yes}"
            typer.echo(f"   waits for your approval: {command}", err=quiet)

    def on_silence() -> None:
        words = "the server does not answer; the call is stored, and the tour waits for the server"
        if channel is not None:
            channel.tell(words)
        elif not quiet:
            say(f"   {words}")

    async with (
        HandrailApi(known.server, known.project_id, known.token_for(Role.AGENT)) as agent,
        HandrailApi(known.server, known.project_id, known.token_for(Role.USER)) as person,
    ):
        await _check_server(person)
        if not quiet:
            await _check_machine(person, known.workspace)
        session = f"tour-{secrets.token_hex(4)}"
        proposals = Proposals(
            agent, person, session, channel, on_question=on_question, on_silence=on_silence
        )
        guide = Tour(proposals, auto=auto)
        answers: list[dict[str, Any]] = []
        for number, chapter in enumerate(chapters(Path(known.workspace)), start=1):
            if not quiet:
                _announce(number, chapter)
            answers.append(await guide.play(number, chapter))
            if not quiet:
                show(answers[-1])
        return answers


async def _check_server(person: HandrailApi) -> None:
    try:
        await person.get("/tools/available")
    except ServerUntrusted:
        raise
    except ServerUnreachable as error:
        raise SetupError(
            f"no server is running at {person.server}; start it with `handrail up`"
        ) from error


async def _check_machine(person: HandrailApi, workspace: str) -> None:
    """Calls wait for a machine, and a person would wait with them without knowing why."""
    # That of a server that has just been started connects a little later.
    for _ in range(_MOST_LOOKS):
        found = await person.get("/clients")
        if any(client["connected"] for client in found["clients"]):
            return
        await asyncio.sleep(_LOOK_SECONDS)
    say("No machine is connected, so calls will wait. Connect one in another terminal:")
    say(f"  [bold]{program()} connect {visible(workspace)}[/]")


def _announce(number: int, chapter: Chapter) -> None:
    say(f"\n[bold]{number}. {chapter.story}[/]")
    words = ", ".join(f"{name}={in_short(value)}" for name, value in chapter.tool_params.items())
    say(f"   the agent asks   {chapter.tool_name} {visible(words)}")


def show(answer: dict[str, Any]) -> None:
    """Tell how one call was judged and decided, and what came of it."""
    say(f"   Handrail judges  risk {answer['risk_level']}")
    for reason in answer["reasons"]:
        say(f"                    {visible(reason)}")
    if answer["approval_id"] is not None:
        decision = "approved" if answer["approved_by"] is not None else answer["status"]
        say(f"   the person says  {status(decision)}")
    output = "" if answer["result"] is None else str(answer["result"].get("output", ""))
    first, *further = output.strip().split("\n")
    outcome = answer["error"] or first or "(nothing)"
    say(f"   the agent gets   {ending(answer)}: {visible(in_short(outcome, 100))}")
    for line in further:
        # Why an install came to nothing stands at the very end of what it said.
        if line.startswith("[not reached: "):
            say(f"                    {visible(in_short(line, 200))}")

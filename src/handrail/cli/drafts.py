"""handrail drafts: list, show, apply, discard, export, open."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Annotated, Any, BinaryIO

import typer

from handrail.app.drafts import Taken, export_draft, list_drafts, open_draft
from handrail.app.home import Credentials, Home
from handrail.app.proposals import Proposal, Proposals
from handrail.app.settings import load_settings
from handrail.app.terminal import find_terminal
from handrail.cli import options
from handrail.cli.ask import ask
from handrail.cli.draft_lines import say_drafts, say_files, say_step, say_steps
from handrail.cli.groups import add_group
from handrail.cli.ids import find_by_end, short
from handrail.cli.output import complain, many, print_json, program, remark, say, visible
from handrail.client.api import HandrailApi
from handrail.core.card import Card
from handrail.core.errors import BadInput, SetupError
from handrail.core.ports import Channel
from handrail.core.visible import visible as make_visible

Session = Annotated[
    str, typer.Argument(metavar="SESSION", help="The session of the draft, or the end of its id.")
]
Steps = Annotated[
    int | None,
    typer.Option("--steps", min=1, help="Only the steps up to this number.", show_default="all"),
]


def register(app: typer.Typer) -> None:
    commands = {
        "show": show,
        "apply": apply,
        "discard": discard,
        "export": export,
        "open": open_folder,
    }
    add_group(app, "drafts", drafts, commands)


def drafts(
    context: typer.Context,
    workspace: options.Workspace = Path(),
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """List the drafts of agents, and decide about them.

    For example: `handrail drafts`, then `handrail drafts show demo` or `handrail drafts apply demo`

    Lists the drafts on machines that are connected, and those of this machine. A draft that is not
    used for 14 days (`retention.drafts_days`) is saved as a patch and removed.
    """
    if context.invoked_subcommand is not None:
        return
    place, credentials = _here(workspace, home)
    answer = ask(workspace, home, lambda api: api.get("/drafts"))
    found: list[dict[str, Any]] = answer["drafts"]
    listed = {one["session_id"] for one in found}
    # Of the server a client has to tell about them; the disk is here all the same.
    away = [one for one in list_drafts(place, credentials) if one.session_id not in listed]
    if json:
        answer["not_connected"] = [{**one._asdict(), **_times(one._asdict())} for one in away]
        print_json(answer)
        return
    if not found and not away:
        say("There are no drafts.")
        return
    say_drafts(found, away)
    say(
        f"\nRead one with [bold]{program()} drafts show SESSION[/], and decide with "
        f"[bold]{program()} drafts apply SESSION[/] or [bold]discard SESSION[/]."
    )


def show(
    session: Session,
    workspace: options.Workspace = Path(),
    steps: Steps = None,
    patch: Annotated[
        bool, typer.Option("--patch", help="Print the diff against the workspace as well.")
    ] = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Show the steps of a draft, and which of its tests and commands failed.

    For example: `handrail drafts show demo`, or `handrail drafts show demo --patch` with the diff.

    Secrets are masked, and long diffs cut; `handrail drafts export` writes every byte.
    """
    found = ask(workspace, home, lambda api: _look(api, session, steps))
    if json:
        print_json(found)
        return
    say_steps(found)
    say_files(found)
    if patch:
        say()
        typer.echo(make_visible(found["diff"], keep="\n\t").rstrip("\n"))


def apply(
    session: Session,
    workspace: options.Workspace = Path(),
    steps: Steps = None,
    files: Annotated[
        list[str] | None,
        typer.Option("--file", help="Only this file, or all below this folder. May be repeated."),
    ] = None,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Apply a draft: shows its card in this terminal, and asks you.

    For example: `handrail drafts apply demo`, or `handrail drafts apply demo --steps 3` for the
    first three steps, or `handrail drafts apply demo --file src` for a part of the files.

    With `--file`, all other changes and every commit stay in the draft. Without a terminal it waits
    for an answer on another screen. What was applied can be undone.
    """
    channel = None if json else find_terminal()
    asked = {"steps": steps, "files": files}
    params = {name: value for name, value in asked.items() if value}

    async def decide(api: HandrailApi) -> dict[str, Any]:
        return await _call(api, "apply_draft", params, await _find(api, session), channel)

    try:
        call = ask(workspace, home, decide)
    except KeyboardInterrupt:
        say(f"\nNot decided; [bold]{program()} approvals[/] lists the question.")
        raise typer.Exit(130) from None
    if json:
        print_json(call)
    elif call["status"] == "completed":
        say(visible(call["result"]["output"]))
        if call["result"].get("can_undo"):
            undo = f"{program()} undo {short(call['tool_id'])}"
            say(f"Undo it with [bold]{visible(undo)}[/].")
    if call["status"] != "completed":
        _fail(call, json=json)


def discard(
    session: Session,
    workspace: options.Workspace = Path(),
    first: Annotated[
        int, typer.Option("--from", min=1, help="The first step that is removed.")
    ] = 1,
    yes: Annotated[bool, typer.Option("--yes", help="Do not show the steps and ask.")] = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Remove a draft, or its steps from one on. They cannot be brought back.

    For example: `handrail drafts discard demo`, or `handrail drafts discard demo --from 4`, which
    keeps the first three steps.

    The agent is told with its next result which steps are gone. The workspace is not changed.
    """
    if not yes:
        if json or not sys.stdin.isatty():
            raise SetupError("there is no terminal to ask at; use --yes to discard the steps")
        found = ask(workspace, home, lambda api: _look(api, session, None))
        gone = [step for step in found["steps"] if step["number"] >= first]
        if gone:
            say("These steps are removed:")
            for step in gone:
                say_step(step)
            typer.confirm("Remove them?", abort=True)

    async def remove(api: HandrailApi) -> dict[str, Any]:
        return await _call(api, "discard_draft", {"step": first}, await _find(api, session))

    call = ask(workspace, home, remove)
    if json:
        print_json(call)
    elif call["status"] == "completed":
        say(visible(call["result"]["output"], keep="\n"))
    if call["status"] != "completed":
        _fail(call, json=json)


def export(
    session: Session,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A new file; `-` is standard output.")
    ],
    workspace: options.Workspace = Path(),
    steps: Steps = None,
    home: options.Home = None,
) -> None:
    """Write a draft as a patch against the workspace as it is now, on the machine that has it.

    For example: `handrail drafts export demo demo.patch`, then `git apply demo.patch`.

    The patch has every byte, also secrets and binary files. `git apply` takes all of it, and
    `patch -p1` all but binary files. Empty folders and changes of git's own data, such as commits,
    are not part of it.
    """
    place, credentials = _here(workspace, home)
    with _output(file) as output:
        taken = export_draft(place, credentials, session, steps, output)
    _tell(taken, "a patch" if file == "-" else visible(file))


def open_folder(
    session: Session,
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A new folder outside of the workspace.")
    ],
    workspace: options.Workspace = Path(),
    steps: Steps = None,
    home: options.Home = None,
) -> None:
    """Copy the workspace as a draft shows it to a new folder, on the machine that has the draft.

    For example: `handrail drafts open demo ../demo-draft`, to read it in an editor.

    Copies all files and links, also those that git ignores, and makes the files read-only. Left out
    are `.git`, `.handrail` and guarded files such as `.env`. It is a copy of this moment: later
    steps do not show in it, and removing it changes no draft.
    """
    place, credentials = _here(workspace, home)
    _tell(open_draft(place, credentials, session, steps, folder), visible(folder))


def _here(workspace: Path, home: Path | None) -> tuple[Home, Credentials]:
    place = Home(load_settings(home=home).home)
    return place, place.get_credentials(workspace)


async def _find(api: HandrailApi, wanted: str) -> str:
    """The session of a draft on a machine that is connected."""
    found = (await api.get("/drafts"))["drafts"]
    if not any(one["session_id"].endswith(wanted) for one in found):
        raise BadInput(
            f"no machine that is connected has a draft of a session whose id ends in {wanted!r}; "
            "`handrail drafts` lists them, `handrail connect` connects this machine"
        )
    exact = [one for one in found if one["session_id"] == wanted]
    return find_by_end(exact or found, "session_id", wanted, "draft")["session_id"]


async def _call(
    api: HandrailApi,
    tool_name: str,
    params: dict[str, Any],
    session_id: str,
    channel: Channel | None = None,
) -> dict[str, Any]:
    """A call by this person in the session of a draft, at its end."""

    def on_question(card: Card) -> None:
        if channel is None:
            command = f"{program()} approvals approve {short(card.approval_id)}"
            remark(f"{visible(card.description)} waits for your decision: {command}")

    proposals = Proposals(api, api, session_id, channel, on_question=on_question)
    return await proposals.propose(Proposal(tool_name, params, f"person-{token_hex(8)}"))


async def _look(api: HandrailApi, wanted: str, steps: int | None) -> dict[str, Any]:
    """What the machine of a draft shows of it."""
    session_id = await _find(api, wanted)
    params = {} if steps is None else {"steps": steps}
    call = await _call(api, "show_draft", params, session_id)
    if call["status"] != "completed":
        raise BadInput(call["error"] or f"the draft cannot be shown: {call['status']}")
    return {"session_id": session_id, **call["result"]}


def _fail(call: dict[str, Any], *, json: bool) -> None:
    if not json:
        complain(call["error"] or f"it ended as {call['status']}")
    raise typer.Exit(1)


@contextmanager
def _output(file: str) -> Generator[BinaryIO]:
    """A new file for this person alone; nothing is left of it if it cannot be written."""
    if file == "-":
        yield sys.stdout.buffer
        return
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise BadInput(f"{file} exists; name a new file") from None
    except OSError as error:
        raise SetupError(f"{file} cannot be written: {error.strerror}") from error
    try:
        with os.fdopen(descriptor, "wb") as output:
            yield output
    except BaseException:
        Path(file).unlink(missing_ok=True)
        raise


def _tell(taken: Taken, target: str) -> None:
    steps, files = many(taken.steps, "step"), many(taken.files, "file")
    remark(f"{steps} of the draft, {files}: {target}")
    if taken.git_changes:
        remark("[yellow]Its changes of git's own data, such as commits, are not part of it.[/]")


def _times(summary: dict[str, Any]) -> dict[str, str]:
    return {name: summary[name].isoformat() for name in ("began_at", "last_at", "expires_at")}

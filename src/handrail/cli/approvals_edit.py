"""handrail approvals edit: change what a call does before approving it."""

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from handrail.app.editor import edit_text
from handrail.app.terminal import print_card
from handrail.cli import options
from handrail.cli.ask import ask
from handrail.cli.ids import short
from handrail.cli.output import print_json, program, say, visible
from handrail.cli.questions import CHANNEL, Id, find_question, in_full_if_possible
from handrail.client.api import HandrailApi
from handrail.core.errors import BadInput

# How long the machine's check of the changed call is waited for.
_CHECK_SECONDS = 3.0
_PAUSE_SECONDS = 0.1

Params = dict[str, Any]


def edit(
    approval: Id,
    workspace: options.Workspace = Path(),
    content: Annotated[
        Path | None,
        typer.Option(help="The file with the new text, for a write or an edit.", metavar="FILE"),
    ] = None,
    command: Annotated[
        str | None, typer.Option(help="The new command, or the new name of the program.")
    ] = None,
    arg: Annotated[
        list[str] | None, typer.Option(help="A new argument of the program; give all of them.")
    ] = None,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Change the text of a write or the words of a command before you approve it.

    For example: `handrail approvals edit 3f9c21ab`, or with `--command "make test"`, or with
    `--content new.py`.

    Without options, your `$EDITOR` opens. The changed call is checked again and shown. It goes on
    waiting: approve it if it is as you want it. The agent is told what you changed.
    """

    async def change(api: HandrailApi) -> dict[str, Any]:
        found = await find_question(api, approval)
        address = f"/approvals/{found['approval_id']}"
        editable = await api.get(f"{address}/editable")
        now: Params = editable["tool_params"]
        wanted = _from_options(now, content, command, arg) or await asyncio.to_thread(_edited, now)
        if wanted.items() <= now.items():
            raise BadInput("nothing was changed")
        body = {"tool_params": wanted, "digest": editable["digest"], "channel": CHANNEL}
        changed = await api.post(f"{address}/revise", body)
        return changed if json else await _when_checked(api, changed)

    found = ask(workspace, home, change)
    if json:
        print_json(found)
        return
    print_card(found)
    whole = visible(short(found["approval_id"]))
    say(f"\nIt goes on waiting. Approve it with [bold]{program()} approvals approve {whole}[/].")


def _from_options(
    now: Params, content: Path | None, command: str | None, args: list[str] | None
) -> Params:
    wanted: Params = {}
    if content is not None:
        wanted["new" if "new" in now else "content"] = _read(content)
    if command is not None:
        wanted["command"] = command
    if args is not None:
        wanted["args"] = args
    return wanted


def _read(file: Path) -> str:
    try:
        return file.read_bytes().decode()
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{file} is not UTF-8") from error


def _edited(now: Params) -> Params:
    """Open the fields in the person's editor: one text as it is, several as JSON."""
    if len(now) == 1:
        ((name, value),) = now.items()
        if isinstance(value, str):
            return {name: edit_text(value)}
    text = edit_text(json.dumps(now, indent=2, ensure_ascii=False) + "\n", suffix=".json")
    try:
        edited: object = json.loads(text)
    except ValueError as error:
        raise BadInput(f"the text is not JSON any more, nothing was changed: {error}") from error
    if not isinstance(edited, dict):
        raise BadInput("the text is not a JSON object any more, nothing was changed")
    return cast(Params, edited)


async def _when_checked(api: HandrailApi, changed: dict[str, Any]) -> dict[str, Any]:
    """The question with the facts of its machine, where they come soon; in full where it can be."""
    found, waited = changed, 0.0
    while found["digest"] == changed["digest"] and waited < _CHECK_SECONDS:
        await asyncio.sleep(_PAUSE_SECONDS)
        waited += _PAUSE_SECONDS
        found = await api.get(f"/approvals/{changed['approval_id']}")
    return await in_full_if_possible(api, found)

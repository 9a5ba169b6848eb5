"""handrail chat: the conversations with Handrail's own agent."""

from pathlib import Path
from typing import Annotated, Any

import typer

from handrail.cli import options
from handrail.cli.ask import ask
from handrail.cli.groups import add_group
from handrail.cli.ids import find_by_end, short
from handrail.cli.output import in_short, print_json, say, visible
from handrail.cli.tables import Rows, say_indented
from handrail.client.api import HandrailApi

_PAGE = 200
_MOST_CHARS = 200
_SPEAKERS = {"user": "you", "assistant": "agent", "tool": "tool", "handrail": "Handrail"}


def register(app: typer.Typer) -> None:
    add_group(app, "chat", chat, {"show": show})


def chat(
    context: typer.Context,
    workspace: options.Workspace = Path(),
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """List the conversations with Handrail's own agent, or read one.

    For example: `handrail chat`, then `handrail chat show 3f9c21ab`.
    """
    if context.invoked_subcommand is not None:
        return
    answer = ask(workspace, home, lambda api: api.get("/chat/sessions"))
    if json:
        print_json(answer)
        return
    if not answer["sessions"]:
        say('No conversations yet. `handrail run "TASK"` starts one.')
        return
    rows = Rows("id", "last", "status", "first message")
    for one in answer["sessions"]:
        when = one["last_at"][5:16].replace("T", " ")
        title = visible(in_short(one["title"]))
        rows.add_row(visible(short(one["session_id"])), when, visible(one["status"]), title)
    rows.print()


def show(
    session: Annotated[
        str, typer.Argument(metavar="ID", help="The conversation, or the end of its id.")
    ],
    workspace: options.Workspace = Path(),
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Show a conversation and the outcome of its latest run."""
    found = ask(workspace, home, lambda api: _read(api, session))
    if json:
        print_json(found)
        return
    say(f"conversation {visible(found['session_id'])}")
    for message in found["messages"]:
        _say_message(message)
    run: dict[str, Any] = found["run"] or {}
    why = f": {run['error']}" if run.get("error") else ""
    say(f"\n[bold]{visible(run.get('status', 'empty'))}[/]{visible(why)}")
    if run.get("status") == "running":
        say("It continues while a server is running; `handrail approvals` lists its questions.")


async def _read(api: HandrailApi, wanted: str) -> dict[str, Any]:
    talks = (await api.get("/chat/sessions"))["sessions"]
    session_id = find_by_end(talks, "session_id", wanted, "conversation")["session_id"]
    messages: list[dict[str, Any]] = []
    while True:
        after = messages[-1]["seq"] if messages else 0
        page = await api.get("/chat/messages", session_id=session_id, after=after, limit=_PAGE)
        messages += page["messages"]
        if len(page["messages"]) < _PAGE:
            return {"session_id": session_id, "messages": messages, "run": page["run"]}


def _say_message(message: dict[str, Any]) -> None:
    speaker = _SPEAKERS[message["role"]]
    for part in message["parts"]:
        text = part["text"] or ""
        match part["type"]:
            case "tool_use":
                wishes = ", ".join(f"{k}={in_short(v)}" for k, v in part["input"].items())
                say(f"  [dim]· {visible(part['name'])} {visible(wishes)}[/]")
            case "tool_answer":
                mark = "✗" if part["is_error"] else "→"
                lines = text.strip().splitlines()
                more = f" (and {len(lines) - 1:,} more lines)" if len(lines) > 1 else ""
                first = in_short(lines[0] if lines else "nothing", _MOST_CHARS)
                say(f"  [dim]{mark} {visible(first)}{more}[/]")
            case _ if text.strip():
                say(f"\n[bold]{speaker}[/]")
                say_indented(visible(text.strip(), keep="\n\t"), 2)
            case _:
                pass

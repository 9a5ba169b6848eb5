"""handrail executions: list, show, cancel, stop."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer

from handrail.cli import options
from handrail.cli.ask import ask
from handrail.cli.groups import add_group
from handrail.cli.ids import find_by_end, short
from handrail.cli.output import ending, in_short, in_words, print_json, say, visible
from handrail.cli.tables import Rows, say_indented
from handrail.client.api import HandrailApi
from handrail.core.command_text import command_text, further_params
from handrail.core.errors import ErrorType
from handrail.core.execution import Status
from handrail.core.names import name_or_id

Id = Annotated[str, typer.Argument(metavar="ID", help="The id of the call, or the end of it.")]
_CHANNEL = "command-line"
_SUBJECTS = ("path", "command")
_MOST_COMMAND_CHARS = 300
_MOMENTS = ("created_at", "approved_at", "started_at", "completed_at")


def register(app: typer.Typer) -> None:
    add_group(app, "executions", executions, {"show": show, "cancel": cancel, "stop": stop})


def executions(
    context: typer.Context,
    workspace: options.Workspace = Path(),
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many to list.")] = 20,
    wanted: Annotated[
        Status | None, typer.Option("--status", help="Only calls in this state.")
    ] = None,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """List the latest calls, show one, or stop what is running.

    For example: `handrail executions --status failed`
    """
    if context.invoked_subcommand is not None:
        return
    query = {"limit": limit} if wanted is None else {"limit": limit, "status": wanted.value}
    answer = ask(workspace, home, lambda api: api.get("/tools/executions", **query))
    if json:
        print_json(answer)
        return
    if not answer["executions"]:
        say("No calls yet. `handrail tour` makes a few." if wanted is None else "There are none.")
        return
    for one in answer["executions"]:
        when = one["created_at"][5:16].replace("T", " ")
        who = name_or_id(one.get("agent_name"), one["agent_id"])
        where = f"{one['tool_name']} by {who} in session {one['session_id']}"
        which = visible(f"{short(one['tool_id'])}  {when}")
        say(f"{which}  {ending(one)}  {visible(where)}")
        say_indented(visible(_what(one)), 10)


def show(
    execution: Id,
    workspace: options.Workspace = Path(),
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Show one call: who asked, what was decided and when, and its result.

    For example: `handrail executions show 3f9c21ab`
    """
    found = ask(workspace, home, lambda api: _find(api, execution))
    if json:
        print_json(found)
        return
    rows = Rows()
    rows.add_row("call", visible(found["tool_id"]))
    rows.add_row("tool", visible(f"{found['tool_name']} {_asked(found)}"))
    who = name_or_id(found.get("agent_name"), found["agent_id"])
    rows.add_row("asked by", visible(f"{who} in session {found['session_id']}"))
    if found["reasoning"]:
        rows.add_row("its reason", visible(found["reasoning"]))
    rows.add_row("risk", visible("; ".join([_risk(found), *found["reasons"]])))
    if found["approved_by"]:
        rows.add_row("approved by", visible(f"{found['approved_by']}, {found['scope']}"))
    rows.add_row("status", ending(found))
    for moment in _MOMENTS:
        if found[moment]:
            when = found[moment][:19].replace("T", " ")
            rows.add_row(moment.removesuffix("_at"), visible(when))
    if found["error"]:
        words = [found["error_type"], found["error"]] if found["error_type"] else [found["error"]]
        rows.add_row("error", visible(": ".join(words)))
    for name, words in _about_result(found):
        rows.add_row(name, visible(words))
    rows.print()
    if found["result"] and "output" in found["result"]:
        say()
        say(visible(found["result"]["output"], keep="\n\t"))


def _about_result(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if found.get("revised_at"):
        when = found["revised_at"][:19].replace("T", " ")
        yield "changed", f"by {found['revised_by']}, {when}, before it was approved"
    if found["suspicion"]:
        yield "suspicious", _suspicious(found["suspicion"])
    if found["late_result"]:
        yield "late result", _told_later(found["late_result"])
    if found.get("undone_at"):
        yield "undone", f"by {found['undone_by']}, {found['undone_at'][:19].replace('T', ' ')}"
    elif found.get("can_undo"):
        yield "undo", "can be undone"
    elif found.get("why_not_undo") and found["started_at"]:
        yield "undo", f"cannot be undone: {found['why_not_undo']}"
    if found.get("result_removed_at"):
        yield "result", f"removed on {found['result_removed_at'][:10]}"


def cancel(
    execution: Id,
    workspace: options.Workspace = Path(),
    reason: Annotated[str | None, typer.Option(help="The reason; the agent reads it.")] = None,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Cancel one call, and end the command that runs for it.

    For example: `handrail executions cancel 3f9c21ab --reason "wrong branch"`
    """

    async def end(api: HandrailApi) -> Any:
        found = await _find(api, execution)
        return await api.cancel(found["tool_id"], reason=reason, channel=_CHANNEL)

    answer = ask(workspace, home, end)
    if json:
        print_json(answer)
    else:
        say(f"{visible(answer['tool_id'])} is cancelled.")


def stop(
    session: Annotated[str, typer.Argument(metavar="SESSION", help="The name of the session.")],
    workspace: options.Workspace = Path(),
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Stop a session: its calls end, and it can make no more.

    For example: `handrail executions stop ses_01a1e854d099`
    """
    answer = ask(workspace, home, lambda api: api.stop_session(session, channel=_CHANNEL))
    if json:
        print_json(answer)
    else:
        count = answer["calls_ended"]
        ended = "1 call was ended" if count == 1 else f"{count} calls were ended"
        say(f"Session {visible(answer['session_id'])} is stopped; {ended}.")


async def _find(api: HandrailApi, wanted: str) -> dict[str, Any]:
    if wanted.startswith("exe_"):
        return await api.get(f"/tools/{quote(wanted, safe='')}")
    latest = await api.get("/tools/executions", limit=1000)
    return find_by_end(latest["executions"], "tool_id", wanted, "call")


def _risk(found: dict[str, Any]) -> str:
    """What could not be read was never judged; it was refused, and not as a danger."""
    was_judged = found["error_type"] != ErrorType.VALIDATION
    return str(found["risk_level"]) if was_judged else "not judged"


def _what(one: dict[str, Any]) -> str:
    return f"{_asked(one)}: {one['error']}" if one["error"] else _asked(one)


def _asked(one: dict[str, Any]) -> str:
    asked = one["tool_params"]
    if text := command_text(one["tool_name"], asked):
        further = (f"{name}={in_short(value)}" for name, value in further_params(asked).items())
        return " ".join([in_short(text, _MOST_COMMAND_CHARS), *further])
    # What it is about comes first, how it is done after that.
    params = sorted(asked.items(), key=lambda param: param[0] not in _SUBJECTS)
    return " ".join(f"{name}={in_short(value)}" for name, value in params)


def _suspicious(suspicion: dict[str, Any]) -> str:
    """What in the result reads like orders."""
    return "; ".join(
        f"line {one['line']} {one['reason']}: {one['excerpt']}" for one in suspicion["findings"]
    )


def _told_later(late: dict[str, Any]) -> str:
    status = in_words(late["status"])
    return f"{status}: {late['error']}" if late["error"] else status

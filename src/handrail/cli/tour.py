"""handrail tour."""

import secrets
from pathlib import Path
from typing import Any

import typer

from handrail.cli import options
from handrail.cli.ask import ask
from handrail.cli.output import print_json, program, say, status, visible
from handrail.client.api import HandrailApi
from handrail.core.access import Role
from handrail.core.errors import SetupError

_WAIT_SECONDS = 20.0


def register(app: typer.Typer) -> None:
    app.command("tour")(tour)


def tour(
    workspace: options.Workspace = Path(), home: options.Home = None, json: options.Json = False
) -> None:
    """Watch an agent's calls travel, one after another.

    The tour plays the agent: it asks the running server for real calls in your workspace, and
    only for such as change nothing.
    """
    if not workspace.is_dir():
        raise SetupError(f"{workspace} is not a folder")
    calls = _scenes(workspace.resolve())
    session = f"tour-{secrets.token_hex(4)}"
    answers: list[dict[str, Any]] = []
    for number, (story, path) in enumerate(calls, start=1):
        if not json:
            say(f"\n[bold]{number}. {story}[/]")
            say(f"   the agent asks   read_file path={visible(path)}")
        answer = _ask(workspace, home, session, number, path)
        answers.append(answer)
        if not json:
            _show(answer)
    if json:
        print_json(answers)
        return
    say(f"\nEvery step of this is in the record: [bold]{program()} audit show[/]")


def _scenes(workspace: Path) -> list[tuple[str, str]]:
    files = sorted(
        path.name for path in workspace.iterdir() if path.is_file() and path.name[0] != "."
    )
    name = "README.md" if "README.md" in files else next(iter(files), "README.md")
    return [
        ("An agent reads a file of your workspace", name),
        ("An agent tries to look outside", "../../etc/passwd"),
        ("An agent is curious about your secrets", ".env"),
    ]


def _ask(
    workspace: Path, home: Path | None, session: str, number: int, path: str
) -> dict[str, Any]:
    async def question(api: HandrailApi) -> dict[str, Any]:
        return await api.execute(
            "read_file",
            {"path": path, "limit": 20},
            session_id=session,
            call_id=f"call-{number}",
            reasoning="The tour shows what Handrail does.",
            wait=_WAIT_SECONDS,
        )

    return ask(workspace, home, question, role=Role.AGENT)


def _show(answer: dict[str, Any]) -> None:
    say(f"   Handrail judges  risk {answer['risk_level']}")
    if answer["status"] == "completed":
        content = str(answer["result"]["content"])
        first = content.strip().splitlines()[0] if content.strip() else "(an empty file)"
        say("   this machine     read it in the workspace, and nowhere else")
        say(f"   the agent gets   {status('completed')}: {visible(first[:70])}")
    elif answer["error"] is not None:
        say(f"   the agent gets   {status(answer['status'])}: {visible(answer['error'])}")
    else:
        say(f"   it waits         {status(answer['status'])}: is a client connected?")

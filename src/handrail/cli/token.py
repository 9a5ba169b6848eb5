"""handrail token: list, create, rotate, revoke."""

import asyncio
import getpass
import re
import sys
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from pathlib import Path
from shlex import quote
from typing import Annotated, Any, TypeVar

import typer

from handrail.app.home import Credentials, Home
from handrail.app.places import Site
from handrail.app.settings import load_settings
from handrail.app.tokens import Issued, TokenBook, Wish, open_tokens
from handrail.cli import options
from handrail.cli.ids import find_by_end, short
from handrail.cli.output import print_json, remark, say, visible
from handrail.cli.tables import Rows
from handrail.core.access import Role, Token
from handrail.core.errors import BadInput
from handrail.core.ids import ProjectId

T = TypeVar("T")

Id = Annotated[str, typer.Argument(metavar="ID", help="The id of the token, or the end of it.")]
UserName = Annotated[
    str | None, typer.Option("--user", help="The user who owns it.", show_default="yours")
]
Expires = Annotated[
    str | None,
    typer.Option(help="How long it is valid: 45m, 12h, 30d or 8w.", show_default="no limit"),
]
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="List, create, rotate and revoke access tokens.", no_args_is_help=True)
    group.command("list")(list_)
    group.command("create")(create)
    group.command("rotate")(rotate)
    group.command("revoke")(revoke)
    app.add_typer(group, name="token")


def list_(user: UserName = None, home: options.Home = None, json: options.Json = False) -> None:
    """List a user's tokens. Their secrets are not stored, so they cannot be shown.

    For example: `handrail token list`
    """

    async def look(book: TokenBook) -> list[dict[str, Any]]:
        tokens = await book.tokens_of(await book.find_user(user or getpass.getuser()))
        return [_view(token, book) for token in tokens]

    found = _open(home, look)
    if json:
        print_json({"tokens": found, "total_count": len(found)})
        return
    rows = Rows("id", "role", "name", "made", "expires", "state")
    for one in found:
        rows.add_row(
            short(one["token_id"]),
            one["role"],
            visible(one["name"]),
            _day(one["created_at"]),
            _day(one["expires_at"]) or "never",
            one["state"],
        )
    rows.print()


def create(
    role: Annotated[Role, typer.Option(help="Who uses it.")],
    user: UserName = None,
    new_user: Annotated[
        bool, typer.Option("--new-user", help="Create the user if there is none of that name.")
    ] = False,
    name: Annotated[str | None, typer.Option(help="A name for it, such as 'my laptop'.")] = None,
    expires: Expires = None,
    project: Annotated[
        str | None, typer.Option(help="The project it is for.", show_default="this folder's")
    ] = None,
    machine: Annotated[
        str | None, typer.Option(help="For a folder on another machine: that machine's name.")
    ] = None,
    root: Annotated[str | None, typer.Option(help="The absolute path of the folder there.")] = None,
    save: Annotated[bool, typer.Option("--save", help="Also store it for this folder.")] = False,
    workspace: options.Workspace = Path(),
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Create a token. Its secret is printed once, on standard output.

    For example: `handrail token create --role agent --name "Claude on my laptop"`
    """
    lasts = read_duration(expires)
    site = None if machine is None and root is None else Site(machine or "", root or "")
    near = _near(workspace, home)

    async def make(book: TokenBook) -> Issued:
        whose = user or getpass.getuser()
        return await book.create(
            Wish(
                role=role,
                user=await (book.find_or_make_user if new_user else book.find_user)(whose),
                project_id=None if project is None else ProjectId(project),
                site=site,
                name=name,
                lasts=lasts,
                near=near,
                keep=save,
            )
        )

    issued = _open(home, make)
    _hand_over(issued, json=json)
    if role is Role.APPROVER:
        remark(
            "To sign them in with a browser, send them the link that this prints: "
            f"[bold]handrail console --approver {visible(quote(issued.token.name))}[/]"
        )
    if role is Role.CLIENT and not save:
        folder = root or "FOLDER"
        remark(
            "On that machine, with the secret in HANDRAIL_TOKEN: [bold]handrail connect "
            f"{visible(folder)} --server ADDRESS --project {issued.project_id}[/]"
        )


def rotate(
    token: Id,
    user: UserName = None,
    expires: Expires = None,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Give a token a new secret; the old one stops working.

    For example: `handrail token rotate 3f9c21ab`
    """
    lasts = read_duration(expires)

    async def exchange(book: TokenBook) -> Issued:
        return await book.rotate(await _find(book, user, token), lasts)

    _hand_over(_open(home, exchange), json=json)


def revoke(
    token: Id,
    user: UserName = None,
    yes: Annotated[bool, typer.Option("--yes", help="Revoke it without asking.")] = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Revoke a token: its connections end, and the sessions of an agent that used it stop.

    With the token of an approver, all browsers of that approver are signed out.

    For example: `handrail token revoke 3f9c21ab`
    """

    async def take_back(book: TokenBook) -> dict[str, Any]:
        found = await _find(book, user, token)
        if not yes and await book.is_last_of_person(found):
            _ask_first(found)
        await book.revoke(found)
        return _view(await _find(book, user, found.id), book)

    revoked = _open(home, take_back)
    if json:
        print_json(revoked)
    else:
        say(f"{visible(revoked['name'])} ({short(revoked['token_id'])}) is revoked.")


def read_duration(text: str | None) -> timedelta | None:
    """How long, in the words of the command line."""
    if text is None:
        return None
    fitting = re.fullmatch(r"([1-9]\d{0,4})([mhdw])", text)
    if fitting is None:
        raise BadInput(f"{text!r} is not a duration; write 45m, 12h, 30d or 8w")
    return timedelta(**{_UNITS[fitting[2]]: int(fitting[1])})


def _open(home: Path | None, use: Callable[[TokenBook], Awaitable[T]]) -> T:
    async def run() -> T:
        async with open_tokens(_home(home)) as book:
            return await use(book)

    return asyncio.run(run())


def _home(home: Path | None) -> Home:
    return Home(load_settings(home=home).home)


def _near(workspace: Path, home: Path | None) -> Credentials | None:
    """The credentials of a folder or of one above it, if there are any."""
    here = workspace.resolve()
    found = (_home(home).find_credentials(folder) for folder in (here, *here.parents))
    return next((one for one in found if one is not None), None)


async def _find(book: TokenBook, user: str | None, wanted: str) -> Token:
    tokens = await book.tokens_of(await book.find_user(user or getpass.getuser()))
    chosen = find_by_end([{"id": one.id, "token": one} for one in tokens], "id", wanted, "token")
    return chosen["token"]


def _ask_first(token: Token) -> None:
    if not sys.stdin.isatty():
        raise BadInput(f"{short(token.id)} is the user's last token; --yes revokes it anyway")
    remark("This is the user's last token: they cannot sign in until they have another.")
    typer.confirm("Revoke it?", abort=True, err=True)


def _hand_over(issued: Issued, *, json: bool) -> None:
    """The secret to standard output, so that it can be piped; all else beside it."""
    token = issued.token
    if json:
        print_json(
            {
                "token_id": token.id,
                "secret": issued.secret,
                "role": token.role,
                "name": token.name,
                "project_id": issued.project_id,
                "workspace_id": token.workspace_id,
                "expires_at": _moment(token.expires_at),
                "kept_for": issued.kept_for,
            }
        )
    else:
        typer.echo(issued.secret)
    until = f"valid until {token.expires_at:%d %b %Y %H:%M} UTC" if token.expires_at else "good"
    remark(f"{visible(token.name)} ({short(token.id)}), {until}; this secret is not shown again.")
    for folder in issued.kept_for:
        remark(f"{visible(folder)} uses it now.")


def _view(token: Token, book: TokenBook) -> dict[str, Any]:
    state = "revoked" if token.revoked_at else "good" if book.is_live(token) else "expired"
    return {
        "token_id": token.id,
        "name": token.name,
        "role": token.role,
        "subject": token.subject,
        "project_id": token.project_id,
        "workspace_id": token.workspace_id,
        "created_at": _moment(token.created_at),
        "expires_at": _moment(token.expires_at),
        "revoked_at": _moment(token.revoked_at),
        "state": state,
    }


def _moment(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()


def _day(moment: str | None) -> str:
    return "" if moment is None else moment[:16].replace("T", " ")

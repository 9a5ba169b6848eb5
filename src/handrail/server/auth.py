"""The gate: who is speaking, and may they come in here?"""

import asyncio
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from pydantic import BaseModel
from starlette.requests import HTTPConnection, Request

from handrail.core.access import Principal, Role, Token, hash_secret
from handrail.core.errors import Forbidden, NotFound, Unauthenticated
from handrail.core.ids import ProjectId
from handrail.core.ports import Clock, Store
from handrail.core.project import Project
from handrail.server.console.cookie import halves_of
from handrail.server.direct import read_body

M = TypeVar("M", bound=BaseModel)

NOT_GOOD = "this token is unknown, revoked or expired"
# How soon a token that is good no more is noticed by what is open or waits under it.
RECHECK_SECONDS = 1.0


class Channel(StrEnum):
    """By which way a person listens, as far as the server can tell."""

    CONSOLE = "console"
    TERMINAL = "terminal"
    CLIENT = "client"


@dataclass(frozen=True, slots=True)
class Entry:
    """Somebody who was let into a project, and by which token."""

    principal: Principal
    project: Project
    token_hash: str
    by_browser: bool = False

    @property
    def channel(self) -> Channel:
        if self.principal.role is Role.CLIENT:
            return Channel.CLIENT
        return Channel.CONSOLE if self.by_browser else Channel.TERMINAL

    @property
    def hears_chat(self) -> bool:
        """Conversations are the owner's, not an approver's."""
        return self.principal.role is not Role.APPROVER


class Gate:
    def __init__(self, store: Store, clock: Clock):
        self._store = store
        self._clock = clock

    async def admit(self, connection: HTTPConnection, *roles: Role) -> Entry:
        """Let the bearer of a token into the project that the address names.

        Raises:
            Unauthenticated: There is no token, or it is not good any more.
            NotFound: No such project, or not one of theirs; which of the two is not said.
            Forbidden: Theirs, but not for this role.
        """
        token = await self.identify(connection)
        principal = token.principal
        project = await self._open(principal, ProjectId(connection.path_params["project_id"]))
        if principal.role not in roles:
            allowed = " or ".join(f"{_with_article(role)}'s" for role in roles)
            own = _with_article(principal.role)
            raise Forbidden(f"{own}'s token cannot do this; use {allowed} token")
        by_browser = "authorization" not in connection.headers
        return Entry(principal, project, token.secret_hash, by_browser)

    async def hear(
        self, request: Request, model: type[M], max_bytes: int, *roles: Role, empty: M | None = None
    ) -> tuple[Entry, M]:
        """Let somebody in and read what they send.

        Whoever takes long over it may have lost their token meanwhile, and is not heard.
        """
        entry = await self.admit(request, *roles)
        now = asyncio.get_running_loop().time
        began = now()
        body = await read_body(request, model, max_bytes, empty=empty)
        if now() - began > RECHECK_SECONDS:
            await self.check_again(entry)
        return entry, body

    async def check_again(self, entry: Entry) -> None:
        """Raises Unauthenticated for somebody who would not be let in any more."""
        if not await self.is_still_good(entry):
            raise Unauthenticated(NOT_GOOD)

    async def is_still_good(self, entry: Entry) -> bool:
        """Whether somebody who was let in would be let in again."""
        token = await self._store.find_token(entry.token_hash)
        return token is not None and token.is_live(self._clock.now())

    async def identify(self, connection: HTTPConnection) -> Token:
        """The token somebody speaks with, be it sent along or kept by a browser.

        Raises:
            Unauthenticated: There is none, or it is not good any more.
        """
        scheme, _, secret = connection.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and secret:
            hashed = hash_secret(secret.strip())
        elif halves := halves_of(connection):
            hashed = halves.hashed()
        else:
            raise Unauthenticated("send a token: `Authorization: Bearer hr_…`")
        token = await self._store.find_token(hashed)
        if token is None or not token.is_live(self._clock.now()):
            raise Unauthenticated(NOT_GOOD)
        return token

    async def _open(self, principal: Principal, project_id: ProjectId) -> Project:
        project = await self._store.find_project(project_id)
        mine = project is not None and project.user_id == principal.user_id
        if project is None or not mine or principal.project_id not in (None, project_id):
            raise NotFound(f"there is no project {project_id!r} for you")
        return project


def _with_article(role: Role) -> str:
    return f"an {role}" if role in (Role.AGENT, Role.APPROVER) else f"a {role}"

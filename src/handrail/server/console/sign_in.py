"""Signing in with a browser: a link that is good once, and the token it is exchanged for."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from handrail.core.access import Role, Token, hash_secret, new_secret
from handrail.core.audit import AuditRecord
from handrail.core.change import Add, Change, RevokeToken
from handrail.core.errors import ChangeRefused, Unauthenticated
from handrail.core.ids import ProjectId, TokenId, UserId, mint
from handrail.core.ports import Clock, Store
from handrail.server.console.halves import Halves, new_halves

LINK_LASTS = timedelta(minutes=15)
SIGNED_IN_LASTS = timedelta(days=30)
TOKEN_NAME = "console"  # noqa: S105  # what the list of tokens calls it
_MOST_LINKS = 100

STALE_LINK = (
    "this link was used before, or is too old; `handrail console` on the machine of the server "
    "makes a new one"
)


@dataclass(frozen=True, slots=True)
class Link:
    """What stands behind a link; kept in memory alone, so a restart ends every link."""

    user_id: UserId
    project_id: ProjectId
    expires_at: datetime


class SignedIn(NamedTuple):
    """What a link was exchanged for."""

    token: Token
    halves: Halves
    project_id: ProjectId


class SignIns:
    """Links that were made and not used, and what they are exchanged for."""

    def __init__(self, store: Store, clock: Clock):
        self._store = store
        self._clock = clock
        self._links: dict[str, Link] = {}

    def make_link(self, user_id: UserId, project_id: ProjectId) -> tuple[str, datetime]:
        """The secret part of a new link, and until when it is good; it shows that project."""
        secret = new_secret(Role.USER)
        expires_at = self._clock.now() + LINK_LASTS
        while len(self._links) >= _MOST_LINKS:
            self._links.pop(next(iter(self._links)))
        self._links[hash_secret(secret)] = Link(user_id, project_id, expires_at)
        return secret, expires_at

    async def sign_in(self, link_secret: str) -> SignedIn:
        """Exchange a link for a token and what it is known by; nobody can do so twice.

        Raises:
            Unauthenticated: There is no such link, or none any more.
        """
        at = self._clock.now()
        link = self._links.pop(hash_secret(link_secret), None)
        if link is None or at >= link.expires_at:
            raise Unauthenticated(STALE_LINK)
        halves = new_halves()
        token = Token(
            TokenId(mint("tok", at)), halves.hashed(), Role.USER, link.user_id, link.user_id,
            None, None, TOKEN_NAME, at, at + SIGNED_IN_LASTS,
        )  # fmt: skip
        await self._store.submit(await self._change(token, "signed_in", Add(token)))
        return SignedIn(token, halves, link.project_id)

    async def sign_out(self, token: Token) -> None:
        """Let the token of a browser open nothing any more."""
        try:
            await self._store.submit(await self._change(token, "signed_out", RevokeToken(token)))
        except ChangeRefused:
            return  # Somebody has taken it back before.

    async def _change(self, token: Token, what: str, step: Add | RevokeToken) -> Change:
        """A user's token opens all their projects; the record of the first one tells of it."""
        projects = await self._store.list_projects(token.user_id)
        line = AuditRecord(f"token.{what}", token.user_id, token.id, {"name": token.name})
        return Change(projects[0].id, self._clock.now(), (step,), audit=(line,))

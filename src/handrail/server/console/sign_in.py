"""Signing in with a browser: a link that is good once, and the token it is exchanged for."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

import structlog

from handrail.core.access import Role, Token, hash_secret, new_secret
from handrail.core.audit import AuditRecord
from handrail.core.change import Add, Change, RevokeToken
from handrail.core.errors import ChangeRefused, Conflict, LinkUsed, NotFound, Unauthenticated
from handrail.core.ids import ProjectId, TokenId, UserId, mint
from handrail.core.ports import Clock, Store
from handrail.server.console.halves import Halves, new_halves

LINK_LASTS = timedelta(minutes=15)
SIGNED_IN_LASTS = timedelta(days=30)
TOKEN_NAME = "console"  # noqa: S105  # what the list of tokens calls it
_MOST_LINKS = 100

_NEW_LINK = "`handrail console` on the server's machine makes a new link"
STALE_LINK = (
    "this link is unknown or has expired: it is good once, for 15 minutes, and not after a restart "
    f"of the server; {_NEW_LINK}"
)

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Use:
    """The token that a link was exchanged for, and the browser that did so, as it describes itself.

    The description is a claim: anyone can send any User-Agent.
    """

    token: Token
    browser: str


@dataclass(slots=True)
class Link:
    """A link's owner and its use. Kept in memory only, so a restart ends every link.

    With `approver`, it signs in that approver of the project instead of its owner.

    A used link is kept after it has expired: its owner may open it late and must still learn that
    another browser was faster.
    """

    user_id: UserId
    project_id: ProjectId
    expires_at: datetime
    approver: Token | None = None
    use: Use | None = None
    was_reported: bool = False


class SignedIn(NamedTuple):
    """The result of exchanging a link."""

    token: Token
    halves: Halves
    project_id: ProjectId


class SignIns:
    """The latest links, used and unused, by the hash of their secret."""

    def __init__(self, store: Store, clock: Clock):
        self._store = store
        self._clock = clock
        self._links: dict[str, Link] = {}

    def make_link(
        self, user_id: UserId, project_id: ProjectId, approver: Token | None = None
    ) -> tuple[str, datetime]:
        """The secret part of a new link, and when it expires. It opens that project.

        Raises:
            Conflict: Too many links of this user were used since the server started.
        """
        secret = new_secret(Role.USER)
        expires_at = self._clock.now() + LINK_LASTS
        self._make_room(user_id)
        self._links[hash_secret(secret)] = Link(user_id, project_id, expires_at, approver)
        return secret, expires_at

    def _make_room(self, user_id: UserId) -> None:
        """Drop the user's oldest unused link. A used one stays: it tells of a theft."""
        own = {key: link for key, link in self._links.items() if link.user_id == user_id}
        if len(own) < _MOST_LINKS:
            return
        unused = next((key for key, link in own.items() if link.use is None), None)
        if unused is None:
            raise Conflict(
                f"{_MOST_LINKS} browsers have signed in by links since the server started; "
                "`handrail token list` shows them. Restart the server to make new links"
            )
        del self._links[unused]

    async def sign_in(
        self, link_secret: str, browser: str, known: Halves | None = None
    ) -> SignedIn:
        """Exchange a link for a token, once.

        `browser` describes the caller; `known` is the sign-in that the caller already has.

        Raises:
            Unauthenticated: The link is unknown or expired, or its own browser opens it again.
            LinkUsed: Another browser has used it.
        """
        at = self._clock.now()
        link = self._links.get(hash_secret(link_secret))
        if link is not None and link.use is not None:
            is_same = known is not None and known.hashed() == link.use.token.secret_hash
            raise Unauthenticated(STALE_LINK) if is_same else await self._report(link, link.use)
        if link is None or at >= link.expires_at:
            raise Unauthenticated(STALE_LINK)
        halves = new_halves()
        token = _browser_token(link, halves, at)
        # Before the first await: a second request must find the link used.
        link.use = Use(token, browser)
        await self._store.submit(await self._change(token, "signed_in", Add(token)))
        # Only now: whoever revokes the approver after this revokes the new token as well.
        if link.approver is not None and not await self._is_live(link.approver):
            await self._revoke(token, "signed_out")
            raise Unauthenticated(STALE_LINK)
        return SignedIn(token, halves, link.project_id)

    def find_use(self, link_hash: str, user_id: UserId) -> Use | None:
        """The use of one's own link; None if it is unused.

        Raises:
            NotFound: There is no such link, or it belongs to another user.
        """
        link = self._links.get(link_hash)
        if link is None or link.user_id != user_id:
            raise NotFound("there is no such link")
        return link.use

    async def end_sign_in(self, link_secret: str) -> None:
        """Revoke the token that a used link was exchanged for.

        The caller may be the owner of the link or a thief. Both may do this: at worst the owner
        has to sign in again.

        Raises:
            NotFound: The link was not used, or is unknown.
        """
        link = self._links.get(hash_secret(link_secret))
        if link is None or link.use is None:
            raise NotFound(
                "this server has no record of a sign-in with this link; `handrail token list` "
                "shows every "
                "sign-in, and `handrail token revoke` ends one"
            )
        await self._revoke(link.use.token, "ended_by_link")

    async def sign_out(self, token: Token) -> None:
        """Revoke the token of a browser."""
        await self._revoke(token, "signed_out")

    async def _is_live(self, token: Token) -> bool:
        found = await self._store.find_token(token.secret_hash)
        return found is not None and found.is_live(self._clock.now())

    async def _revoke(self, token: Token, what: str) -> None:
        try:
            await self._store.submit(await self._change(token, what, RevokeToken(token)))
        except ChangeRefused:
            return  # It was revoked before.

    async def _report(self, link: Link, use: Use) -> Unauthenticated | LinkUsed:
        """Tell the caller, and the first time also the log and the record, of a second use."""
        token, at = use.token, self._clock.now()
        if not link.was_reported:
            link.was_reported = True
            log.warning(
                "console.link_used_twice", user=token.user_id, token=token.id, first=use.browser
            )
            await self._store.submit(await self._change(token, "link_used_twice"))
        used = f"this link was already used, {_ago(at - token.created_at)}, {use.browser}"
        if not await self._is_live(token):
            return Unauthenticated(f"{used}; that sign-in has ended. {_NEW_LINK}")
        return LinkUsed(
            f"{used}. If that was not you, end that sign-in: here, or on the server's machine "
            f"with `handrail token revoke {token.id}`"
        )

    async def _change(self, token: Token, what: str, *steps: Add | RevokeToken) -> Change:
        """A user's token opens all of their projects; the record of the first one gets the line."""
        project_id = token.project_id or (await self._store.list_projects(token.user_id))[0].id
        line = AuditRecord(f"token.{what}", token.subject, token.id, {"name": token.name})
        return Change(project_id, self._clock.now(), steps, audit=(line,))


def _browser_token(link: Link, halves: Halves, at: datetime) -> Token:
    """A token of the link's person. It does not outlive the token of an approver."""
    token_id, ends_at = TokenId(mint("tok", at)), at + SIGNED_IN_LASTS
    if (known := link.approver) is None:
        return Token(
            token_id, halves.hashed(), Role.USER, link.user_id, link.user_id,
            None, None, TOKEN_NAME, at, ends_at,
        )  # fmt: skip
    ends_at = min(known.expires_at or ends_at, ends_at)
    return replace(
        known, id=token_id, secret_hash=halves.hashed(), created_at=at, expires_at=ends_at
    )


def _ago(passed: timedelta) -> str:
    minutes = int(passed.total_seconds()) // 60
    if minutes < 1:
        return "less than a minute ago"
    if minutes < 120:
        return f"{minutes} minute{'s' * (minutes > 1)} ago"
    return f"{minutes // 60} hours ago"

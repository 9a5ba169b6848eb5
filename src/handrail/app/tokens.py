"""TokenBook: tokens made, exchanged and taken back by whoever may open Handrail's own folder.

It opens the store beside a server that may be running; the server reads tokens afresh for every
request, and looks again after those whose streams are open.
"""

import getpass
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from handrail.app.clock import SystemClock
from handrail.app.home import Credentials, Home
from handrail.app.places import Places, Site
from handrail.app.storage import open_store
from handrail.bus.local import LocalBus
from handrail.core.access import Role, Token, hash_secret, new_secret
from handrail.core.audit import AuditRecord
from handrail.core.change import Add, Change, RevokeToken, Step, StopAgent
from handrail.core.errors import BadInput, ChangeRefused, SetupError
from handrail.core.ids import ProjectId, TokenId, UserId, mint
from handrail.core.names import shown_name
from handrail.core.ports import Clock, Store
from handrail.core.project import Project, User

_REVOKED_BEFORE = "this token is already revoked; `handrail token create` creates a new one"
# Who decides where no person does.
_OWN_NAMES = ("policy", "handrail")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a new token is to be for. Without a site, the one place that fits is meant.

    `near` are the credentials of the folder it is asked for in; with `keep` they hold it too.
    """

    role: Role
    user: User
    project_id: ProjectId | None = None
    site: Site | None = None
    name: str | None = None
    lasts: timedelta | None = None
    near: Credentials | None = None
    keep: bool = False


@dataclass(frozen=True, slots=True)
class Issued:
    """A new token with its secret, which is known here and nowhere else; and who keeps it."""

    token: Token
    secret: str
    project_id: ProjectId
    kept_for: tuple[str, ...] = ()


@asynccontextmanager
async def open_tokens(home: Home) -> AsyncGenerator["TokenBook"]:
    if not home.database.exists():
        raise SetupError(
            f"no server has run on {home.path} yet; create tokens on the machine of the server"
        )
    with home.exchanging():
        async with open_store(home, LocalBus()) as store:
            await finish_exchange(store, home)
            yield TokenBook(store, SystemClock(), home)


async def finish_exchange(store: Store, home: Home) -> None:
    """Save or drop what somebody had prepared who died before it was known which."""
    for prepared in home.prepared_credentials():
        secrets = filter(None, (prepared.user_token, prepared.client_token, prepared.agent_token))
        known = [await store.find_token(hash_secret(secret)) for secret in secrets]
        if None in known:
            home.drop_prepared(prepared)
        else:
            home.save_credentials(prepared)


class TokenBook:
    def __init__(self, store: Store, clock: Clock, home: Home):
        self._store = store
        self._clock = clock
        self._home = home
        self._places = Places(store, clock)
        self._actor = f"operator:{getpass.getuser()}"

    async def find_user(self, name: str) -> User:
        found = await self._store.find_user(name)
        if found is None:
            raise BadInput(f"there is no user {name!r}; `token create --new-user` creates one")
        return found

    async def find_or_make_user(self, name: str) -> User:
        """A user of that name; one who is new is stored with the first token."""
        at = self._clock.now()
        return await self._store.find_user(name) or User(UserId(mint("usr", at)), name, at)

    async def tokens_of(self, user: User) -> list[Token]:
        return await self._store.list_tokens(user.id)

    def is_live(self, token: Token) -> bool:
        return token.is_live(self._clock.now())

    async def is_last_of_person(self, token: Token) -> bool:
        """Whether its user could not sign in any more without this token."""
        others = await self._store.list_tokens(token.user_id)
        live = [one for one in others if one.role is Role.USER and self.is_live(one)]
        return [one.id for one in live] == [token.id]

    async def create(self, wish: Wish) -> Issued:
        """Make a token, with the user, project and workspace it needs if they are new.

        Raises:
            BadInput: It is not clear for which place it is to be, or that is not the user's.
        """
        at, near = self._clock.now(), wish.near
        place = await self._places.find(wish.user, wish.role, wish.project_id, wish.site, near)
        if wish.role is Role.APPROVER:
            await self._check_approver(wish, place.project)
        if wish.keep and (near is None or near.project_id != place.project.id):
            raise BadInput(
                "only a folder of the same project can store this token; leave out --save"
            )
        subject, others = place.seat_for(wish.role, at)
        secret = new_secret(wish.role)
        is_user = wish.role is Role.USER
        token = Token(
            TokenId(mint("tok", at)), hash_secret(secret), wish.role, subject or wish.user.id,
            wish.user.id,
            None if is_user else place.project.id,
            None if is_user or place.workspace is None else place.workspace.id,
            wish.name or f"{wish.role} of {place.project.name}", at, _end(at, wish.lasts),
        )  # fmt: skip
        steps = (*place.steps, *others, Add(token))
        lines = (*place.lines(self._actor), self._line("created", token, name=token.name))
        kept = (near.with_secret(wish.role, secret),) if wish.keep and near is not None else ()
        change = Change(place.project.id, at, steps, audit=lines)
        await self._store_and_keep(
            change, kept, "another process has just created the same; try again"
        )
        return _issued(token, secret, place.project.id, kept)

    async def rotate(self, token: Token, lasts: timedelta | None = None) -> Issued:
        """Put a new secret in the place of an old one, also in credentials that are kept here.

        Raises:
            BadInput: It was revoked: then only a new token helps.
        """
        at = self._clock.now()
        if lasts is None and token.expires_at is not None:
            lasts = token.expires_at - token.created_at
        secret = new_secret(token.role)
        fresh = replace(
            token, id=TokenId(mint("tok", at)), secret_hash=hash_secret(secret),
            created_at=at, expires_at=_end(at, lasts),
        )  # fmt: skip
        project_id = await self._project_of(token)
        line = self._line("rotated", token, successor=fresh.id)
        kept = tuple(one.with_secret(token.role, secret) for one in self._keepers(token))
        steps = (_revoking(token), Add(fresh))
        change = Change(project_id, at, steps, audit=(line,))
        await self._store_and_keep(change, kept, _REVOKED_BEFORE)
        return _issued(fresh, secret, project_id, kept)

    async def revoke(self, token: Token) -> None:
        """Let a token open nothing any more.

        With an agent's, all it has begun is stopped; with an approver's, their browsers are
        signed out.

        Raises:
            BadInput: That was so already.
        """
        steps: tuple[Step, ...] = (_revoking(token),)
        lines = [self._line("revoked", token)]
        if token.role is Role.AGENT and token.project_id is not None:
            steps = (*steps, StopAgent(token.project_id, token.subject))
            lines.append(AuditRecord("agent.stopped", self._actor, token.subject))
        project_id = await self._project_of(token)
        change = Change(project_id, self._clock.now(), steps, audit=tuple(lines))
        await self._store_and_keep(change, (), _REVOKED_BEFORE)

    async def _check_approver(self, wish: Wish, project: Project) -> None:
        """The record knows approvers by name: it must be clear who decided.

        Raises:
            BadInput: There is no name, or it stands for another.
        """
        name = wish.name or ""
        if wish.keep:
            raise BadInput("a folder does not store the token of an approver; leave out --save")
        if not name.strip() or shown_name(name) != name:
            raise BadInput("an approver needs a name of up to 100 visible characters: --name")
        taken = {
            one.name
            for one in await self._store.list_tokens(wish.user.id)
            if one.role is Role.APPROVER and one.project_id == project.id and self.is_live(one)
        }
        if name in {wish.user.name, *_OWN_NAMES, *taken}:
            raise BadInput(f"{name!r} is taken; give the approver a name that no one else has")

    async def _store_and_keep(
        self, change: Change, kept: tuple[Credentials, ...], if_refused: str
    ) -> None:
        """Prepared first, saved last: a crash in between loses neither the old nor the new."""
        for credentials in kept:
            self._home.prepare_credentials(credentials)
        try:
            await self._store.submit(change)
        except ChangeRefused as error:
            for credentials in kept:
                self._home.drop_prepared(credentials)
            raise BadInput(if_refused) from error
        for credentials in kept:
            self._home.save_credentials(credentials)

    def _keepers(self, token: Token) -> list[Credentials]:
        """The credentials of this machine that hold a token's secret."""

        def holds(one: Credentials) -> bool:
            secrets = (one.user_token, one.client_token, one.agent_token)
            return token.secret_hash in map(hash_secret, secrets)

        return [one for one in self._home.all_credentials() if holds(one)]

    async def _project_of(self, token: Token) -> ProjectId:
        """Whose record tells of it: a user's token opens all their projects, so the first one's."""
        if token.project_id is not None:
            return token.project_id
        return (await self._store.list_projects(token.user_id))[0].id

    def _line(self, what: str, token: Token, **details: str) -> AuditRecord:
        known = {"role": token.role, "subject": token.subject, **details}
        return AuditRecord(f"token.{what}", self._actor, token.id, known)


def _revoking(token: Token) -> RevokeToken:
    """An approver's browsers have tokens of their own, which end with the approver's."""
    return RevokeToken(token, all_of_subject=token.role is Role.APPROVER)


def _end(at: datetime, lasts: timedelta | None) -> datetime | None:
    return None if lasts is None else at + lasts


def _issued(
    token: Token, secret: str, project_id: ProjectId, kept: tuple[Credentials, ...]
) -> Issued:
    return Issued(token, secret, project_id, tuple(one.workspace for one in kept))

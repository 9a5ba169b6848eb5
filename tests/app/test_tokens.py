"""Whoever may open Handrail's own folder makes tokens, exchanges them and takes them back."""

import getpass
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from handrail.app.enrol import enrol
from handrail.app.home import Credentials, Home
from handrail.app.places import Site
from handrail.app.storage import open_store
from handrail.app.tokens import Issued, TokenBook, Wish, finish_exchange, open_tokens
from handrail.bus.local import LocalBus
from handrail.core.access import Role, Token, hash_secret, new_secret
from handrail.core.audit import find_break
from handrail.core.change import Change
from handrail.core.errors import BadInput, SetupError
from handrail.core.ids import ProjectId
from handrail.core.ports import Store
from handrail.server.console.sign_in import SignIns
from handrail.testing import FakeClock

SERVER = "http://127.0.0.1:8000"
LAPTOP = Site("laptop", "/home/bob/shop")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
async def store(home: Home) -> AsyncGenerator[Store]:
    async with open_store(home, LocalBus()) as opened:
        yield opened


@pytest.fixture
async def known(store: Store, clock: FakeClock, home: Home, workspace: Path) -> Credentials:
    return await enrol(store, clock, home, workspace, SERVER)


@pytest.fixture
def book(store: Store, clock: FakeClock, home: Home, known: Credentials) -> TokenBook:
    return TokenBook(store, clock, home)


async def own(book: TokenBook, role: Role) -> Token:
    tokens = await book.tokens_of(await book.find_user(getpass.getuser()))
    (found,) = [token for token in tokens if token.role is role and book.is_live(token)]
    return found


async def find(store: Store, secret: str) -> Token:
    found = await store.find_token(hash_secret(secret))
    assert found is not None
    return found


async def actions(store: Store, project_id: str) -> list[str]:
    lines = await store.read_audit(ProjectId(project_id), after=0, limit=99)
    assert find_break(lines) is None
    return [line.action for line in lines]


async def test_a_new_agent_is_an_agent_of_its_own_in_the_same_place(
    book: TokenBook, store: Store, known: Credentials
) -> None:
    first = await own(book, Role.AGENT)
    user = await book.find_user(getpass.getuser())

    issued = await book.create(
        Wish(role=Role.AGENT, user=user, name="night shift", lasts=timedelta(days=30), near=known)
    )

    made = await find(store, issued.secret)
    assert made == issued.token
    assert (made.name, made.project_id) == ("night shift", first.project_id)
    assert (made.workspace_id, made.user_id) == (first.workspace_id, first.user_id)
    assert made.subject != first.subject
    assert made.expires_at == made.created_at + timedelta(days=30)
    assert await actions(store, known.project_id) == ["project.created", "token.created"]


async def test_the_first_token_of_a_new_user_brings_their_project_and_machine(
    book: TokenBook, store: Store, known: Credentials
) -> None:
    bob = await book.find_or_make_user("bob")
    issued = await book.create(Wish(role=Role.CLIENT, user=bob, site=LAPTOP, near=known))

    (project,) = await store.list_projects(bob.id)
    (workspace,) = await store.list_workspaces(project.id)
    (client,) = await store.list_clients(project.id)
    assert (project.name, issued.project_id) == ("shop", project.id)
    assert (workspace.machine, workspace.root) == ("laptop", "/home/bob/shop")
    assert (await find(store, issued.secret)).subject == client.id
    assert await actions(store, project.id) == ["project.created", "token.created"]
    assert await actions(store, known.project_id) == ["project.created"]

    again = await book.create(
        Wish(role=Role.AGENT, user=await book.find_user("bob"), site=LAPTOP, near=known)
    )
    assert again.token.workspace_id == workspace.id
    assert len(await store.list_projects(bob.id)) == 1


@pytest.mark.parametrize("role", [Role.CLIENT, Role.AGENT])
async def test_a_token_for_no_place_in_particular_is_not_made(
    book: TokenBook, store: Store, role: Role
) -> None:
    bob = await book.find_or_make_user("bob")

    with pytest.raises(BadInput, match="--machine and --root"):
        await book.create(Wish(role=role, user=bob))

    assert await store.find_user("bob") is None


async def test_nobody_gets_a_token_for_the_project_of_another(
    book: TokenBook, known: Credentials
) -> None:
    bob = await book.find_or_make_user("bob")
    await book.create(Wish(role=Role.USER, user=bob))

    for project_id in (known.project_id, "prj_none"):
        with pytest.raises(BadInput, match=f"bob has no project '{project_id}'"):
            await book.create(
                Wish(role=Role.AGENT, user=bob, project_id=ProjectId(project_id), site=LAPTOP)
            )


@pytest.mark.parametrize(("machine", "root"), [("", "/x"), ("laptop", ""), ("laptop", "x/y")])
def test_a_site_is_a_machine_and_a_whole_path(machine: str, root: str) -> None:
    with pytest.raises(BadInput, match="belong together"):
        Site(machine, root)


@pytest.mark.parametrize("role", [Role.USER, Role.CLIENT, Role.AGENT])
async def test_an_exchange_takes_the_old_secret_away_and_keeps_the_new_one_here(
    book: TokenBook, store: Store, home: Home, known: Credentials, workspace: Path, role: Role
) -> None:
    old = await own(book, role)

    issued = await book.rotate(old)

    assert not book.is_live(await find(store, known.token_for(role)))
    fresh = await find(store, issued.secret)
    assert replace(fresh, id=old.id, secret_hash=old.secret_hash) == old
    assert home.find_credentials(workspace) == known.with_secret(role, issued.secret)
    assert issued.kept_for == (str(workspace),)
    assert home.prepared_credentials() == []
    assert await actions(store, known.project_id) == ["project.created", "token.rotated"]


async def test_an_exchanged_token_lasts_as_long_as_the_old_one_did(
    book: TokenBook, clock: FakeClock, known: Credentials
) -> None:
    user = await book.find_user(getpass.getuser())
    week = timedelta(weeks=1)
    first = await book.create(Wish(role=Role.AGENT, user=user, lasts=week, near=known))
    clock.advance(3600)

    second = await book.rotate(first.token)
    third = await book.rotate(second.token, timedelta(hours=1))

    assert second.token.expires_at == clock.now() + week
    assert third.token.expires_at == clock.now() + timedelta(hours=1)
    assert (second.kept_for, second.token.subject) == ((), first.token.subject)


async def test_what_was_revoked_is_not_exchanged_and_nothing_stays_prepared(
    book: TokenBook, home: Home, known: Credentials, workspace: Path
) -> None:
    token = await own(book, Role.CLIENT)
    await book.revoke(token)

    for attempt in (book.rotate, book.revoke):
        with pytest.raises(BadInput, match="already revoked"):
            await attempt(token)

    assert home.find_credentials(workspace) == known
    assert home.prepared_credentials() == []


class Dying(Exception):
    pass


class DiesAfter:
    """A store whose process dies right before or right after a change has become durable."""

    def __init__(self, store: Store, *, stored: bool):
        self._store = store
        self._stored = stored

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    async def submit(self, change: Change) -> None:
        if self._stored:
            await self._store.submit(change)
        raise Dying


@pytest.mark.parametrize("stored", [True, False], ids=["after storing", "before storing"])
async def test_a_crash_amid_an_exchange_locks_nobody_out(
    store: Store, clock: FakeClock, home: Home, known: Credentials, workspace: Path, stored: bool
) -> None:
    dying = TokenBook(DiesAfter(store, stored=stored), clock, home)  # pyright: ignore[reportArgumentType]
    with pytest.raises(Dying):
        await dying.rotate(await own(dying, Role.CLIENT))

    found = await enrol(store, clock, home, workspace, SERVER)

    assert (await find(store, found.client_token)).is_live(clock.now())
    assert (found == known) is not stored
    assert found.project_id == known.project_id
    assert home.prepared_credentials() == []


async def test_what_was_prepared_for_a_database_that_is_gone_is_dropped(
    store: Store, home: Home, known: Credentials, workspace: Path
) -> None:
    home.prepare_credentials(known.with_secret(Role.AGENT, new_secret(Role.AGENT)))

    await finish_exchange(store, home)

    assert home.find_credentials(workspace) == known
    assert home.prepared_credentials() == []


async def test_a_token_can_take_the_place_of_one_that_was_revoked(
    book: TokenBook, store: Store, home: Home, known: Credentials, workspace: Path
) -> None:
    await book.revoke(await own(book, Role.CLIENT))
    user = await book.find_user(getpass.getuser())

    issued = await book.create(Wish(role=Role.CLIENT, user=user, near=known, keep=True))

    assert home.find_credentials(workspace) == known.with_secret(Role.CLIENT, issued.secret)
    assert book.is_live(await find(store, issued.secret))


async def test_a_folder_keeps_no_token_of_another_project(
    book: TokenBook, known: Credentials
) -> None:
    bob = await book.find_or_make_user("bob")

    with pytest.raises(BadInput, match="leave out --save"):
        await book.create(Wish(role=Role.CLIENT, user=bob, site=LAPTOP, near=known, keep=True))


async def test_a_persons_last_token_is_known_to_be_the_last(
    book: TokenBook, known: Credentials
) -> None:
    first = await own(book, Role.USER)
    assert await book.is_last_of_person(first)
    assert not await book.is_last_of_person(await own(book, Role.AGENT))

    user = await book.find_user(getpass.getuser())
    second = await book.create(Wish(role=Role.USER, user=user, near=known))
    assert not await book.is_last_of_person(first)

    await book.revoke(first)
    assert await book.is_last_of_person(second.token)
    assert not await book.is_last_of_person(first)


async def test_no_part_of_a_secret_is_stored(book: TokenBook, home: Home, store: Store) -> None:
    issued = await book.create(Wish(role=Role.USER, user=await book.find_or_make_user("bob")))

    kept = b"".join(path.read_bytes() for path in home.path.glob("handrail.db*"))
    assert issued.secret.encode() not in kept
    assert issued.secret[-12:].encode() not in kept


async def test_without_a_server_there_are_no_tokens(home: Home) -> None:
    with pytest.raises(SetupError, match="no server has run"):
        async with open_tokens(home):
            pass
    assert not home.path.exists()


async def name_approver(book: TokenBook, known: Credentials, name: str | None) -> Issued:
    user = await book.find_user(getpass.getuser())
    return await book.create(Wish(role=Role.APPROVER, user=user, name=name, near=known))


async def test_an_approver_is_a_person_of_one_project_and_of_no_folder(
    book: TokenBook, store: Store, known: Credentials
) -> None:
    issued = await name_approver(book, known, "Ana")

    made = await find(store, issued.secret)
    assert (made.role, made.name, made.project_id) == (Role.APPROVER, "Ana", known.project_id)
    assert (made.workspace_id, made.subject[:4]) == (None, "apv_")
    assert (await store.list_names(ProjectId(known.project_id)))[made.subject] == "Ana"


@pytest.mark.parametrize(
    "name", [None, "", "  ", "Ana\u202e", "x" * 200, "policy", "handrail", getpass.getuser(), "Ana"]
)
async def test_the_name_of_an_approver_stands_for_no_other(
    book: TokenBook, known: Credentials, name: str | None
) -> None:
    await name_approver(book, known, "Ana")

    with pytest.raises(BadInput, match=r"needs a name|is taken"):
        await name_approver(book, known, name)


@pytest.mark.parametrize("how", ["rotate", "revoke"])
async def test_the_browsers_of_an_approver_end_with_their_token(
    book: TokenBook, store: Store, clock: FakeClock, known: Credentials, how: str
) -> None:
    issued = await name_approver(book, known, "Ana")
    other = await name_approver(book, known, "Ben")
    sign_ins = SignIns(store, clock)
    link, _ = sign_ins.make_link(issued.token.user_id, ProjectId(known.project_id), issued.token)
    browser = (await sign_ins.sign_in(link, "from 127.0.0.1 by Firefox")).token

    await (book.rotate(issued.token) if how == "rotate" else book.revoke(issued.token))

    for token, is_live in ((issued.token, False), (browser, False), (other.token, True)):
        found = await store.find_token(token.secret_hash)
        assert found is not None
        assert book.is_live(found) is is_live


async def test_no_folder_stores_the_token_of_an_approver(
    book: TokenBook, known: Credentials
) -> None:
    user = await book.find_user(getpass.getuser())

    with pytest.raises(BadInput, match="leave out --save"):
        await book.create(Wish(role=Role.APPROVER, user=user, name="Ana", near=known, keep=True))

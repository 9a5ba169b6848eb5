"""A link signs one browser in, once and soon; and a browser can sign out again."""

import asyncio
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from handrail.core.access import Role, hash_secret
from handrail.core.errors import Conflict, LinkUsed, NotFound, Unauthenticated
from handrail.core.ids import UserId
from handrail.server.console.sign_in import LINK_LASTS, SIGNED_IN_LASTS, SignIns, Use
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household

FIREFOX = "from 127.0.0.1 by Firefox"
CURL = "from 127.0.0.1 by curl"


@pytest.fixture
def sign_ins(store: SqliteStore, clock: FakeClock) -> SignIns:
    return SignIns(store, clock)


async def actions(store: SqliteStore, household: Household) -> list[str]:
    lines = await store.read_audit(household.project.id, after=0, limit=100)
    return [line.action for line in lines]


async def test_a_link_is_exchanged_for_a_token_of_its_person(
    sign_ins: SignIns, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    link, expires_at = sign_ins.make_link(household.user.user_id, household.project.id)

    token, halves, project_id = await sign_ins.sign_in(link, FIREFOX)

    assert (token.role, token.user_id, token.project_id) == (
        Role.USER,
        household.user.user_id,
        None,
    )
    assert token.expires_at == clock.now() + SIGNED_IN_LASTS
    assert expires_at == clock.now() + LINK_LASTS
    assert project_id == household.project.id
    assert await store.find_token(halves.hashed()) == token
    for half in (halves.cookie, halves.page):
        assert await store.find_token(hash_secret(half)) is None


async def test_a_second_use_is_told_of_the_first_and_how_to_end_it(
    sign_ins: SignIns, household: Household, clock: FakeClock
) -> None:
    link, _ = sign_ins.make_link(household.user.user_id, household.project.id)
    stolen = await sign_ins.sign_in(link, CURL)
    # The owner may come late; the message must not become "expired".
    clock.advance(LINK_LASTS.total_seconds() + 60)

    with pytest.raises(LinkUsed) as caught:
        await sign_ins.sign_in(link, FIREFOX)

    assert caught.value.message == (
        f"this link was already used, 16 minutes ago, {CURL}. If that was not you, end that "
        "sign-in: here, or on the server's machine with "
        f"`handrail token revoke {stolen.token.id}`"
    )


async def test_of_two_requests_at_once_one_signs_in_and_the_other_is_told(
    sign_ins: SignIns, household: Household
) -> None:
    link, _ = sign_ins.make_link(household.user.user_id, household.project.id)

    first, second = await asyncio.gather(
        sign_ins.sign_in(link, CURL), sign_ins.sign_in(link, FIREFOX), return_exceptions=True
    )

    assert not isinstance(first, BaseException)
    assert isinstance(second, LinkUsed)


async def test_the_browser_that_used_a_link_may_open_it_again_without_an_alarm(
    sign_ins: SignIns, household: Household, store: SqliteStore
) -> None:
    link, _ = sign_ins.make_link(household.user.user_id, household.project.id)
    mine = await sign_ins.sign_in(link, FIREFOX)

    with pytest.raises(Unauthenticated):
        await sign_ins.sign_in(link, FIREFOX, mine.halves)

    assert "token.link_used_twice" not in await actions(store, household)


async def test_the_holder_of_a_used_link_ends_the_sign_in_it_made_and_no_other(
    sign_ins: SignIns, household: Household, store: SqliteStore, clock: FakeClock
) -> None:
    link, other = (
        sign_ins.make_link(household.user.user_id, household.project.id)[0] for _ in range(2)
    )
    stolen, mine = await sign_ins.sign_in(link, CURL), await sign_ins.sign_in(other, FIREFOX)

    await sign_ins.end_sign_in(link)
    await sign_ins.end_sign_in(link)

    for token, is_live in ((stolen.token, False), (mine.token, True)):
        found = await store.find_token(token.secret_hash)
        assert found is not None
        assert found.is_live(clock.now()) is is_live
    assert (await actions(store, household))[-1] == "token.ended_by_link"
    with pytest.raises(Unauthenticated, match="that sign-in has ended"):
        await sign_ins.sign_in(link, FIREFOX)


async def test_a_link_that_nobody_used_ends_nothing_and_stays_good(
    sign_ins: SignIns, household: Household
) -> None:
    link, _ = sign_ins.make_link(household.user.user_id, household.project.id)

    for bad in (link, "guess"):
        with pytest.raises(NotFound, match="handrail token list"):
            await sign_ins.end_sign_in(bad)

    await sign_ins.sign_in(link, FIREFOX)


async def test_the_log_and_the_record_tell_of_a_second_use_once(
    sign_ins: SignIns, household: Household, store: SqliteStore
) -> None:
    link, _ = sign_ins.make_link(household.user.user_id, household.project.id)
    stolen = await sign_ins.sign_in(link, CURL)

    with capture_logs() as logged:
        for _ in range(3):
            with pytest.raises(LinkUsed):
                await sign_ins.sign_in(link, FIREFOX)

    assert logged == [
        {
            "event": "console.link_used_twice",
            "log_level": "warning",
            "user": household.user.user_id,
            "token": stolen.token.id,
            "first": CURL,
        }
    ]
    assert (await actions(store, household)).count("token.link_used_twice") == 1


async def test_only_its_owner_can_ask_whether_a_link_was_used(
    sign_ins: SignIns, household: Household
) -> None:
    me = household.user.user_id
    link, _ = sign_ins.make_link(me, household.project.id)

    before = sign_ins.find_use(hash_secret(link), me)
    signed_in = await sign_ins.sign_in(link, FIREFOX)

    assert before is None
    assert sign_ins.find_use(hash_secret(link), me) == Use(signed_in.token, FIREFOX)
    for known, user in ((hash_secret(link), UserId("usr_other")), (hash_secret("guess"), me)):
        with pytest.raises(NotFound):
            sign_ins.find_use(known, user)


async def test_a_link_is_good_for_a_while_only(
    sign_ins: SignIns, household: Household, clock: FakeClock
) -> None:
    link, _ = sign_ins.make_link(household.user.user_id, household.project.id)
    clock.advance(LINK_LASTS.total_seconds())

    with pytest.raises(Unauthenticated, match="handrail console"):
        await sign_ins.sign_in(link, FIREFOX)


async def test_links_do_not_pile_up(sign_ins: SignIns, household: Household) -> None:
    first, _ = sign_ins.make_link(household.user.user_id, household.project.id)
    links = [
        sign_ins.make_link(household.user.user_id, household.project.id)[0] for _ in range(100)
    ]

    with pytest.raises(Unauthenticated):
        await sign_ins.sign_in(first, FIREFOX)
    await sign_ins.sign_in(links[0], FIREFOX)


async def test_a_thief_cannot_make_a_used_link_forgotten(
    sign_ins: SignIns, household: Household
) -> None:
    person = (household.user.user_id, household.project.id)
    stolen, _ = sign_ins.make_link(*person)
    await sign_ins.sign_in(stolen, CURL)

    for _ in range(250):
        sign_ins.make_link(*person)
    for _ in range(99):
        await sign_ins.sign_in(sign_ins.make_link(*person)[0], CURL)
    with pytest.raises(Conflict, match="100 browsers have signed in by links"):
        sign_ins.make_link(*person)

    with pytest.raises(LinkUsed):
        await sign_ins.sign_in(stolen, FIREFOX)
    await sign_ins.end_sign_in(stolen)


async def test_who_signs_out_opens_nothing_any_more_and_may_do_so_twice(
    sign_ins: SignIns, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    token, halves, _ = await sign_ins.sign_in(
        sign_ins.make_link(household.user.user_id, household.project.id)[0], FIREFOX
    )

    await sign_ins.sign_out(token)
    await sign_ins.sign_out(token)

    found = await store.find_token(halves.hashed())
    assert found is not None
    assert not found.is_live(clock.now() + timedelta(seconds=1))


async def test_the_record_tells_of_both(
    sign_ins: SignIns, store: SqliteStore, household: Household
) -> None:
    token, _, _ = await sign_ins.sign_in(
        sign_ins.make_link(household.user.user_id, household.project.id)[0], FIREFOX
    )
    await sign_ins.sign_out(token)

    lines = await store.read_audit(household.project.id, after=0, limit=100)
    told = [(line.action, line.subject) for line in lines][-2:]
    assert told == [("token.signed_in", token.id), ("token.signed_out", token.id)]

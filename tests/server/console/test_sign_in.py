"""A link signs one browser in, once and soon; and a browser can sign out again."""

from datetime import timedelta

import pytest

from handrail.core.access import Role, hash_secret
from handrail.core.errors import Unauthenticated
from handrail.server.console.sign_in import LINK_LASTS, SIGNED_IN_LASTS, SignIns
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household


@pytest.fixture
def sign_ins(store: SqliteStore, clock: FakeClock) -> SignIns:
    return SignIns(store, clock)


async def test_a_link_is_exchanged_for_a_token_of_its_person(
    sign_ins: SignIns, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    link, expires_at = sign_ins.make_link(household.user.user_id, household.project.id)

    token, halves, project_id = await sign_ins.sign_in(link)

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


async def test_a_link_is_good_once(sign_ins: SignIns, household: Household) -> None:
    link, _ = sign_ins.make_link(household.user.user_id, household.project.id)
    await sign_ins.sign_in(link)

    with pytest.raises(Unauthenticated, match="used before, or is too old"):
        await sign_ins.sign_in(link)


async def test_a_link_is_good_for_a_while_only(
    sign_ins: SignIns, household: Household, clock: FakeClock
) -> None:
    link, _ = sign_ins.make_link(household.user.user_id, household.project.id)
    clock.advance(LINK_LASTS.total_seconds())

    with pytest.raises(Unauthenticated, match="handrail console"):
        await sign_ins.sign_in(link)


async def test_links_do_not_pile_up(sign_ins: SignIns, household: Household) -> None:
    first, _ = sign_ins.make_link(household.user.user_id, household.project.id)
    links = [
        sign_ins.make_link(household.user.user_id, household.project.id)[0] for _ in range(100)
    ]

    with pytest.raises(Unauthenticated):
        await sign_ins.sign_in(first)
    await sign_ins.sign_in(links[0])


async def test_who_signs_out_opens_nothing_any_more_and_may_do_so_twice(
    sign_ins: SignIns, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    token, halves, _ = await sign_ins.sign_in(
        sign_ins.make_link(household.user.user_id, household.project.id)[0]
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
        sign_ins.make_link(household.user.user_id, household.project.id)[0]
    )
    await sign_ins.sign_out(token)

    lines = await store.read_audit(household.project.id, after=0, limit=100)
    told = [(line.action, line.subject) for line in lines][-2:]
    assert told == [("token.signed_in", token.id), ("token.signed_out", token.id)]

"""Every event once, in order, to whom it concerns, from where they stood."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from typing import Any

import pytest

from handrail.core.access import Role, hash_secret
from handrail.core.change import Change, ForgetEvents, RemoveCalls
from handrail.core.digest import digest_call
from handrail.core.ids import ExecutionId
from handrail.core.verdict import Plan
from handrail.server import frames
from handrail.server.audience import Audiences
from handrail.server.auth import Entry, Gate
from handrail.server.services import Services
from handrail.server.sse import EventStream
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from handrail.wire.rendering import render
from tests.conftest import Household, settle_in
from tests.contracts.conftest import a_call, opening
from tests.server.conftest import (
    Caller,
    Listener,
    a_body,
    a_result,
    add_machine,
    ask_to_read,
    base,
    report,
    until,
)
from tests.server.routes.test_stops import cancel


async def read_again(
    caller: Caller, home: Household, token: str, count: int, last_event_id: int
) -> list[tuple[int, str, dict[str, Any]]]:
    async with caller.listen(home, token, last_event_id) as stream:
        return [await stream.event() for _ in range(count)]


@asynccontextmanager
async def a_stream(
    services: Services, home: Household, last_event_id: int | None = None
) -> AsyncGenerator[AsyncGenerator[bytes]]:
    """A stream of a person, read as slowly as the test likes."""
    entry = Entry(home.user, home.project, hash_secret(home.secrets[Role.USER]))
    audiences = Audiences(services, Gate(services.store, services.clock))
    async with (
        audiences.running(),
        aclosing(EventStream(services, audiences, entry, last_event_id).frames()) as stream,
    ):
        yield stream


async def test_a_stream_begins_with_a_greeting_and_is_kept_by_nobody(
    caller: Caller, household: Household
) -> None:
    async with caller.listen(household, household.secrets[Role.USER]) as stream:
        headers = stream.response.headers

    assert headers["content-type"].startswith("text/event-stream")
    assert headers["cache-control"] == "no-store"


async def test_a_live_signal_brings_the_client_all_it_needs(
    caller: Caller, household: Household
) -> None:
    async with caller.listen(household, household.secrets[Role.CLIENT]) as stream:
        answer = await caller.ask(
            "POST",
            f"{base(household)}/tools/execute",
            household.secrets[Role.AGENT],
            json=a_body(path="token=open-sesame"),
        )
        number, name, signal = await stream.event()

    salt = household.project.digest_salt
    plan = Plan(paths=("token=open-sesame",))
    assert (number, name) == (1, "tool.execution_signal")
    assert signal == {
        "tool_id": answer.body["tool_id"],
        "session_id": "session-1",
        "tool_name": "read_file",
        "tool_params": {"path": "token=open-sesame"},
        "digest": digest_call(salt, "read_file", '{"path":"token=open-sesame"}', plan),
        "salt": salt,
        "epoch": 1,
        "status": "executing",
        "risk_level": "LOW",
        "surveyed": False,
        "replayed": False,
        "execution_context": {
            "approved": True,
            "approved_by": "policy",
            "scope": "once",
            "autonomy": "supervised",
            "by_person": False,
        },
        "timestamp": "2026-01-01T00:00:00Z",
    }


async def test_a_signal_reaches_one_client_and_the_person_hears_of_it(
    caller: Caller, store: SqliteStore, household: Household
) -> None:
    _, token = await add_machine(store, household)
    secrets = household.secrets
    async with (
        caller.listen(household, secrets[Role.CLIENT]) as here,
        caller.listen(household, token) as there,
        caller.listen(household, secrets[Role.USER]) as person,
    ):
        tool_id = await ask_to_read(caller, household)
        assert await here.told(1) == [(1, "tool.execution_signal", tool_id)]
        assert await person.event() == (
            1,
            "tool.status",
            {
                "tool_id": tool_id,
                "tool_name": "read_file",
                "status": "executing",
                "timestamp": "2026-01-01T00:00:00Z",
            },
        )
        await report(caller, household, tool_id)
        assert await here.event() == (
            2,
            "tool.result_ack",
            {
                "tool_id": tool_id,
                "status": "received",
                "receipt_status": "processed",
                "message": "Tool result processed",
                "timestamp": "2026-01-01T00:00:00Z",
            },
        )
        number, name, change = await person.event()
        assert (number, name, change["status"]) == (2, "tool.status", "completed")
        # The other machine was told nothing so far: the next it hears is a refusal, number 3.
        refused = await caller.ask(
            "POST",
            f"{base(household)}/tools/execute",
            secrets[Role.AGENT],
            json=a_body("call-2", path=".env"),
        )
        for stream in (here, there, person):
            number, name, change = await stream.event()
            assert (number, name) == (3, "tool.status")
            assert (change["tool_id"], change["status"]) == (refused.body["tool_id"], "failed")


async def test_what_waited_is_offered_to_a_client_that_comes(
    caller: Caller, household: Household
) -> None:
    waiting = [await ask_to_read(caller, household, f"call-{number}") for number in range(3)]

    async with caller.listen(household, household.secrets[Role.CLIENT]) as stream:
        signals = [await stream.event() for _ in waiting]

    assert [(number, data["tool_id"]) for number, _, data in signals] == [
        (number, tool_id) for number, tool_id in enumerate(waiting, start=4)
    ]
    assert [(data["replayed"], data["epoch"]) for _, _, data in signals] == [(False, 1)] * 3


async def test_a_stream_goes_on_after_the_last_event_without_loss_or_repeat(
    caller: Caller, household: Household
) -> None:
    token = household.secrets[Role.USER]
    made = [await ask_to_read(caller, household, f"call-{number}") for number in range(6)]

    for last in range(7):
        async with caller.listen(household, token, last) as stream:
            told = await stream.told(len(made) - last)
            # Nothing is repeated: the next event is the next that happens.
            made.append(await ask_to_read(caller, household, f"later-{last}"))
            told += await stream.told(1)
        assert told == [
            (number, "tool.status", tool_id)
            for number, tool_id in enumerate(made, start=1)
            if number > last
        ]


async def test_that_a_report_was_turned_away_is_told_to_its_client_alone(
    caller: Caller, household: Household
) -> None:
    person, client = household.secrets[Role.USER], household.secrets[Role.CLIENT]
    async with (
        caller.listen(household, client) as machine,
        caller.listen(household, person) as screen,
    ):
        tool_id = await ask_to_read(caller, household)
        await report(caller, household, tool_id)
        refused = await report(caller, household, tool_id, a_result("something else"))
        later = await ask_to_read(caller, household, "call-2")
        heard = [await machine.event() for _ in range(4)]
        seen = await screen.told(3)

    assert refused.status == 409
    receipts = [(number, data.get("receipt_status")) for number, _, data in heard]
    assert receipts == [(1, None), (2, "processed"), (3, "rejected"), (4, None)]
    # The numbers of a listener can skip some, and none of those is missing.
    told = [(1, "tool.status", tool_id), (2, "tool.status", tool_id), (4, "tool.status", later)]
    assert seen == told
    async with caller.listen(household, person, last_event_id=2) as screen:
        assert await screen.told(1) == told[2:]


async def test_who_listened_to_another_life_of_this_server_is_told_to_look_anew(
    caller: Caller, household: Household
) -> None:
    await ask_to_read(caller, household, "call-1")

    async with caller.listen(household, household.secrets[Role.USER], 999) as stream:
        later = await ask_to_read(caller, household, "call-2")
        assert await stream.told(2) == [(1, "stream.reset", None), (2, "tool.status", later)]


async def test_without_a_last_event_only_what_comes_is_told(
    caller: Caller, household: Household
) -> None:
    await ask_to_read(caller, household, "call-1")

    async with caller.listen(household, household.secrets[Role.USER]) as stream:
        later = await ask_to_read(caller, household, "call-2")
        assert await stream.told(1) == [(2, "tool.status", later)]


async def test_a_long_gap_is_filled_in_one_go(caller: Caller, household: Household) -> None:
    count = 40
    async with caller.listen(household, household.secrets[Role.CLIENT]) as stream:
        made = await asyncio.gather(
            *(ask_to_read(caller, household, f"call-{number}") for number in range(count))
        )
        live = await stream.told(count)

    told = await read_again(caller, household, household.secrets[Role.USER], count, 0)
    assert [number for number, _, _ in live] == list(range(1, count + 1))
    assert sorted(str(tool_id) for _, _, tool_id in live) == sorted(made)
    assert [(number, data["tool_id"]) for number, _, data in told] == [
        (number, tool_id) for number, _, tool_id in live
    ]


async def test_a_signal_given_anew_takes_the_place_of_the_earlier_one(
    caller: Caller, household: Household
) -> None:
    token = household.secrets[Role.CLIENT]
    async with caller.listen(household, token) as stream:
        tool_id = await ask_to_read(caller, household)
        _, _, first = await stream.event()

    (anew,) = await read_again(caller, household, token, 1, 0)

    # The first one would be told in vain: nothing that is replayed executes anything.
    assert (anew[0], anew[1]) == (2, "tool.execution_signal")
    assert anew[2] == first | {"epoch": 2}
    assert first["tool_id"] == tool_id


async def test_the_parameters_of_what_has_ended_are_never_told_again(
    caller: Caller, household: Household
) -> None:
    token = household.secrets[Role.CLIENT]
    async with caller.listen(household, token) as stream:
        tool_id = await ask_to_read(caller, household)
        await stream.event()
        await report(caller, household, tool_id)
        await stream.event()

    told = await read_again(caller, household, token, 2, 0)

    assert [name for _, name, _ in told] == ["tool.execution_signal", "tool.result_ack"]
    assert (told[0][2]["replayed"], told[0][2]["tool_params"]) == (True, None)


async def test_another_projects_events_are_never_told(
    caller: Caller, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    async with (
        caller.listen(household, household.secrets[Role.CLIENT]) as client,
        caller.listen(household, household.secrets[Role.USER]) as person,
        caller.listen(neighbour, neighbour.secrets[Role.CLIENT]) as elsewhere,
    ):
        foreign = [await ask_to_read(caller, neighbour, f"call-{n}") for n in range(3)]
        mine = await ask_to_read(caller, household)

        assert await client.told(1) == [(1, "tool.execution_signal", mine)]
        assert await person.told(1) == [(1, "tool.status", mine)]
        assert [tool_id for _, _, tool_id in await elsewhere.told(3)] == foreign


async def test_a_second_stream_of_the_same_client_ends_the_first(
    caller: Caller, services: Services, household: Household
) -> None:
    token = household.secrets[Role.CLIENT]
    async with (
        caller.listen(household, token) as first,
        caller.listen(household, token) as second,
    ):
        assert await first.read() is None
        tool_id = await ask_to_read(caller, household)
        assert await second.told(1) == [(1, "tool.execution_signal", tool_id)]
        assert services.connections.connected == {household.client_id}


async def test_several_streams_of_one_person_tell_the_same(
    caller: Caller, household: Household
) -> None:
    token = household.secrets[Role.USER]
    async with (
        caller.listen(household, token) as one,
        caller.listen(household, token) as other,
    ):
        tool_id = await ask_to_read(caller, household)

        assert await one.told(1) == await other.told(1) == [(1, "tool.status", tool_id)]


async def test_a_client_whose_line_breaks_is_no_longer_there(
    caller: Caller, services: Services, household: Household
) -> None:
    async with caller.listen(household, household.secrets[Role.CLIENT]):
        assert services.connections.connected == {household.client_id}

    async def gone() -> bool:
        return not services.connections.connected

    await until(gone)


async def test_a_vanished_clients_call_is_signalled_to_another(
    caller: Caller, store: SqliteStore, household: Household
) -> None:
    _, token = await add_machine(store, household)
    async with (
        caller.listen(household, token) as there,
        caller.listen(household, household.secrets[Role.CLIENT]) as here,
    ):
        tool_id = await ask_to_read(caller, household)
        assert await there.told(1) == [(1, "tool.execution_signal", tool_id)]
        there.response.close()

        number, name, signal = await here.event()
        late = await caller.ask(
            "POST", f"{base(household)}/tools/{tool_id}/result", token, json=a_result(epoch=1)
        )
        timely = await report(caller, household, tool_id, a_result(epoch=2))

    assert (number, name, signal["tool_id"]) == (2, "tool.execution_signal", tool_id)
    assert (signal["epoch"], signal["replayed"]) == (2, False)
    assert (late.status, timely.status) == (409, 200)


# What is gone


async def forget(store: SqliteStore, home: Household, through: int) -> None:
    change = Change(home.project.id, home.project.created_at, (ForgetEvents(through),))
    await store.submit(change)


@pytest.mark.parametrize("last_heard", [0, 1, 2])
async def test_who_asks_for_forgotten_events_is_told_to_look_anew_and_hears_what_comes(
    caller: Caller,
    store: SqliteStore,
    household: Household,
    clock: FakeClock,
    last_heard: int,
) -> None:
    for number in range(5):
        await ask_to_read(caller, household, f"call-{number}")
    await forget(store, household, 3)
    clock.advance(7)

    async with caller.listen(household, household.secrets[Role.USER], last_heard) as stream:
        reset = await stream.event()
        later = await ask_to_read(caller, household, "later")
        told = await stream.told(1)

    assert reset == (
        5,
        "stream.reset",
        {
            "message": "events since the last one you received are gone; read the current state "
            "instead",
            "timestamp": "2026-01-01T00:00:07Z",
        },
    )
    assert told == [(6, "tool.status", later)]


@pytest.mark.parametrize("last_heard", [3, 4, 5])
async def test_who_has_heard_all_that_was_forgotten_goes_on_as_if_nothing_was(
    caller: Caller, store: SqliteStore, household: Household, last_heard: int
) -> None:
    made = [await ask_to_read(caller, household, f"call-{number}") for number in range(5)]
    await forget(store, household, 3)

    async with caller.listen(household, household.secrets[Role.USER], last_heard) as stream:
        made.append(await ask_to_read(caller, household, "later"))
        told = await stream.told(6 - last_heard)

    assert told == [
        (number, "tool.status", tool_id)
        for number, tool_id in enumerate(made, start=1)
        if number > last_heard
    ]


@pytest.mark.parametrize("role", [Role.USER, Role.CLIENT])
async def test_events_of_removed_calls_are_passed_over(
    caller: Caller, store: SqliteStore, household: Household, role: Role
) -> None:
    made = [await ask_and_answer(caller, household, f"call-{number}") for number in range(3)]
    await remove(store, household, made[1])

    async with caller.listen(household, household.secrets[role], 0) as stream:
        told = await stream.told(4)

    assert [(number, tool_id) for number, _, tool_id in told] == [
        (1, made[0]),
        (2, made[0]),
        (5, made[2]),
        (6, made[2]),
    ]


async def test_a_stream_that_resumes_before_removed_calls_waits_for_the_next_event(
    caller: Caller, services: Services, store: SqliteStore, household: Household
) -> None:
    heard, gone = [await ask_and_answer(caller, household, f"call-{n}") for n in range(2)]
    await remove(store, household, gone)

    async with a_stream(services, household, last_event_id=2) as stream:
        beginning = [await anext(stream), await anext(stream)]
        coming = asyncio.create_task(anext(stream))
        later = await ask_to_read(caller, household, "later")
        piece = await coming

    assert heard != gone
    assert beginning[1] == b""
    assert piece.startswith(b"id: 5\n")
    assert later.encode() in piece


async def ask_and_answer(caller: Caller, home: Household, call_id: str) -> str:
    """A call with two events."""
    async with caller.listen(home, home.secrets[Role.CLIENT]):
        tool_id = await ask_to_read(caller, home, call_id)
        await report(caller, home, tool_id)
        return tool_id


async def remove(store: SqliteStore, home: Household, tool_id: str) -> None:
    step = RemoveCalls((ExecutionId(tool_id),))
    await store.submit(Change(home.project.id, home.project.created_at, (step,)))


async def test_after_everything_was_forgotten_a_stream_still_goes_on(
    caller: Caller, store: SqliteStore, household: Household
) -> None:
    for number in range(3):
        await ask_to_read(caller, household, f"call-{number}")
    await forget(store, household, 3)
    token = household.secrets[Role.USER]

    async with (
        caller.listen(household, token, 2) as behind,
        caller.listen(household, token, 3) as abreast,
    ):
        later = await ask_to_read(caller, household, "later")
        told = [await behind.told(2), await abreast.told(1)]

    assert told == [
        [(3, "stream.reset", None), (4, "tool.status", later)],
        [(4, "tool.status", later)],
    ]


async def test_the_number_of_a_reset_is_one_to_go_on_from(
    caller: Caller, store: SqliteStore, household: Household
) -> None:
    for number in range(3):
        await ask_to_read(caller, household, f"call-{number}")
    await forget(store, household, 2)
    token = household.secrets[Role.USER]
    ((number, _, _),) = await read_again(caller, household, token, 1, 0)

    async with caller.listen(household, token, number) as stream:
        later = await ask_to_read(caller, household, "later")
        told = await stream.told(1)

    assert told == [(4, "tool.status", later)]


async def test_a_client_that_was_away_for_too_long_is_still_offered_what_waits_for_it(
    caller: Caller, store: SqliteStore, household: Household
) -> None:
    waiting = [await ask_to_read(caller, household, f"call-{number}") for number in range(2)]
    await forget(store, household, 2)

    async with caller.listen(household, household.secrets[Role.CLIENT], 0) as stream:
        told = await stream.told(3)

    assert told == [
        (2, "stream.reset", None),
        (3, "tool.execution_signal", waiting[0]),
        (4, "tool.execution_signal", waiting[1]),
    ]


# What is to end


async def test_a_cancel_reaches_the_client_that_has_the_call_and_a_person_hears_of_its_end(
    caller: Caller, store: SqliteStore, household: Household
) -> None:
    _, token = await add_machine(store, household)
    secrets = household.secrets
    async with (
        caller.listen(household, secrets[Role.CLIENT]) as here,
        caller.listen(household, token) as there,
        caller.listen(household, secrets[Role.USER]) as person,
    ):
        tool_id = await ask_to_read(caller, household)
        await cancel(caller, household, tool_id, reason="not now")
        client_heard = [await here.event() for _ in range(2)][-1]
        person_heard = [await person.event() for _ in range(2)][-1]
        # The other machine was told nothing so far: the next it hears is a refusal, number 3.
        await caller.ask(
            "POST",
            f"{base(household)}/tools/execute",
            secrets[Role.AGENT],
            json=a_body("call-2", path=".env"),
        )
        other_heard = await there.event()

    assert client_heard == (
        2,
        "tool.cancel",
        {
            "tool_id": tool_id,
            "message": "ada cancelled this call: not now",
            "timestamp": "2026-01-01T00:00:00Z",
        },
    )
    assert person_heard == (
        2,
        "tool.status",
        {
            "tool_id": tool_id,
            "tool_name": "read_file",
            "status": "failed",
            "timestamp": "2026-01-01T00:00:00Z",
        },
    )
    assert (other_heard[0], other_heard[1]) == (3, "tool.status")


async def test_a_client_that_was_away_learns_of_a_cancel_when_it_is_back(
    caller: Caller, household: Household
) -> None:
    token = household.secrets[Role.CLIENT]
    async with caller.listen(household, token) as stream:
        tool_id = await ask_to_read(caller, household)
        assert await stream.told(1) == [(1, "tool.execution_signal", tool_id)]
    await cancel(caller, household, tool_id, reason="not now")

    (heard,) = await read_again(caller, household, token, 1, 1)

    assert heard[:2] == (2, "tool.cancel")
    assert (heard[2]["tool_id"], heard[2]["message"]) == (
        tool_id,
        "ada cancelled this call: not now",
    )


async def test_who_hears_nothing_but_the_greeting_can_go_on_from_there(
    caller: Caller, household: Household
) -> None:
    await ask_to_read(caller, household, "call-1")
    async with caller.session.get(
        f"{caller.address}/my/projects/{household.project.id}/chat/stream",
        headers={"authorization": f"Bearer {household.secrets[Role.USER]}"},
    ) as response:
        greeting = await Listener(response).read()
    missed = await ask_to_read(caller, household, "call-2")

    assert greeting is not None
    async with caller.listen(
        household, household.secrets[Role.USER], int(greeting["id"])
    ) as stream:
        assert await stream.told(1) == [(2, "tool.status", missed)]


async def test_an_event_is_read_and_rendered_once_however_many_people_listen(
    caller: Caller, store: SqliteStore, household: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    rendered: list[int] = []
    monkeypatch.setattr(
        frames,
        "render",
        lambda item, **how: rendered.append(item.event.seq) or render(item, **how),
    )
    token = household.secrets[Role.USER]
    async with AsyncExitStack() as stack:
        streams = [
            await stack.enter_async_context(caller.listen(household, token)) for _ in range(20)
        ]
        made = [await ask_to_read(caller, household, f"call-{number}") for number in range(5)]
        told = [await stream.told(5) for stream in streams]

    expected = [(number, "tool.status", tool_id) for number, tool_id in enumerate(made, start=1)]
    assert told == [expected] * 20
    assert rendered == [1, 2, 3, 4, 5]


async def test_who_listens_too_slowly_is_told_that_events_are_gone(
    services: Services, store: SqliteStore, household: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "_MOST_FRAMES", 1)
    async with a_stream(services, household) as stream:
        await anext(stream)
        for number in range(5):
            await store.submit(opening(a_call(household, f"call-{number}"), household))
        await forget(store, household, 3)

        told = await anext(stream)

    assert told.startswith(b"id: 5\nevent: stream.reset\n")

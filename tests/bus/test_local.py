import asyncio

from handrail.bus.local import LocalBell, LocalBus


async def rung(*bells: LocalBell) -> list[bool]:
    """Which of the bells have been rung, without waiting for any."""
    return [await bell.wait(0) for bell in bells]


async def test_ring_wakes_every_listener_of_the_topic(bus: LocalBus) -> None:
    with bus.listen("a") as one, bus.listen("a") as two:
        async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
            waits = [tasks.create_task(bell.wait(60)) for bell in (one, two)]
            # Runs after both tasks have begun to wait.
            asyncio.get_running_loop().call_soon(bus.ring, ("a",))
        assert [wait.result() for wait in waits] == [True, True]


async def test_ring_does_not_wake_listeners_of_other_topics(bus: LocalBus) -> None:
    with bus.listen("a") as meant, bus.listen("b") as other:
        bus.ring(("a",))
        assert await rung(meant, other) == [True, False]


async def test_one_ring_can_wake_several_topics(bus: LocalBus) -> None:
    with bus.listen("a") as one, bus.listen("b") as two, bus.listen("c") as other:
        bus.ring(("a", "b"))
        assert await rung(one, two, other) == [True, True, False]


async def test_ring_before_the_wait_is_not_lost(bus: LocalBus) -> None:
    with bus.listen("a") as bell:
        bus.ring(("a",))
        async with asyncio.timeout(5):
            assert await bell.wait(60) is True


async def test_wait_ends_with_false_when_nobody_rings(bus: LocalBus) -> None:
    with bus.listen("a") as bell:
        async with asyncio.timeout(5):
            assert await bell.wait(0.01) is False


async def test_wait_uses_the_ring_up(bus: LocalBus) -> None:
    with bus.listen("a") as bell:
        bus.ring(("a",))
        bus.ring(("a",))
        assert [await bell.wait(0), await bell.wait(0)] == [True, False]


async def test_ring_after_a_wait_ended_empty_is_heard_by_the_next(bus: LocalBus) -> None:
    with bus.listen("a") as bell:
        assert await bell.wait(0) is False
        bus.ring(("a",))
        assert await bell.wait(0) is True


async def test_one_bell_hears_each_of_its_topics(bus: LocalBus) -> None:
    with bus.listen("a", "b") as bell:
        bus.ring(("a",))
        assert await bell.wait(0) is True
        bus.ring(("b",))
        assert await bell.wait(0) is True
        bus.ring(("c",))
        assert await bell.wait(0) is False


async def test_ring_without_listeners_is_heard_by_nobody_later(bus: LocalBus) -> None:
    bus.ring(("a",))
    with bus.listen("a") as bell:
        assert await bell.wait(0) is False


async def test_bell_hears_nothing_after_leaving(bus: LocalBus) -> None:
    with bus.listen("a") as gone:
        pass
    bus.ring(("a",))
    assert await gone.wait(0) is False


async def test_leaving_leaves_the_others_listening(bus: LocalBus) -> None:
    with bus.listen("a") as staying:
        with bus.listen("a", "b"):
            pass
        bus.ring(("a",))
        assert await staying.wait(0) is True


async def test_nothing_is_kept_of_those_who_left(bus: LocalBus) -> None:
    with bus.listen("a", "b"), bus.listen("b"):
        assert set(bus._bells) == {"a", "b"}
    assert bus._bells == {}


async def test_leaving_by_an_error_removes_the_bell_too(bus: LocalBus) -> None:
    try:
        with bus.listen("a"):
            raise RuntimeError
    except RuntimeError:
        pass
    assert bus._bells == {}


def test_a_topic_named_twice_is_left_once(bus: LocalBus) -> None:
    with bus.listen("a", "a"):
        assert list(bus._bells) == ["a"]
    assert bus._bells == {}

"""A call in work can be cancelled, except where that would leave something half done."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import pytest

from handrail.client.running import Running

Work = Callable[[Running], Coroutine[Any, Any, str]]
Start = Callable[[Coroutine[Any, Any, str]], asyncio.Task[str]]


@dataclass
class Job:
    """A task that works on a call."""

    running: Running
    task: asyncio.Task[str]

    async def outcome(self) -> str:
        async with asyncio.timeout(10):
            return await self.task


async def started(work: Work, start: Start = asyncio.create_task) -> Job:
    born: asyncio.Future[Running] = asyncio.get_running_loop().create_future()

    async def run() -> str:
        running = Running(epoch=1)
        born.set_result(running)
        return await work(running)

    task = start(run())
    return Job(await born, task)


async def for_ever() -> None:
    await asyncio.Event().wait()


async def until_ended(work: Awaitable[object], running: Running) -> str:
    """Do it, and say how it ended; an end that is not ours to take goes on."""
    try:
        await work
    except asyncio.CancelledError:
        if not running.take_cancellation():
            raise
        return "cancelled"
    return "done"


# Cancelled or abandoned


async def test_a_cancel_ends_the_work_and_is_told_as_such() -> None:
    job = await started(lambda running: until_ended(for_ever(), running))

    job.running.cancel()

    assert await job.outcome() == "cancelled"


async def test_what_is_abandoned_ends_without_a_word() -> None:
    job = await started(lambda running: until_ended(for_ever(), running))

    job.running.abandon()

    with pytest.raises(asyncio.CancelledError):
        await job.outcome()


async def test_an_end_from_outside_is_no_cancel_of_the_call() -> None:
    job = await started(lambda running: until_ended(for_ever(), running))

    job.task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await job.outcome()


async def test_nothing_is_cancelled_that_nobody_has_cancelled() -> None:
    async def work(running: Running) -> str:
        return f"cancelled: {running.take_cancellation()}"

    job = await started(work)

    assert await job.outcome() == "cancelled: False"


async def test_what_has_its_outcome_is_not_cancelled() -> None:
    told = asyncio.Event()

    async def work(running: Running) -> str:
        running.close()
        await told.wait()
        return "told"

    job = await started(work)

    job.running.cancel()
    told.set()

    assert await job.outcome() == "told"


# What must not be left half done


class Note:
    """Something that is written in one go, as soon as it may."""

    def __init__(self) -> None:
        self.begun, self.may_end = asyncio.Event(), asyncio.Event()
        self.written = False

    async def write(self) -> None:
        self.begun.set()
        await self.may_end.wait()
        self.written = True


async def test_a_cancel_before_it_keeps_it_from_being_begun() -> None:
    note = Note()

    async def work(running: Running) -> str:
        async def first_wait() -> None:
            await for_ever()
            await running.undisturbed(note.write())

        return await until_ended(first_wait(), running)

    job = await started(work)

    job.running.cancel()

    assert await job.outcome() == "cancelled"
    assert not note.begun.is_set()


async def test_a_cancel_meanwhile_counts_when_it_is_done() -> None:
    note = Note()
    after: list[str] = []

    async def work(running: Running) -> str:
        async def write_and_go_on() -> None:
            await running.undisturbed(note.write())
            after.append("went on")

        return await until_ended(write_and_go_on(), running)

    job = await started(work)
    await note.begun.wait()

    job.running.cancel()
    note.may_end.set()

    assert await job.outcome() == "cancelled"
    assert note.written
    assert after == []


async def test_a_cancel_after_it_ends_the_work_as_ever() -> None:
    note = Note()
    note.may_end.set()
    after = asyncio.Event()

    async def work(running: Running) -> str:
        async def write_and_go_on() -> None:
            await running.undisturbed(note.write())
            after.set()
            await for_ever()

        return await until_ended(write_and_go_on(), running)

    job = await started(work)
    await after.wait()

    job.running.cancel()

    assert await job.outcome() == "cancelled"
    assert note.written


async def test_a_machine_that_stops_waits_for_nothing() -> None:
    note = Note()
    job = await started(lambda running: until_ended(running.undisturbed(note.write()), running))
    await note.begun.wait()

    job.running.abandon()

    with pytest.raises(asyncio.CancelledError):
        await job.outcome()
    assert not note.written


async def test_what_goes_wrong_undisturbed_is_told() -> None:
    async def break_down() -> None:
        raise ZeroDivisionError

    job = await started(lambda running: until_ended(running.undisturbed(break_down()), running))

    with pytest.raises(ZeroDivisionError):
        await job.outcome()


# Afterwards


async def test_after_a_cancel_the_task_is_as_good_as_new() -> None:
    async def work(running: Running) -> str:
        ended = await until_ended(for_ever(), running)
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0
        return ended

    job = await started(work)

    job.running.cancel()

    assert await job.outcome() == "cancelled"
    assert not job.task.cancelled()


async def test_a_limit_set_after_a_cancel_is_a_limit() -> None:
    async def work(running: Running) -> str:
        await until_ended(for_ever(), running)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await for_ever()
        return "out of time"

    job = await started(work)

    job.running.cancel()

    assert await job.outcome() == "out of time"


async def test_a_limit_around_a_cancel_still_holds_after_it() -> None:
    async def work(running: Running) -> str:
        told = ""
        try:
            async with asyncio.timeout(None) as limit:
                told = await until_ended(for_ever(), running)
                limit.reschedule(asyncio.get_running_loop().time())
                await for_ever()
        except TimeoutError:
            told += ", then out of time"
        return told

    job = await started(work)

    job.running.cancel()

    assert await job.outcome() == "cancelled, then out of time"


async def test_a_group_opened_after_a_cancel_sees_its_members_die() -> None:
    async def die() -> None:
        raise ZeroDivisionError

    async def work(running: Running) -> str:
        await until_ended(for_ever(), running)
        told = ""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(die())
                await for_ever()
        except* ZeroDivisionError:
            told = "seen"
        return told

    job = await started(work)

    job.running.cancel()

    assert await job.outcome() == "seen"


async def test_a_cancel_of_one_leaves_the_rest_of_its_group_alone() -> None:
    done = asyncio.Event()

    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        one = await started(lambda running: until_ended(for_ever(), running), group.create_task)
        other = await started(lambda running: until_ended(done.wait(), running), group.create_task)
        one.running.cancel()
        assert await one.outcome() == "cancelled"
        done.set()

    assert other.task.result() == "done"


# Another offer


async def test_an_offer_anew_is_waited_for_and_counts_from_then_on() -> None:
    async def work(running: Running) -> str:
        return f"{await running.wait_for_another_offer()} under {running.epoch}"

    job = await started(work)

    job.running.offer_anew(7)

    assert await job.outcome() == "True under 7"


async def test_who_waits_for_another_offer_can_be_cancelled() -> None:
    async def work(running: Running) -> str:
        return await until_ended(running.wait_for_another_offer(), running)

    job = await started(work)

    job.running.cancel()

    assert await job.outcome() == "cancelled"


async def test_a_task_that_is_cancelled_twice_is_as_good_as_new_after_it_was_taken() -> None:
    begun: asyncio.Future[Running] = asyncio.get_running_loop().create_future()

    async def work() -> int:
        running = Running(1)
        begun.set_result(running)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            assert running.take_cancellation()
        task = asyncio.current_task()
        assert task is not None
        return task.cancelling()

    working = asyncio.create_task(work())
    running = await begun
    running.cancel()
    running.cancel()

    assert await working == 0

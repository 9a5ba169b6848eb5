import asyncio

import pytest

from handrail.core.errors import BadInput, BrokenTool, ErrorType, FileOperationError, NotFound
from handrail.tools.blame import blaming


@pytest.mark.parametrize("error", [BadInput("path: no"), FileOperationError("gone")])
def test_what_a_tool_may_raise_stays_what_it_is(error: Exception) -> None:
    with pytest.raises(type(error)) as caught, blaming("dice", "while it was thrown"):
        raise error
    assert caught.value is error


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("hunter2"), TimeoutError(), NotFound("x"), SystemExit(3)]
)
def test_everything_else_is_the_fault_of_the_tool_and_tells_nothing(error: BaseException) -> None:
    with pytest.raises(BrokenTool) as caught, blaming("dice", "while it was thrown"):
        raise error
    assert caught.value.message == f"dice failed while it was thrown: {type(error).__name__}"
    assert caught.value.error_type is ErrorType.INTERNAL
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("error", [asyncio.CancelledError(), KeyboardInterrupt()])
def test_who_calls_a_tool_off_is_heard(error: BaseException) -> None:
    with pytest.raises(type(error)), blaming("dice", "while it was thrown"):
        raise error


@pytest.mark.parametrize("error", [asyncio.CancelledError(), KeyboardInterrupt()])
async def test_a_tool_that_says_so_itself_has_called_nobody_off(error: BaseException) -> None:
    with pytest.raises(BrokenTool), blaming("dice", "while it was thrown"):
        raise error


async def test_who_cancels_the_task_of_a_tool_is_heard() -> None:
    async def work() -> None:
        with blaming("dice", "while it was thrown"):
            await asyncio.sleep(10)

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

"""Runs the `handrail` command so that it dies by SIGKILL at a chosen moment.

HANDRAIL_DIES is `before:commit:2`, `after:report:1` and so on: before or after the nth time that
a batch is committed, a file is read, written, removed or moved, effects are applied as a whole or
step by step, a call is claimed, a beginning or an end is put into the journal, or facts, results
or what was undone is sent.
"""

import os
import signal
from collections.abc import Callable
from typing import Any

from handrail.cli.main import main
from handrail.client.api import HandrailApi
from handrail.client.journal import Journal
from handrail.client.undoing import Undoing
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.rehearsal.applied import AppliedSet
from handrail.store.sqlite import SqliteStore

when, what, number = os.environ["HANDRAIL_DIES"].split(":")
seen = 0


def is_the_moment() -> bool:
    global seen
    seen += 1
    return seen == int(number)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def mortal(function: Callable[..., Any]) -> Callable[..., Any]:
    def wrapped(*args: Any) -> Any:
        now = is_the_moment()
        if now and when == "before":
            die()
        result = function(*args)
        if now and when == "after":
            die()
        return result

    return wrapped


def mortal_with_options(function: Callable[..., Any]) -> Callable[..., Any]:
    def wrapped(*args: Any, **options: Any) -> Any:
        return mortal(lambda: function(*args, **options))()

    return wrapped


def mortal_async(function: Callable[..., Any]) -> Callable[..., Any]:
    async def wrapped(*args: Any, **options: Any) -> Any:
        now = is_the_moment()
        if now and when == "before":
            die()
        result = await function(*args, **options)
        if now and when == "after":
            die()
        return result

    return wrapped


match what:
    case "commit":
        SqliteStore._commit = mortal(SqliteStore._commit)
    case "read":
        FileSystemExecutor.read = mortal_async(FileSystemExecutor.read)
    case "write":
        FileSystemExecutor.write = mortal_async(FileSystemExecutor.write)
    case "remove":
        FileSystemExecutor.remove = mortal_async(FileSystemExecutor.remove)
    case "move":
        FileSystemExecutor.move = mortal_async(FileSystemExecutor.move)
    case "apply":
        AppliedSet.go = mortal_with_options(AppliedSet.go)
    case "step":
        AppliedSet._cross = mortal_with_options(AppliedSet._cross)
    case "facts":
        HandrailApi.send_facts = mortal_async(HandrailApi.send_facts)
    case "claim":
        HandrailApi.claim = mortal_async(HandrailApi.claim)
    case "beginning":
        Journal.begin = mortal_async(Journal.begin)
    case "end":
        Journal.finish = mortal_async(Journal.finish)
    case "report":
        HandrailApi.send_results = mortal_async(HandrailApi.send_results)
    case "undone":
        Undoing._tell = mortal_async(Undoing._tell)
    case _:
        raise SystemExit(f"what is {what!r}?")

main()

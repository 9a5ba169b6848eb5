"""The program of a judging process; `judging.py` starts it and describes the protocol.

It runs as a script under `python -I`, so it imports nothing of Handrail until the parent has sent
the module search path.
"""

import os
import pickle
import signal
import sys
from typing import Any, BinaryIO


def serve(source: BinaryIO, sink: BinaryIO, most_seconds: int) -> None:
    """Answer task after task until the parent closes the pipe."""
    # On a machine with few cores, the event loop and other agents' calls go first.
    os.nice(10)
    sys.path[:] = pickle.load(source)  # noqa: S301  only the parent writes here
    shared: dict[int, Any] = {}
    while True:
        # A task is sent as bytes within a pickle: one that cannot be read leaves the pipe in step.
        try:
            task = pickle.load(source)  # noqa: S301  only the parent writes here
        except EOFError:
            return
        # The parent kills this process at its deadline, unless it was itself killed before.
        signal.alarm(most_seconds)
        sink.write(_answer(task, shared))
        sink.flush()
        signal.alarm(0)


def _answer(task: bytes, shared: dict[int, Any]) -> bytes:
    try:
        number, forget, new, function, arguments = pickle.loads(task)  # noqa: S301
    except Exception as error:
        return pickle.dumps(("unreadable", repr(error)))
    if forget:
        shared.clear()
    if new is not None:
        shared[number] = new
    try:
        return pickle.dumps(("returned", function(shared.get(number), *arguments)))
    except Exception as error:
        try:
            return pickle.dumps(("raised", error))
        except Exception:
            return pickle.dumps(("unreadable", repr(error)))


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer, int(sys.argv[1]))

import asyncio

import pytest

from handrail import HandrailError, RiskLevel, Ruling
from handrail.testing import FakeHands, Trial, try_tool
from handrail_todo_list import TodoList

PROGRAM = b"""\
import this  # TODO: read it one day

def later():
    raise NotImplementedError  # FIXME somebody
"""


def look(path: str) -> Trial:
    hands = FakeHands({"main.py": PROGRAM, "done.py": b"print('done')\n"})
    return asyncio.run(try_tool(TodoList(), {"path": path}, hands))


def test_promises_are_found_with_their_lines() -> None:
    trial = look("./main.py")
    assert trial.result.output == "main.py:1: read it one day\nmain.py:4: somebody"
    assert [promise["kind"] for promise in trial.result.fields["promises"]] == ["TODO", "FIXME"]


def test_a_file_without_promises_is_praised() -> None:
    assert look("done.py").result.output == "done.py keeps all its promises."


def test_nobody_is_asked() -> None:
    assert look("main.py").verdict.risk is RiskLevel.LOW


@pytest.mark.parametrize("path", ["../main.py", "/etc/passwd", ".env"])
def test_what_is_not_to_be_read_is_refused(path: str) -> None:
    assert look(path).verdict.ruling is Ruling.DENY


def test_parameters_are_checked() -> None:
    with pytest.raises(HandrailError, match=r"^path: field required"):
        asyncio.run(try_tool(TodoList(), {}))

"""Code that comes through a pipe is on the card, and is run as it was seen or not at all."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail.core.errors import StaleCommandError
from handrail.core.hands import Hands
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.policy.security import Scene
from handrail.tools.builtin.run_bash import RunBash, RunBashParams

TOOL = RunBash()


@pytest.fixture
def hands(tmp_path: Path) -> Iterator[Hands]:
    (tmp_path / "x.py").write_text("print(1)\n")
    with FileSystemExecutor(tmp_path) as files:
        yield Hands(files=files, commands=CommandExecutor(tmp_path, grace_seconds=0.5))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("cat x.py | python3 -", "pinned   x.py must not change"),
        ("touch y | cat x.py | python3", "unpinned an earlier part of the line may change"),
        ("python3 < x.py", "pinned   x.py must not change"),
    ],
)
async def test_code_that_has_changed_since_it_was_seen_is_not_run(
    tmp_path: Path, hands: Hands, line: str, told: str
) -> None:
    scene, call = Scene(str(tmp_path)), RunBashParams(command=line)
    survey = await TOOL.survey(call, scene, hands)
    assert told in survey.evidence

    (tmp_path / "x.py").write_text("open('ran', 'w')\n")

    with pytest.raises(StaleCommandError, match=r"the file x\.py"):
        await TOOL.execute(call, scene, hands, survey.facts)
    assert not (tmp_path / "ran").exists()

"""Boxes as the client makes them, for one workspace."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from handrail.core.box import Isolation, Profile
from handrail.core.outcome import CommandOutcome
from handrail.core.stage import Stage
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.guarded.names import GuardedNames
from handrail.executors.sandbox.box import Box, Programs
from handrail.executors.sandbox.probe import find_programs, prove


def make_sure() -> tuple[Programs, Isolation]:
    """What boxes are made with here, and the proof that they hold."""
    programs = find_programs()
    assert programs is not None
    isolation = prove(programs)
    assert isolation.holds, isolation.why_not
    return programs, isolation


@contextmanager
def boxed(
    root: Path,
    programs: Programs,
    isolation: Isolation,
    *,
    private: Sequence[Path] = (),
    grace_seconds: float = 1.0,
    keeper: str = "",
) -> Generator[CommandExecutor]:
    with FileSystemExecutor(root, private=private) as files:
        guarded = GuardedNames(files.root, files.rules, files.second_names, private)
        box = Box(programs, isolation, guarded)
        yield CommandExecutor(files.root, box=box, grace_seconds=grace_seconds, keeper=keeper)


async def run(
    executor: CommandExecutor,
    *argv: str,
    profile: Profile = Profile.WRITE,
    seconds: float = 20,
) -> CommandOutcome:
    return await executor.run([Stage(argv, profile)], timeout_seconds=seconds)

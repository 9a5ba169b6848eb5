"""A client of its own for tests: rehearses lines in a workspace and tells what came of each."""

import asyncio
import json
import os
import sys
from pathlib import Path

from handrail.core.box import Profile
from handrail.core.errors import CommandExecutionError
from handrail.core.stage import Stage
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.guarded.names import GuardedNames
from handrail.executors.rehearsal.overlay import Maker
from handrail.executors.rehearsal.probe import prove_rehearsals
from handrail.executors.rehearsal.rehearser import Rehearser
from handrail.executors.sandbox.box import Box
from handrail.executors.sandbox.probe import find_programs, prove


async def main(root: str, sessions: str, *lines: str) -> None:
    programs = find_programs()
    isolation, maker = prove(programs), Maker()
    proof = await prove_rehearsals(maker, sessions)
    if programs is None or not isolation.holds or not proof.holds:
        tell(why_not=proof.why_not or isolation.why_not)
        return
    with FileSystemExecutor(root) as files:
        views = GuardedNames(files.root, files.rules, files.second_names)
        box = Box(programs, isolation, views)
        executor = CommandExecutor(root, box=box, grace_seconds=0.2)
        rehearser = Rehearser(executor, box, maker, Path(sessions, str(os.getpid())), proof)
        tell(ready=os.getuid())
        for line in lines:
            await rehearse(rehearser, line)
        await rehearser.close()
    maker.close()


async def rehearse(rehearser: Rehearser, line: str) -> None:
    stage = Stage(("bash", "-c", line), Profile.WRITE)
    try:
        rehearsal = await rehearser.rehearse([stage], timeout_seconds=50)
    except CommandExecutionError as error:
        tell(refused=error.message)
        return
    fd = rehearsal.open_upper()
    changed = sorted(os.listdir(fd))
    os.close(fd)
    outcome = rehearsal.outcome
    tell(
        out=outcome.stdout.decode(),
        err=outcome.stderr.decode(),
        code=outcome.exit_code,
        changed=changed,
        met_foreign=rehearsal.met_foreign,
    )
    await rehearsal.close()


def tell(**words: object) -> None:
    sys.stdout.write(f"{json.dumps(words)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

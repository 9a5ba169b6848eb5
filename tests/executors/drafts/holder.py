"""A process that holds the drafts of a client and can be killed; it does one order per line.

Orders and answers are JSON. An answer comes after what was ordered is done.
"""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from handrail.app.isolation import prove_here
from handrail.core.errors import ToolError
from handrail.core.rehearsal import CallRef
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.drafts.drafts import ClientDrafts
from handrail.executors.drafts.parts import DraftParts
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.files.ripgrep import Ripgrep
from handrail.executors.guarded.names import GuardedNames
from handrail.executors.rehearsal.overlay import Maker
from handrail.executors.rehearsal.probe import prove_rehearsals
from handrail.executors.rehearsal.undo import UndoStore
from handrail.executors.sandbox.box import Box
from handrail.executors.sandbox.probe import find_programs
from tests.executors.drafts.session import DraftSession


async def serve(base: Path, root: Path) -> None:
    programs = find_programs()
    assert programs is not None
    maker = Maker()
    proof = await prove_rehearsals(maker, base / "rehearsals")
    with FileSystemExecutor(root) as files, Ripgrep(str(root)) as ripgrep:
        guarded = GuardedNames(files.root, files.rules, files.second_names)
        box = Box(programs, prove_here(programs), guarded)
        executor = CommandExecutor(root, box=box, grace_seconds=0.2)
        store = UndoStore(os.open(root, os.O_RDONLY), b"key")
        if store.is_there:
            store.resume()
        parts = DraftParts(executor, box, files, maker, proof, store)
        drafts = ClientDrafts(base / "drafts", parts, ripgrep)
        print(json.dumps("ready"), flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            print(json.dumps(await answer(drafts, json.loads(line))), flush=True)
        await drafts.close()
    maker.close()


async def answer(drafts: ClientDrafts, order: dict[str, Any]) -> Any:
    session = DraftSession(drafts, order["session"])
    call = CallRef(order["session"], order["call"])
    try:
        match order["do"]:
            case "shell":
                return await session.shell_as(call, order["line"])
            case "apply":
                await drafts.sum_up(call, order["steps"])
                await drafts.apply(call)
                return {}
            case "discard":
                await drafts.discard(order["session"], order["first"])
                return {}
            case _:
                async with session.view() as shown:
                    return {
                        str(path.relative_to(shown)): path.read_text()
                        for path in shown.rglob("*")
                        if path.is_file() and ".handrail" not in path.parts
                    }
    except ToolError as error:
        return {"error": error.message}


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]), Path(sys.argv[2])))

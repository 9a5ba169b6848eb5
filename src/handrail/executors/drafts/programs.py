"""Programs that a person has started over a draft: each run is one step."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import structlog

from handrail.core.draft import DraftStep
from handrail.core.errors import HandrailError
from handrail.core.outcome import CommandOutcome, Ending
from handrail.core.rehearsal import CallRef
from handrail.core.visible import visible
from handrail.executors.drafts.draft import MOST_BYTES, Draft
from handrail.executors.drafts.parts import Ran
from handrail.executors.drafts.program_note import ProgramNote
from handrail.executors.rehearsal.caps import Caps, machine_bytes
from handrail.executors.rehearsal.rehearser import Rehearser, Work
from handrail.executors.rehearsal.session import Stand
from handrail.executors.rehearsal.starter import RehearsalStarter
from handrail.executors.rehearsal.watch import Watch

log = structlog.get_logger(__name__)

# A program that a person has started may compute for as long as it takes.
PROGRAM_CAPS = Caps(
    changed_bytes=MOST_BYTES,
    memory_bytes=machine_bytes() * 3 // 4,
    cpu_seconds=float("inf"),
    session_cpu_seconds=float("inf"),
    interval_seconds=2.0,
)
_FOLDER = "program"
_BROKE = "{error}; it was ended then, and what it had changed is kept"
_UNEXPECTED = "something went wrong in Handrail while it ran; the client's log has the details"
Describe = Callable[[DraftStep], DraftStep]


async def run_program(
    draft: Draft, work: Work, call: CallRef, title: str, describe: Describe
) -> DraftStep | None:
    """Run a program over a draft; None if it has changed nothing.

    It is not run again. So what it has changed is kept as a step, also where it met a limit, where
    it cannot be applied, where others have changed the same files meanwhile, and where the run
    itself broke.

    Raises:
        CommandExecutionError: The draft is in use, or the program could not be started.
    """
    note = ProgramNote.of(call, title)
    broke: list[BaseException] = []

    async def noted(starter: RehearsalStarter, stand: Stand, watch: Watch) -> CommandOutcome:
        await asyncio.to_thread(note.write, draft.folder, stand.name)
        return await work(starter, stand, watch)

    def rescue(error: BaseException) -> CommandOutcome:
        broke.append(error)
        return CommandOutcome(b"", b"", Ending.KILLED, None, 0.0)

    def explain(step: DraftStep) -> DraftStep:
        told = describe(step)
        return replace(told, notes=(*map(_why, broke), *told.notes))

    async with draft.turn.for_program(title):
        await draft.check_room()
        try:
            found = await _rehearser_of(draft).run(noted, rescue)
            ran = await draft.read_effects(found, PROGRAM_CAPS)
            step = await _seal(draft, ran, call, title, explain)
        finally:
            await asyncio.to_thread(ProgramNote.remove, draft.folder)
    for error in broke:
        # A task that was cancelled stays so.
        if step is None or not isinstance(error, Exception):
            raise error
        log.error("drafts.program_broke", session=call.session_id, exc_info=error)
    return step


async def recover_program(draft: Draft) -> DraftStep | None:
    """Make what a program had changed a step, if the client was killed while it ran.

    Raises:
        OSError: It cannot be read.
    """
    async with draft.turn.for_call():
        note = await asyncio.to_thread(ProgramNote.find, draft.folder)
        if note is None:
            return None
        try:
            rehearser = draft.make_rehearser(_FOLDER, PROGRAM_CAPS, is_new=False)
            found = await rehearser.recover(note.stand, note.began_ns)
            ran = await draft.read_effects(found, PROGRAM_CAPS)
            call = CallRef(note.session_id, note.tool_id)
            return await _seal(draft, ran, call, note.title, note.describe)
        finally:
            await asyncio.to_thread(ProgramNote.remove, draft.folder)


async def _seal(
    draft: Draft, ran: Ran, call: CallRef, title: str, describe: Describe
) -> DraftStep | None:
    told = ran.rehearsed
    try:
        step = describe(
            replace(
                draft.next_step(told, call, title),
                notes=() if told.is_complete else (told.ended_by,),
                uncertain=told.effects.stale,
                is_whole=not told.effects.refusals,
            )
        )
        # Hosts that it has reached belong in the record, also if it has changed nothing.
        if told.effects.is_empty and told.is_complete and not step.hosts:
            return None
        await draft.keep(ran, step)
    finally:
        await ran.close()
    return step


def _why(error: BaseException) -> str:
    words = visible(error.message) if isinstance(error, HandrailError) else _UNEXPECTED
    return _BROKE.format(error=words)


def _rehearser_of(draft: Draft) -> Rehearser:
    if draft.programs is None:
        draft.programs = draft.make_rehearser(_FOLDER, PROGRAM_CAPS)
    return draft.programs

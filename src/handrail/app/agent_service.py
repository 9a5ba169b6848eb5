"""AgentService: starts programs over drafts for `handrail draft`, in the process of the client.

Only this process changes the drafts of its workspace, so the command hands over its terminal.
"""

import asyncio
import os
import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import structlog

from handrail.app.agent_line import AgentLine, Order, short_name, take_order
from handrail.core.errors import HandrailError
from handrail.core.rehearsal import CallRef
from handrail.executors.agents.profiles import profile_for
from handrail.executors.agents.run import AgentCommand, AgentEnd, run_agent
from handrail.executors.drafts.drafts import ClientDrafts
from handrail.executors.processes.pipes import Streams
from handrail.policy.network.hosts import Host

_BROKE = (
    "something went wrong in Handrail while the program ran; the client's log has the details, and"
    " what the program had changed is kept in the draft"
)

log = structlog.get_logger(__name__)


@asynccontextmanager
async def serve_agents(drafts: ClientDrafts, path: Path) -> AsyncGenerator[None]:
    """Listen at a path; programs that still run at the end are ended, and leave their step."""
    stop, group = asyncio.Event(), asyncio.TaskGroup()
    with _listening(path) as listening:
        await group.__aenter__()
        accepting = group.create_task(_accept(listening, drafts, stop, group))
        try:
            yield
        finally:
            accepting.cancel()
            stop.set()
            # Without the exception: it is the caller's, and needs no group around it.
            await group.__aexit__(None, None, None)


@contextmanager
def _listening(path: Path) -> Generator[socket.socket]:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.setblocking(False)
        with short_name(path) as name:
            listening.bind(name)
        path.chmod(0o600)
        listening.listen()
        try:
            yield listening
        finally:
            path.unlink(missing_ok=True)


async def _accept(
    listening: socket.socket, drafts: ClientDrafts, stop: asyncio.Event, group: asyncio.TaskGroup
) -> None:
    loop = asyncio.get_running_loop()
    while True:
        line, _ = await loop.sock_accept(listening)
        group.create_task(_serve(line, drafts, stop))


async def _serve(line: socket.socket, drafts: ClientDrafts, stop: asyncio.Event) -> None:
    try:
        order, streams = await take_order(line)
    except (OSError, ValueError) as error:
        log.info("agent.no-order", error=str(error))
        line.close()
        return
    talk = await AgentLine.over(line)
    try:
        end = await _Run(order, streams, talk).until(drafts, stop)
        await talk.send(event="ended", **_told(end))
    except HandrailError as error:
        await talk.send(event="failed", error=error.message)
    except Exception:
        # Others of this folder go on, and so does the client.
        log.exception("agent.broke", session=order.session_id)
        await talk.send(event="failed", error=_BROKE)
    finally:
        talk.close()
        for fd in streams:
            os.close(fd)


def _told(end: AgentEnd) -> dict[str, object]:
    """The message to the command about the end of its program."""
    # Changes that cannot be applied count too.
    changed = 0 if end.step is None else len(end.step.changes) or int(not end.step.is_whole)
    hosts = [one.host for one in end.traffic.contacted]
    return {
        "exit_code": end.exit_code,
        "step": None if end.step is None else end.step.number,
        "changed": changed,
        "notes": [] if end.step is None else list(end.step.notes),
        "hosts": hosts,
        "kept": list(end.settings.kept),
    }


class _Run:
    """One program; the other side of its line answers the questions about hosts."""

    def __init__(self, order: Order, streams: Streams, talk: AgentLine):
        self._order = order
        self._streams = streams
        self._talk = talk
        self._answers: dict[str, asyncio.Future[str]] = {}

    async def until(self, drafts: ClientDrafts, stop: asyncio.Event) -> AgentEnd:
        """Run the program to its end, or until it is stopped or its command has gone."""
        order = self._order
        command = AgentCommand(
            order.program,
            order.arguments,
            profile_for(order.name),
            self._streams,
            order.variables,
            order.folder,
            order.hosts,
            order.terminal,
        )
        call, gone = CallRef(order.session_id, order.call_id), asyncio.Event()
        outcome: AgentEnd | HandrailError
        async with asyncio.TaskGroup() as group:
            beside = [self._hear(gone), _pass_on(stop, gone)]
            tasks = [group.create_task(one) for one in beside]
            try:
                draft = drafts.open(order.session_id)
                outcome = await run_agent(draft, call, command, self._ask, gone)
            except HandrailError as error:
                # Raised later: the group would wrap it.
                outcome = error
            finally:
                for task in tasks:
                    task.cancel()
        if isinstance(outcome, HandrailError):
            raise outcome
        return outcome

    async def _ask(self, host: Host) -> str:
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._answers[str(host)] = answer
        await self._talk.send(event="host", host=str(host))
        return await answer

    async def _hear(self, gone: asyncio.Event) -> None:
        while (message := await self._talk.receive()) is not None:
            answer = self._answers.pop(str(message.get("host")), None)
            if answer is not None and not answer.done():
                answer.set_result(str(message["why_not"]))
        gone.set()


async def _pass_on(event: asyncio.Event, other: asyncio.Event) -> None:
    await event.wait()
    other.set()

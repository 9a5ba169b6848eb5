"""A program of the person in a draft: `handrail draft` starts it, and asks about its sum."""

import asyncio
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handrail.app.agent_line import AgentLine, Order, open_line
from handrail.app.proposals import Proposal, Proposals
from handrail.app.stream_relay import StreamRelay
from handrail.app.terminal_relay import TerminalRelay
from handrail.core.draft import PROGRAM_RUN
from handrail.core.errors import BadInput, CommandExecutionError
from handrail.core.execution import Status
from handrail.executors.agents.profiles import AgentProfile, profile_for
from handrail.executors.agents.programs import find_program
from handrail.policy.network.hosts import validate_host
from handrail.wire.payloads import SESSION_NAME

_MOST_TITLE_CHARS = 40
_FROM_TERMINAL = ("TERM", "COLORTERM", "TERM_PROGRAM")


@dataclass(frozen=True, slots=True)
class ProgramEnd:
    """How the program ended: `changed` counts the files of its step, if it has made one."""

    exit_code: int
    step: int | None
    changed: int
    notes: tuple[str, ...]
    hosts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DraftProgram:
    """A program with its arguments, to run over the draft of a session."""

    words: tuple[str, ...]
    workspace: str
    session_id: str
    hosts: tuple[str, ...] = ()

    @property
    def profile(self) -> AgentProfile:
        return profile_for(self.words[0])

    def order(self, shell: Mapping[str, str], *, terminal: bool) -> Order:
        """The order for the client.

        Raises:
            CommandExecutionError: There is no such program.
        """
        name, *arguments = self.words
        profile = self.profile
        passed = {key: shell[key] for key in _FROM_TERMINAL if terminal and key in shell}
        return Order(
            session_id=self.session_id,
            call_id=f"{PROGRAM_RUN}{secrets.token_hex(8)}",
            name=name,
            program=find_program(name, shell.get("PATH", os.defpath), self.workspace),
            arguments=tuple(arguments),
            variables={**passed, **profile.environment(shell)},
            folder=_folder_in(self.workspace),
            hosts=(*profile.servers(shell), *self.hosts),
            terminal=terminal,
        )

    async def run(
        self, socket: Path, order: Order, proposals: Proposals, relay: TerminalRelay | StreamRelay
    ) -> ProgramEnd:
        """Run it by the client that listens at the socket; hosts are asked about as calls.

        Raises:
            CommandExecutionError: It could not be started, or the client ended before it.
        """
        opened = await asyncio.to_thread(open_line, socket, order, relay.streams)
        line = await AgentLine.over(opened)
        relay.close_program_side()
        try:
            return _read_end(await self._follow(line, proposals))
        finally:
            # The client ends the program if the command fails before.
            line.close()

    async def _follow(self, line: AgentLine, proposals: Proposals) -> dict[str, Any] | None:
        """Answer the questions about hosts; the message that tells of the end of the program."""
        async with asyncio.TaskGroup() as group:
            questions: list[asyncio.Task[None]] = []
            while (message := await line.receive()) is not None and message["event"] == "host":
                asking = self._ask(message["host"], line, proposals)
                questions.append(group.create_task(asking))
            for question in questions:
                question.cancel()
        return message

    async def _ask(self, host: str, line: AgentLine, proposals: Proposals) -> None:
        params = {"program": self.profile.title, "host": host}
        call_id = f"reach-{secrets.token_hex(8)}"
        call = await proposals.propose(Proposal("reach_host", params, call_id))
        may = call["status"] == Status.COMPLETED
        why_not = "" if may else str(call["error"] or "a person has refused it")
        await line.send(host=host, why_not=why_not)


async def ask_about_sum(proposals: Proposals) -> dict[str, Any]:
    """Put the sum of the session's draft to the person; the call that applies it, at its end."""
    call_id = f"apply-{secrets.token_hex(8)}"
    return await proposals.propose(Proposal("apply_draft", {}, call_id))


def check_hosts(hosts: Sequence[str]) -> None:
    """Check hosts that the person allows.

    Raises:
        BadInput: One is not a host with its port.
    """
    for host in hosts:
        if findings := validate_host(host, exact=True):
            raise BadInput(f"--allow: {findings[0].reason}")


def check_session(session_id: str) -> None:
    """Check a name that the person has typed, before a program runs in vain.

    Raises:
        BadInput: No session can have it.
    """
    if not re.fullmatch(SESSION_NAME, session_id):
        raise BadInput(
            "--session: a name has at most 128 letters (a to z), digits and `.`, `_`, `:`, `@`,"
            " `-`, and does not begin with `.` or `-`"
        )


def session_for(words: Sequence[str]) -> str:
    """A name for a new session in which a program runs."""
    letters = re.findall("[A-Za-z0-9]", Path(words[0]).name)[:_MOST_TITLE_CHARS]
    return f"draft-{''.join(letters) or 'program'}-{secrets.token_hex(4)}"


def _read_end(told: dict[str, Any] | None) -> ProgramEnd:
    if told is None:
        raise CommandExecutionError(
            "the client ended before the program; what the program had changed is in the draft "
            "when the client runs again"
        )
    if told["event"] == "failed":
        raise CommandExecutionError(told["error"])
    return ProgramEnd(
        told["exit_code"],
        told["step"],
        told["changed"],
        tuple(told["notes"]),
        tuple(told["hosts"]),
    )


def _folder_in(workspace: str) -> str:
    """The person's current folder as a path in the workspace; its root if they are elsewhere."""
    here = Path.cwd()
    return os.path.relpath(here, workspace) if here.is_relative_to(workspace) else "."

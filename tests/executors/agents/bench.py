"""A bench on which programs run over a draft."""

import asyncio
import os
from pathlib import Path

from handrail.core.rehearsal import CallRef
from handrail.executors.agents.hosts import AskAbout
from handrail.executors.agents.profiles import AgentProfile, SettingsFolder
from handrail.executors.agents.programs import find_program
from handrail.executors.agents.run import AgentCommand, AgentEnd, run_agent
from handrail.executors.drafts.draft import Draft
from handrail.executors.drafts.drafts import ClientDrafts
from handrail.executors.processes.pipes import Streams
from handrail.policy.network.hosts import Host

SYSTEM = "/usr/bin:/bin"
BASH = AgentProfile("bash")
AGENT = AgentProfile(
    "agent",
    files=(".agentrc",),
    settings=(
        SettingsFolder(".agent", ("sessions/*", "login.json"), ("settings.json", "hooks/*")),
    ),
)
# Asks the proxy for a host, and prints the answer.
CONNECT = (
    "exec 3<>/dev/tcp/127.0.0.1/3128;"
    r" printf 'CONNECT example.test:443 HTTP/1.1\r\nHost: example.test:443\r\n\r\n' >&3; cat <&3"
)


class Bench:
    """Runs bash over the draft of a session, and keeps what it has printed."""

    def __init__(self, drafts: ClientDrafts, root: Path, output: Path):
        self.drafts = drafts
        self.root = root
        self.output = output
        self.asked: list[str] = []
        self.stop = asyncio.Event()

    async def ask(self, host: Host) -> str:
        self.asked.append(str(host))
        return "a person has refused it"

    async def bash(
        self,
        script: str,
        profile: AgentProfile = BASH,
        ask: AskAbout | None = None,
        hosts: tuple[str, ...] = (),
    ) -> AgentEnd:
        with self.output.open("wb") as out, open(os.devnull, "rb") as nothing:
            command = AgentCommand(
                find_program("bash", SYSTEM, str(self.root)),
                ("-c", script),
                profile,
                Streams(nothing.fileno(), out.fileno(), out.fileno()),
                profile.environment(os.environ),
                hosts=hosts,
            )
            call = CallRef("session", f"call-{len(self.draft.layers.steps)}")
            return await run_agent(self.draft, call, command, ask or self.ask, self.stop)

    @property
    def draft(self) -> Draft:
        return self.drafts.open("session")

    @property
    def said(self) -> str:
        return self.output.read_text()

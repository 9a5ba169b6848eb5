"""An agent at work over a real store, with a model that plays a script and can be watched."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest

from handrail.agent.limits import Limits
from handrail.agent.loop import Means
from handrail.agent.providers.script import Script, ScriptedUse, Step
from handrail.agent.providers.scripted import ScriptedProvider
from handrail.agent.runs import AgentRuns
from handrail.app.build_server import build_services
from handrail.bus.local import LocalBus
from handrail.core.approval import Approval
from handrail.core.conversation import Speaker
from handrail.core.ids import SessionId
from handrail.core.model import Prompt, Provider, Reply
from handrail.core.run import Message, Run, RunStatus
from handrail.plane.budget import Budget
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household
from tests.plane.conftest import at_the
from tests.plane.desk import Desk, at_work, registry_at

SESSION = SessionId("talk-1")


def use(text: str, tool: str = "note", use_id: str | None = None) -> ScriptedUse:
    return ScriptedUse(name=tool, input={"text": text}, id=use_id)


def saying(*steps: Step | str, **more: object) -> Script:
    read = tuple(Step(text=one) if isinstance(one, str) else one for one in steps)
    return Script.model_validate({"steps": read, **more})


class Watched:
    """A model whose prompts are kept; it does something first, or last, if it is told to."""

    name = "scripted"
    model = "a-model"

    def __init__(self, script: Script):
        self._provider = ScriptedProvider(script, self.model)
        self.prompts: list[Prompt] = []
        self.first: Callable[[], Awaitable[object]] | None = None
        self.last: Callable[[], Awaitable[object]] | None = None

    async def reply(self, prompt: Prompt, on_text: Callable[[str], None] | None = None) -> Reply:
        self.prompts.append(prompt)
        if self.first is not None:
            await self.first()
        reply = await self._provider.reply(prompt, on_text)
        if self.last is not None:
            await self.last()
        return reply


@dataclass
class Lab:
    services: Services
    home: Household
    desk: Desk
    limits: Limits = field(default_factory=Limits)
    daily_tokens: int | None = None

    @property
    def today(self) -> str:
        return self.services.clock.now().date().isoformat()

    def means(self, provider: Provider) -> Means:
        return Means(
            self.services.store,
            self.services.clock,
            self.services.executor,
            self.services.whispers,
            self.services.skills,
            Budget(self.services.store, self.services.clock, lambda: self.daily_tokens),
            lambda: provider,
            lambda: self.limits,
        )

    def runs(self, provider: Provider, owner: str = "here") -> AgentRuns:
        return AgentRuns(self.means(provider), self.services.bus, self.services.stopper, owner)

    async def say(self, runs: AgentRuns, text: str, session_id: SessionId = SESSION) -> Run:
        _, run = await runs.say(text, self.home.user, self.home.project.id, session_id)
        return run

    async def end_of(self, run: Run) -> Run:
        async with asyncio.timeout(30):
            while True:
                found = await self.services.store.find_run(run.id)
                assert found is not None
                if found.status is not RunStatus.RUNNING:
                    return found
                await asyncio.sleep(0.01)

    async def question(self) -> Approval:
        async with asyncio.timeout(30):
            while True:
                waiting = await self.services.approvals.get_pending_approvals(self.home.project.id)
                if waiting:
                    return waiting[0]
                await asyncio.sleep(0.01)

    async def refuse(self, reason: str | None = None) -> None:
        asked = await self.question()
        decider = at_the("console", self.home)
        await self.services.approvals.reject_tool(asked.id, decider, reason=reason)

    async def approve(self) -> None:
        asked = await self.question()
        await self.services.approvals.approve_tool(asked.id, at_the("console", self.home))

    async def talk(self, session_id: SessionId = SESSION) -> list[Message]:
        return await self.services.store.list_messages(
            self.home.project.id, session_id, after=0, limit=200
        )

    async def answers(self) -> list[str]:
        return [part.output for one in await self.talk() for part in one.utterance.answers]

    async def replies(self) -> Sequence[str]:
        talk = await self.talk()
        return [one.utterance.text for one in talk if one.utterance.speaker is Speaker.ASSISTANT]


@pytest.fixture
def lab(store: SqliteStore, bus: LocalBus, clock: FakeClock, household: Household) -> Lab:
    desk = Desk()
    return Lab(build_services(store, bus, clock, registry=registry_at(desk)), household, desk)


@asynccontextmanager
async def driving(lab: Lab, runs: AgentRuns) -> AsyncGenerator[None]:
    """The server at work, with this agent in it."""
    async with at_work(replace(lab.services, runs=runs)):
        yield

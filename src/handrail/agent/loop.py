"""The loop: ask the model, see to the tools it wants, tell it what came of them, and again.

It holds nothing of its own. Every message is stored before it is acted on, and each turn begins
by reading what the conversation asks for next. So it may be killed anywhere and begun again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import structlog

from handrail.agent.answers import answer_to, answer_without_call
from handrail.agent.asking import ask
from handrail.agent.compaction import cut_at, in_its_place, is_due, summary_prompt
from handrail.agent.history import (
    OURS,
    AnswerTools,
    AskModel,
    Rest,
    heard_by_model,
    next_step,
    task_of_run,
    with_own_ids,
)
from handrail.agent.limits import Limits
from handrail.agent.prompt import system_prompt
from handrail.agent.providers.arguments import why_unreadable
from handrail.agent.refusals import STOP_AND_ASK, are_too_many, is_told_to_ask
from handrail.agent.thread import End, LetGo, Said, Thread
from handrail.core.access import Principal, Role
from handrail.core.change import Change, CountTokens
from handrail.core.conversation import (
    Notice,
    Speaker,
    Summary,
    Text,
    ToolAnswer,
    ToolUse,
    Utterance,
)
from handrail.core.errors import HandrailError, NotFound, StoreUnavailable
from handrail.core.execution import ToolExecution
from handrail.core.ids import OWN_AGENT, UserId
from handrail.core.model import Prompt, Provider, Reply, StopReason
from handrail.core.ports import Clock, Store
from handrail.core.project import Autonomy, Place
from handrail.core.run import Message, Run, RunStatus, call_id_of
from handrail.core.skill import Skills
from handrail.core.tool import ToolCall, ToolSpec
from handrail.core.visible import cut
from handrail.knowledge.skills import fitting
from handrail.plane.budget import Budget
from handrail.plane.executor import ToolExecutor
from handrail.plane.whispers import Whisper, Whispers

_MOST_SKILLS_LOADED = 2
_MOST_REASONING_CHARS = 2_000
_GO_ON = f"{OURS} Your answer was cut off at its longest; go on exactly where you stopped."
_BROKE = "an error in the server ended the run; its log has the details"
_REFUSED = End(
    RunStatus.STOPPED, "three calls in a row were refused; tell the agent how to continue"
)
_ASK_FIRST = "not run: the person has refused three calls in a row; ask them what they want first"

log = structlog.get_logger(__name__)


async def _anybody(_: UserId) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Means:
    """What an agent works with. Its own instructions and skills are for its owner's runs alone."""

    store: Store
    clock: Clock
    executor: ToolExecutor
    whispers: Whispers
    skills: Skills
    budget: Budget
    find_provider: Callable[[], Provider]
    limits: Callable[[], Limits] = Limits
    instructions: Callable[[], str] = str
    is_owner: Callable[[UserId], Awaitable[bool]] = _anybody


class Loop:
    """Takes one run to its end, from wherever it stands."""

    def __init__(self, run: Run, means: Means):
        self._means = means
        self._thread = Thread(run, means.store, means.clock)
        self._agent = Principal(Role.AGENT, OWN_AGENT, run.user_id, run.project_id)

    @property
    def run(self) -> Run:
        return self._thread.run

    async def drive(self) -> None:
        try:
            await self._drive()
        except (LetGo, StoreUnavailable):
            # A run that could not be stored still runs: it is taken up again later.
            log.info("run.let_go", run=self.run.id)
        except HandrailError as error:
            await self._end(End(RunStatus.FAILED, error.message))
        except Exception:
            log.exception("run.broke", run=self.run.id)
            await self._end(End(RunStatus.FAILED, _BROKE))

    async def _drive(self) -> None:
        provider = await asyncio.to_thread(self._means.find_provider)
        limits = self._means.limits()
        began = self._means.clock.now()
        messages = await self._thread.catch_up()
        system = await self._system(messages)
        while True:
            place = await self._place()
            if place.session.stopped_at is not None:
                return await self._end(End(RunStatus.STOPPED, "this session has been stopped"))
            match next_step(await self._thread.catch_up()):
                case AnswerTools(message, uses):
                    await self._see_to_tools(message, uses, limits)
                case AskModel():
                    driven = self._means.clock.now() - began
                    over = limits.why_over(self.run, self._thread.messages, driven)
                    if over is not None:
                        return await self._end(End(RunStatus.FAILED, over))
                    if await self._take_turn(provider, system, limits):
                        return None
                case Rest():
                    if await self._thread.reply(end=End(RunStatus.DONE)):
                        return None

    async def _end(self, end: End) -> None:
        try:
            await self._thread.say(end=end)
        except (LetGo, StoreUnavailable):
            log.info("run.let_go", run=self.run.id)

    async def _place(self) -> Place:
        place = await self._means.store.find_place(self.run.project_id, self.run.session_id)
        if place is None:
            raise NotFound(f"there is no session {self.run.session_id!r}")
        return place

    async def _system(self, messages: Sequence[Message]) -> str:
        skills = await asyncio.to_thread(self._means.skills.list_all)
        instructions = self._means.instructions()
        if not await self._means.is_owner(self.run.user_id):
            skills, instructions = [one for one in skills if one.builtin], ""
        loaded = fitting(skills, task_of_run(messages, self.run.id), _MOST_SKILLS_LOADED)
        return system_prompt(await self._place(), skills, loaded, instructions)

    async def _tools(self) -> tuple[ToolSpec, ...]:
        """Those of use in this session: where nothing is drafted, none decides about a draft."""
        drafts = (await self._place()).autonomy is Autonomy.DRAFT
        tools = self._means.executor.tools
        return tuple(tool.spec for tool in tools if drafts or not tool.decides_drafts)

    # The model's turn.

    async def _take_turn(self, provider: Provider, system: str, limits: Limits) -> bool:
        """Ask the model and store what it says; whether the run is over with it."""
        async with self._means.budget.turn(self.run.user_id):
            return await self._ask_and_store(provider, system, limits)

    async def _ask_and_store(self, provider: Provider, system: str, limits: Limits) -> bool:
        budget, whose = self._means.budget, self.run.user_id
        if is_due(self._thread.messages, limits.compact_at_tokens):
            await self._compact(provider, limits)
        prompt = Prompt(
            system,
            heard_by_model(self._thread.messages),
            await self._tools(),
            limits.reply_tokens,
        )
        is_asking_back = is_told_to_ask(self._thread.messages)
        reply = await ask(provider, prompt, self._whisper, self._tell)
        counted, warnings = await budget.spend(whose, reply.usage)
        end = _end_after(reply)
        if is_asking_back and end is not None and end.status is RunStatus.DONE:
            end = _REFUSED
        said = [*self._said(reply), *map(_as_notice, warnings)]
        if await self._thread.reply(*said, steps=[counted], end=end):
            return end is not None
        # The person has said something meanwhile, and is heard before anything is done.
        await self._count(counted)
        return False

    def _said(self, reply: Reply) -> list[Said]:
        said = [
            Said(with_own_ids(reply.utterance, self._thread.messages), reply.model, reply.usage)
        ]
        if reply.stop_reason is StopReason.MAX_TOKENS and not reply.utterance.tool_uses:
            said.append(Said(Utterance(Speaker.USER, (Text(_GO_ON),))))
        return said

    async def _compact(self, provider: Provider, limits: Limits) -> None:
        messages = self._thread.messages
        through = cut_at(messages, limits.compact_at_tokens)
        if through is None:
            return
        reply = await ask(provider, summary_prompt(messages, through), tell=self._tell)
        counted = self._means.budget.count(self.run.user_id, reply.usage)
        text = in_its_place(reply.utterance.text, messages, through)
        summary = Utterance(Speaker.USER, (Summary(text, through),))
        await self._thread.say(Said(summary, reply.model, reply.usage), steps=[counted])

    async def _count(self, counted: CountTokens) -> None:
        at = self._means.clock.now()
        await self._means.store.submit(Change(self.run.project_id, at, (counted,)))

    def _whisper(self, text: str) -> None:
        run, seq = self.run, self._thread.last_seq + 1
        self._means.whispers.tell(Whisper(run.project_id, run.session_id, run.id, seq, text))

    async def _tell(self, words: str) -> None:
        """Tell the person, and not the model."""
        # Only where nobody has said anything: the model must not seem to have heard that.
        await self._thread.reply(_as_notice(words))

    # The tools' turn.

    async def _see_to_tools(
        self, message: Message, uses: Sequence[ToolUse], limits: Limits
    ) -> None:
        if message.run_id == self.run.id and is_told_to_ask(self._before(message)):
            answers = [answer_without_call(use.id, _ASK_FIRST) for use in uses]
            await self._thread.say(_as_said(answers), end=_REFUSED)
            raise LetGo
        beyond = limits.beyond(self._thread.messages, message)
        begun = [
            answer_without_call(use.id, f"not run: a run may ask for {limits.calls} calls")
            if use.id in beyond
            else await self._begin(message, use)
            for use in uses
        ]
        ended = await asyncio.gather(*(self._await_end(one) for one in begun))
        answers = [
            one if isinstance(one, ToolAnswer) else answer_to(use.id, one)
            for use, one in zip(uses, ended, strict=True)
        ]
        note: tuple[Text, ...] = ()
        if await are_too_many(self._means.store, self._thread.messages, message, ended):
            note = (Text(STOP_AND_ASK),)
        await self._thread.say(_as_said(answers, *note))

    def _before(self, message: Message) -> list[Message]:
        return [one for one in self._thread.messages if one.seq < message.seq]

    async def _begin(self, message: Message, use: ToolUse) -> ToolExecution | ToolAnswer:
        """The call, or what to answer where there is none; the same again after a restart."""
        call_id = call_id_of(message.run_id, use.id)
        if message.run_id != self.run.id:
            # What an earlier run wanted is not done any more; what it did is told.
            where = (self.run.project_id, self.run.session_id)
            found = await self._means.store.find_call(*where, call_id)
            return found or answer_without_call(use.id)
        if (why := why_unreadable(use)) is not None:
            return answer_without_call(use.id, why)
        said = message.utterance.text.strip()
        call = ToolCall(
            self.run.project_id,
            self.run.session_id,
            call_id,
            use.name,
            use.input,
            reasoning=cut(said, _MOST_REASONING_CHARS) if said else None,
        )
        try:
            return await self._means.executor.propose(call, self._agent)
        except StoreUnavailable:
            raise
        except HandrailError as error:
            return answer_without_call(use.id, f"not run: {error.message}")

    async def _await_end(self, begun: ToolExecution | ToolAnswer) -> ToolExecution | ToolAnswer:
        if isinstance(begun, ToolAnswer):
            return begun
        ended = await self._means.executor.settle(begun.id)
        if not ended.status.is_final:
            raise LetGo
        return ended


def _as_notice(words: str) -> Said:
    return Said(Utterance(Speaker.USER, (Notice(words),)))


def _as_said(answers: Sequence[ToolAnswer], *notes: Text) -> Said:
    return Said(Utterance(Speaker.USER, (*answers, *notes)))


def _end_after(reply: Reply) -> End | None:
    """How the run ends with this reply; None where it goes on."""
    if reply.utterance.tool_uses:
        return None
    match reply.stop_reason:
        case StopReason.MAX_TOKENS:
            return None
        case StopReason.REFUSAL:
            return End(RunStatus.FAILED, "the model refuses to answer this")
        case _ if not reply.utterance.text.strip():
            return End(RunStatus.FAILED, "the model gave an empty answer; send the message again")
        case _:
            return End(RunStatus.DONE)

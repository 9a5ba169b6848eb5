"""Whatever happens in whatever order: what Handrail promises holds after every single step.

The real plane runs over a real file. The model knows only what we are sure of: what was asked and
by whom it was let pass, how every call and every question looked when last seen, and how often a
machine has acted.
"""

import asyncio
import shutil
from collections import defaultdict
from collections.abc import Coroutine
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    MultipleResults,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)
from structlog.testing import capture_logs

from handrail.app.build_server import build_services
from handrail.bus.local import LocalBus
from handrail.core.access import Principal
from handrail.core.approval import Approval, ApprovalStatus
from handrail.core.audit import find_break
from handrail.core.digest import digest_unmasked
from handrail.core.errors import BadInput, Conflict, ConflictingCall, ErrorType, NotFound
from handrail.core.event import Event
from handrail.core.execution import TRANSITIONS, Status, ToolExecution
from handrail.core.grant import Scope
from handrail.core.ids import ApprovalId, ExecutionId, GrantId, SessionId
from handrail.core.risk import Finding, RiskLevel
from handrail.core.survey import Survey
from handrail.core.tool import Effect, ToolCall
from handrail.plane.approvals import POLICY
from handrail.plane.dispatch import Claim
from handrail.plane.results import Report
from handrail.plane.survey import Refusal
from handrail.store.sqlite import SqliteStore
from handrail.store.sqlite_file import SqliteFile
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.plane.conftest import KEY, a_read, a_write, add_client, at_the, connected, lines_of

T = TypeVar("T")

# A secret is masked in the record, so that its raw form lies apart until the call has ended.
SECRET = "key = 'sk-canarycanarycanary1234'\n"
LONG = 700  # seconds; more than anybody is ever waited for
MOST = 10_000

# Counted from how many were stopped: there is always one to go on in, and one to be late for.
SESSIONS = st.sampled_from([0, 0, 0, 1, -1])
READABLE = st.sampled_from(["README.md", "README.md", ".env"])
WRITABLE = st.sampled_from(["src/a.py", "src/a.py", "src/b.py", "run.sh", "run.sh", ".env"])
SEEN = st.sampled_from(
    [
        Survey(),
        Survey({"size": 3}, (Finding("some.rule", "it is large", RiskLevel.HIGH),)),
        Survey({}, (Finding("some.rule", "it is grave", RiskLevel.CRITICAL),)),
        Refusal("this machine will not", ErrorType.DENIED),
    ]
)
SECONDS = st.sampled_from([0.5, 2, 60, 299, 300, 600, 3600])
MACHINES = st.sampled_from([0, 1])
# Mostly the machine that has the call, and mostly under the epoch it was handed out with.
BY_ITS_OWN = st.sampled_from([True, True, False])
EPOCHS_OFF = st.sampled_from([0, 0, -1, 1])
STEPS = st.integers(0, 3)
SCOPES = st.sampled_from([Scope.ONCE, *Scope])
OUTCOMES = st.sampled_from([Status.COMPLETED, Status.FAILED])

# How a call stands for each answer to the question about it.
ENDS = {
    ApprovalStatus.REJECTED: Status.REJECTED,
    ApprovalStatus.EXPIRED: Status.TIMEOUT,
    ApprovalStatus.WITHDRAWN: Status.FAILED,
}


@dataclass(frozen=True)
class Beginning:
    """A household with two machines for one workspace, in a file to begin every schedule from."""

    file: Path
    home: Household
    machines: tuple[Principal, Principal]


async def begin(folder: Path) -> Beginning:
    store = SqliteStore(folder / "beginning.db", LocalBus())
    await store.open()
    home = await settle_in(store, FakeClock(), "ada", str(folder))
    other = await add_client(store, home)
    await store.close()
    return Beginning(folder / "beginning.db", home, (home.client, other))


async def expect(allowed: bool, step: Coroutine[Any, Any, T]) -> T | None:
    """What is allowed succeeds, and everything else is a conflict."""
    if allowed:
        return await step
    with pytest.raises(Conflict):
        await step
    return None


class AnySchedule(RuleBasedStateMachine):
    calls = Bundle("calls")

    def __init__(self, beginning: Beginning):
        super().__init__()
        self._home = beginning.home
        self._machines = beginning.machines
        self._person = at_the("console", self._home)
        self._clock = FakeClock()
        self._runner = asyncio.Runner()
        self._folder = TemporaryDirectory()
        self._file = Path(self._folder.name) / "handrail.db"
        shutil.copy(beginning.file, self._file)
        self._call_ids = map(str, count(1))
        self._lines: dict[str, ExitStack] = {}

        self._asked: dict[ExecutionId, ToolCall] = {}
        self._looks: dict[ExecutionId, ApprovalId] = {}
        self._said_yes: set[ExecutionId] = set()
        # In which session it holds; None for all of them.
        self._granted: dict[GrantId, tuple[SessionId | None, int | None]] = {}
        self._stopped: set[SessionId] = set()
        self._acted: defaultdict[ExecutionId, set[str]] = defaultdict(set)
        self._calls: dict[ExecutionId, ToolExecution] = {}
        self._questions: dict[ApprovalId, Approval] = {}
        self._news: list[Event] = []
        self._restarted_at = 0
        self._do(self._open())

    @initialize(
        target=calls, here=st.sets(MACHINES), writes=st.lists(STEPS, max_size=4), read=st.booleans()
    )
    def begin_with(
        self, here: set[int], writes: list[int], read: bool
    ) -> MultipleResults[ExecutionId]:
        """Calls that have come some way already, so that a schedule need not begin from nothing."""
        for which in sorted(here):
            self.connect(which)
        words = {"session_id": self._session(0)}
        calls = [a_write(self._home, next(self._call_ids), content=SECRET, **words) for _ in writes]
        made = [self._ask(call, steps) for call, steps in zip(calls, writes, strict=True)]
        if read:
            made.append(self._ask(a_read(self._home, next(self._call_ids), **words)))
        return multiple(*made)

    # What agents do

    @rule(target=calls, session=SESSIONS, path=READABLE)
    def ask_to_read(self, session: int, path: str) -> MultipleResults[ExecutionId]:
        words = {"path": path, "session_id": self._session(session)}
        return self._ask_unless_stopped(a_read(self._home, next(self._call_ids), **words))

    @rule(target=calls, session=SESSIONS, path=WRITABLE, steps=STEPS, scope=SCOPES)
    def ask_to_write(
        self, session: int, path: str, steps: int, scope: Scope
    ) -> MultipleResults[ExecutionId]:
        words = {"path": path, "content": SECRET, "session_id": self._session(session)}
        call = a_write(self._home, next(self._call_ids), **words)
        return self._ask_unless_stopped(call, steps, scope)

    def _ask_unless_stopped(
        self, call: ToolCall, steps: int = 0, scope: Scope = Scope.ONCE
    ) -> MultipleResults[ExecutionId]:
        if call.session_id not in self._stopped:
            return multiple(self._ask(call, steps, scope))
        with pytest.raises(Conflict, match="has been stopped"):
            self._do(self._propose(call))
        return multiple()

    @rule(call=calls, same_words=st.booleans())
    def ask_under_the_same_id(self, call: ExecutionId, same_words: bool) -> None:
        before = self._asked[call]
        other = a_read(self._home, before.call_id, session_id=before.session_id, path="LICENSE")

        if same_words:
            assert self._do(self._propose(before)) == self._calls[call]
        else:
            with pytest.raises(ConflictingCall):
                self._do(self._propose(other))

    # What machines do

    @rule(which=MACHINES)
    def connect(self, which: int) -> None:
        """As the event stream does it: a second line of the same machine ends the first."""
        machine = self._machines[which]
        line = ExitStack()
        connection = line.enter_context(connected(self._services, machine))
        earlier = self._lines.pop(machine.subject, None)
        self._lines[machine.subject] = line
        self._do(self._services.dispatcher.offer_open_calls(connection))
        if earlier is not None:
            assert machine.subject in self._services.connections.connected
            earlier.close()
        assert machine.subject in self._services.connections.connected

    @rule(which=MACHINES)
    def disconnect(self, which: int) -> None:
        line = self._lines.pop(self._machines[which].subject, None)
        if line is not None:
            line.close()

    @rule(call=calls, seen=SEEN, by_its_own=BY_ITS_OWN)
    def look(self, call: ExecutionId, seen: Survey | Refusal, by_its_own: bool) -> None:
        if call not in self._looks:
            return
        before, machine = self._calls[call], self._machine(call, by_its_own)
        accepting = self._services.surveyor.accept(
            self._looks[call], seen, machine, self._home.project.id
        )
        # The facts may also come while a person is already asked without them.
        asked_without = before.status is Status.AWAITING_APPROVAL and not before.surveyed
        awaited = before.status is Status.PENDING or asked_without
        if awaited and before.client_id == machine.subject:
            self._do(accepting)
        else:
            with pytest.raises((Conflict, NotFound)):
                self._do(accepting)

    @rule(call=calls, by_its_own=BY_ITS_OWN, epoch_off=EPOCHS_OFF)
    def claim(self, call: ExecutionId, by_its_own: bool, epoch_off: int) -> None:
        """Whoever may begin does so, and never a second time: it remembers what it has begun."""
        before, machine = self._calls[call], self._machine(call, by_its_own)
        epoch = before.epoch + epoch_off
        allowed = before.status in (Status.APPROVED, Status.EXECUTING) and (
            (before.client_id, before.epoch) == (machine.subject, epoch)
        )

        claiming = self._services.dispatcher.claim(
            call, Claim(epoch, KEY), machine, self._home.project.id
        )
        claimed = self._do(expect(allowed, claiming))

        if claimed is not None and claimed.effect is Effect.CHANGE:
            self._acted[call].add(machine.subject)

    @rule(
        call=calls,
        outcome=OUTCOMES,
        words=st.sampled_from(["done", "and done"]),
        by_its_own=BY_ITS_OWN,
        epoch_off=st.sampled_from([None, 0, 0, -1, -1, 1]),
    )
    def report(
        self,
        call: ExecutionId,
        outcome: Literal[Status.COMPLETED, Status.FAILED],
        words: str,
        by_its_own: bool,
        epoch_off: int | None,
    ) -> None:
        before, machine = self._calls[call], self._machine(call, by_its_own)
        report = Report(
            execution_id=call,
            status=outcome,
            epoch=None if epoch_off is None else before.epoch + epoch_off,
            result={"success": outcome is Status.COMPLETED, "content": words},
            error=None if outcome is Status.COMPLETED else words,
        )
        accepting = self._services.receiver.accept(report, machine, self._home.project.id)
        if before.status.is_final and before.client_id == machine.subject:
            with suppress(Conflict):
                told = self._do(accepting)
                assert report.is_known_to(told)
        else:
            handed_out = before.status in (Status.APPROVED, Status.EXECUTING)
            mine = before.client_id == machine.subject
            timely = epoch_off in (None, 0)
            self._do(expect(mine and handed_out and timely, accepting))
            accepted = mine and handed_out and timely
            if accepted and outcome is Status.COMPLETED and before.effect is Effect.CHANGE:
                # A result is also the claim of what was only offered.
                self._acted[call].add(machine.subject)

    # What people do

    @rule(
        call=calls,
        scope=SCOPES,
        uses=st.sampled_from([None, 1]),
        as_shown=st.booleans(),
    )
    def approve(self, call: ExecutionId, scope: Scope, uses: int | None, as_shown: bool) -> None:
        question = self._question(call)
        if question is None:
            return
        approving = self._services.approvals.approve_tool(
            question.id,
            self._person,
            scope=scope,
            uses=uses,
            digest=self._shown_digest(question) if as_shown else "stale",
        )
        if self._is_open(question) and as_shown and scope not in question.offers:
            with pytest.raises(BadInput):
                self._do(approving)
            return
        again = self._is_answered(question, ApprovalStatus.APPROVED, scope, uses)
        allowed = (self._is_open(question) or again) and as_shown
        approved = self._do(expect(allowed, approving))
        if approved is not None and approved.answer is not None:
            self._said_yes.add(call)
            if approved.answer.grant_id is not None:
                where = None if scope is Scope.PROJECT else question.session_id
                self._granted[approved.answer.grant_id] = (where, uses)

    def _is_answered(
        self,
        question: Approval,
        status: ApprovalStatus,
        scope: Scope | None = None,
        uses: int | None = None,
    ) -> bool:
        """Whether the person has given just this answer before."""
        answer = question.answer
        if answer is None or question.status is not status or answer.by != "ada":
            return False
        granted = None if answer.grant_id is None else self._granted[answer.grant_id]
        return answer.scope == scope and (granted is None or granted[1] == uses)

    def _shown_digest(self, question: Approval) -> str:
        salt = self._home.project.digest_salt
        masked = question.masked_parts > 0
        return digest_unmasked(salt, question.digest) if masked else question.digest

    @rule(call=calls)
    def reject(self, call: ExecutionId) -> None:
        question = self._question(call)
        if question is not None:
            rejecting = self._services.approvals.reject_tool(question.id, self._person)
            again = self._is_answered(question, ApprovalStatus.REJECTED)
            self._do(expect(self._is_open(question) or again, rejecting))

    @rule(call=calls, yes=st.booleans())
    def answer_as_time_runs_out(self, call: ExecutionId, yes: bool) -> None:
        question = self._question(call)
        if question is None or not self._is_open(question):
            return
        self._clock.advance((question.expires_at - self._clock.now()).total_seconds())
        if yes:
            self.approve(call, Scope.ONCE, uses=None, as_shown=True)
        else:
            self.reject(call)

    @rule(call=calls)
    def cancel(self, call: ExecutionId) -> None:
        before = self._calls[call]
        allowed = not before.status.is_final or before.error_type is ErrorType.CANCELLED

        ended = self._do(expect(allowed, self._services.stopper.cancel(call, self._person)))

        assert ended is None or ended.error_type is ErrorType.CANCELLED

    @rule(call=calls)
    def stop_the_session_of(self, call: ExecutionId) -> None:
        session = self._asked[call].session_id

        self._do(self._services.stopper.stop_session(session, self._person))

        self._stopped.add(session)

    @rule()
    def take_all_grants_back(self) -> None:
        live = self._do(self._services.grants.list_live(self._home.project.id))
        for grant in live:
            self._do(self._services.grants.revoke(grant.id, self._home.user, grant.project_id))

    # What goes well

    @rule(call=calls, steps=STEPS, scope=SCOPES)
    def go_on_with(self, call: ExecutionId, steps: int, scope: Scope) -> None:
        """Bring a call on by what should come next; trouble is worst where a call has come far."""
        for _ in range(steps):
            match self._calls[call].status:
                case Status.PENDING:
                    self.look(call, Survey(), by_its_own=True)
                case Status.AWAITING_APPROVAL:
                    self.approve(call, scope, uses=None, as_shown=True)
                case Status.APPROVED if self._calls[call].client_id is None:
                    self.connect(0)
                case Status.APPROVED:
                    self.claim(call, by_its_own=True, epoch_off=0)
                case Status.EXECUTING:
                    self.report(call, Status.COMPLETED, "done", by_its_own=True, epoch_off=0)
                case _:
                    return
            self.every_promise_is_kept()

    # What time and trouble do

    @rule(seconds=SECONDS, swept=st.booleans())
    def wait(self, seconds: float, swept: bool) -> None:
        self._clock.advance(seconds)
        if swept:
            self._sweep()

    @precondition(lambda self: len(self._news) >= self._restarted_at + 10)
    @rule()
    def restart(self) -> None:
        self._close()
        self._do(self._open())
        self._restarted_at = len(self._news)

    # What holds after every step

    @invariant()
    def every_promise_is_kept(self) -> None:
        calls, questions = self._do(self._read_all())
        for call in calls.values():
            self._check_against_what_was_seen(call)
            self._check_that_it_was_let_pass(call)
            self._check_that_it_was_done_once_at_most(call)
        self._check_questions(calls, questions)
        self._calls, self._questions = calls, questions
        self._check_news()
        self._check_uses_of_grants()
        self._check_raw_parameters()

    def teardown(self) -> None:
        try:
            self._let_everything_end()
        finally:
            self._close()
            self._runner.close()
            self._folder.cleanup()

    def _let_everything_end(self) -> None:
        """No agent is left hanging, and the record tells the same after the last restart."""
        heard = self._news
        self._hang_up()
        # What is only being looked at becomes a question first, and then its time passes too.
        for _ in range(2):
            self._clock.advance(LONG)
            self._sweep()
            self.every_promise_is_kept()
        for call in self._calls:
            assert self._do(self._services.executor.settle(call, wait_seconds=0)).status.is_final
        self.restart()
        assert self._do(self._read_news(after=0))[: len(heard)] == heard
        assert find_break(self._do(lines_of(self._store, self._home))) is None

    def _check_against_what_was_seen(self, call: ToolExecution) -> None:
        """A final state never changes; only what comes too late may be added, once."""
        assert call.session_id not in self._stopped or call.status.is_final
        before = self._calls.get(call.id)
        if before is not None and before.status.is_final:
            assert call._replace(late_result=None) == before._replace(late_result=None)
            assert before.late_result in (None, call.late_result)

    def _check_that_it_was_let_pass(self, call: ToolExecution) -> None:
        """By policy if it is harmless, else by a person who said yes to it or to its kind."""
        if call.approved_at is None:
            assert call.status not in (Status.APPROVED, Status.EXECUTING, Status.COMPLETED)
        elif call.risk_level is RiskLevel.LOW:
            assert call.approved_by == POLICY
        elif (granted := self._granted.get(GrantId(call.approved_by or ""))) is not None:
            assert granted[0] in (None, call.session_id)
        else:
            assert call.approved_by == "ada"
            assert call.id in self._said_yes

    def _check_that_it_was_done_once_at_most(self, call: ToolExecution) -> None:
        """Whoever has begun a change is the one that has it, and nobody else ever does it."""
        if call.effect is Effect.CHANGE:
            assert self._acted[call.id] == (set() if call.started_at is None else {call.client_id})

    def _check_questions(
        self, calls: dict[ExecutionId, ToolExecution], questions: dict[ApprovalId, Approval]
    ) -> None:
        """An answer stands, and exactly what waits for one has an open question."""
        for question in questions.values():
            before = self._questions.get(question.id)
            assert before is None or before.answer is None or before == question
            call = calls[question.execution_id]
            if question.status in ENDS:
                assert call.status is ENDS[question.status]
            elif question.status is ApprovalStatus.APPROVED:
                assert call.approved_at is not None
        still_open = [one for one in questions.values() if one.answer is None]
        waiting = [one for one in calls.values() if one.status is Status.AWAITING_APPROVAL]
        assert all(one.status is ApprovalStatus.PENDING for one in still_open)
        assert sorted(one.execution_id for one in still_open) == sorted(one.id for one in waiting)

    def _check_news(self) -> None:
        """Every step is told, numbered without a gap, and along a road that there is."""
        told: dict[ExecutionId, Status] = {one.execution_id: one.status for one in self._news}
        fresh = self._do(self._read_news(after=len(self._news)))
        for number, event in enumerate(fresh, start=len(self._news) + 1):
            assert event.seq == number
            before = told.get(event.execution_id, event.status)
            assert event.status is before or event.status in TRANSITIONS[before]
            told[event.execution_id] = event.status
        self._news += fresh
        assert told == {call.id: call.status for call in self._calls.values()}

    def _check_uses_of_grants(self) -> None:
        for grant_id, (_, uses) in self._granted.items():
            passed = [call for call in self._calls.values() if call.approved_by == grant_id]
            assert uses is None or len(passed) <= uses

    def _check_raw_parameters(self) -> None:
        """A secret lies apart as long as a machine may need it, and not a moment longer."""
        kept = [row[0] for row in self._reader.run("SELECT execution_id FROM raw_params")]
        needed = [
            call.id
            for call in self._calls.values()
            if call.effect is Effect.CHANGE and not call.status.is_final
        ]
        assert sorted(kept) == sorted(needed)

    # How it is done

    def _do(self, step: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(step)

    async def _open(self) -> None:
        bus = LocalBus()
        self._store = SqliteStore(self._file, bus)
        await self._store.open()
        self._reader = SqliteFile(self._file, read_only=True)
        self._services = build_services(self._store, bus, self._clock)

    def _close(self) -> None:
        self._hang_up()
        self._reader.close()
        self._do(self._store.close())

    def _hang_up(self) -> None:
        for line in self._lines.values():
            line.close()
        self._lines.clear()

    def _sweep(self) -> None:
        """A chore that fails is only logged, so the log is looked at."""
        with capture_logs() as logged:
            self._do(self._services.sweeper.sweep())
        assert [line for line in logged if line["log_level"] == "error"] == []

    def _session(self, number: int) -> str:
        return f"session-{len(self._stopped) + number}"

    def _ask(self, call: ToolCall, steps: int = 0, scope: Scope = Scope.ONCE) -> ExecutionId:
        made = self._do(self._propose(call))
        self._asked[made.id] = call
        if made.status is Status.PENDING and made.approval_id is not None:
            self._looks[made.id] = made.approval_id
        self.every_promise_is_kept()
        self.go_on_with(made.id, steps, scope)
        return made.id

    def _propose(self, call: ToolCall) -> Coroutine[Any, Any, ToolExecution]:
        return self._services.executor.propose(call, self._home.agent)

    def _machine(self, call: ExecutionId, by_its_own: bool) -> Principal:
        """The machine that has a call, or the other one."""
        first, second = self._machines
        return second if (self._calls[call].client_id == second.subject) is by_its_own else first

    def _question(self, call: ExecutionId) -> Approval | None:
        asked = (one for one in self._questions.values() if one.execution_id == call)
        return next(asked, None)

    def _is_open(self, question: Approval) -> bool:
        return question.answer is None and self._clock.now() < question.expires_at

    async def _read_all(
        self,
    ) -> tuple[dict[ExecutionId, ToolExecution], dict[ApprovalId, Approval]]:
        project_id = self._home.project.id
        calls = await self._store.list_executions(
            project_id, status=None, agent_id=None, limit=MOST
        )
        questions = await self._store.list_approvals(project_id, status=None, limit=MOST)
        # What the store remembers is what it has on disk.
        assert [await self._store.find_execution(call.id) for call in calls] == calls
        return {call.id: call for call in calls}, {one.id: one for one in questions}

    async def _read_news(self, after: int) -> list[Event]:
        items = await self._store.read_stream(
            self._home.project.id, after=after, client_id=None, limit=MOST
        )
        return [item.event for item in items]


@pytest.mark.slow
# Long enough to find the shortest schedule, should one ever break a promise.
@pytest.mark.timeout(600)
def test_no_schedule_breaks_a_promise(tmp_path: Path) -> None:
    beginning = asyncio.run(begin(tmp_path))

    class Schedule(AnySchedule):
        def __init__(self) -> None:
            super().__init__(beginning)

    run_state_machine_as_test(
        Schedule,
        settings=settings(max_examples=60, stateful_step_count=50, deadline=None),
    )

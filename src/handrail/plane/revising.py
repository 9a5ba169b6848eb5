"""Reviser: a person changes the parameters of a call that waits for them.

The changed call is judged again, and its machine looks at it again. It keeps waiting: a person
approves what the new card shows.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, cast

import msgspec

from handrail.core.approval import Approval, ApprovalStatus
from handrail.core.audit import AuditRecord, canonical
from handrail.core.blob import INLINE_BYTES, as_blob
from handrail.core.change import Add, Change
from handrail.core.digest import digest_request
from handrail.core.errors import (
    BadInput,
    BrokenTool,
    ChangeRefused,
    Conflict,
    NotFound,
    TooLarge,
    ToolError,
)
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import ApprovalId
from handrail.core.masks import count_masks
from handrail.core.ports import Clock, Store
from handrail.core.project import Place
from handrail.core.revision import Revision
from handrail.core.revision_steps import Revise
from handrail.core.tool import JsonObject, Site
from handrail.core.verdict import Ruling
from handrail.core.visible import cut
from handrail.plane.answers import NOT_AS_SHOWN, Answers
from handrail.plane.approvals import ApprovalManager
from handrail.plane.assessment import Asked, Assessment, Assessor
from handrail.plane.calls import check_not_stopped, check_size
from handrail.plane.connections import Connections
from handrail.plane.decider import Decider
from handrail.plane.look_requests import LookRequests
from handrail.plane.looking import Looker
from handrail.plane.move import Move
from handrail.plane.origins import Origins
from handrail.policy.redaction import mask
from handrail.tools.diff import unified_diff

_MOST_IN_RECORD = 2_000
# Facts can arrive while the changed call is judged.
_ATTEMPTS = 3


class Editable(NamedTuple):
    """The parameters that a person may change, in full. `digest` goes back with the changes."""

    params: JsonObject
    digest: str


class _Waiting(NamedTuple):
    """A call that waits for a person, with its parameters in full."""

    question: Approval
    call: ToolExecution
    place: Place
    params_json: str

    @property
    def params(self) -> dict[str, Any]:
        return msgspec.json.decode(self.params_json)

    @property
    def digest(self) -> str:
        """Another one for other parameters, and the same before and after the machine's check."""
        salt = self.place.project.digest_salt
        return digest_request(salt, self.call.tool_name, self.params_json)


class _Changed(NamedTuple):
    """The call with other parameters, as it is before it is judged."""

    call: ToolExecution
    params: JsonObject
    params_json: str
    asked_json: str


class Reviser:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        assessor: Assessor,
        approvals: ApprovalManager,
        looker: Looker,
        connections: Connections,
    ):
        self._store = store
        self._clock = clock
        self._assessor = assessor
        self._approvals = approvals
        self._looker = looker
        self._looks = LookRequests(store, clock, connections)
        self._origins = Origins(store)
        self._answers = Answers(store, clock)

    async def read(self, approval_id: ApprovalId, decider: Decider) -> Editable:
        """What a person may change in a waiting call.

        Raises:
            NotFound: There is no such question in this project.
            Conflict: The question was answered, or its time has passed.
            BadInput: Nothing of such a call can be changed.
        """
        waiting = await self._find(approval_id, decider)
        names = waiting.question.editable
        asked = Asked(waiting.call.tool_name, waiting.params, waiting.params_json)
        _, checked = self._assessor.parse(asked)
        params = checked.model_dump(mode="json", include=set(names))
        if count_masks({name: waiting.call.tool_params.get(name) for name in names}):
            reader = decider.principal.subject
            line = AuditRecord("approval.unmasked", reader, approval_id, {})
            now = self._clock.now()
            await self._store.submit(Change(decider.project_id, now, (), (), (line,)))
        return Editable(params, waiting.digest)

    async def revise(
        self, approval_id: ApprovalId, decider: Decider, changes: JsonObject, digest: str
    ) -> Approval:
        """Put other parameters in the place of those that were asked for; returns the new question.

        `digest` is that of `read`, or of the card. The same changes by the same person, sent again
        because the reply was lost, give the question as it stands.

        Raises:
            NotFound: There is no such question in this project.
            Conflict: The question was answered, its time has passed, or it is not what was shown.
            BadInput: These changes are not possible, or the rules refuse the changed call.
        """
        by = await decider.find_name(self._store)
        for _ in range(_ATTEMPTS):
            waiting = await self._find(approval_id, decider)
            call, params = waiting.call, {**waiting.params, **changes}
            is_same = params == waiting.params
            if is_same and call.revision is not None and call.revision.by == by:
                return waiting.question
            if digest not in (waiting.digest, waiting.question.digest):
                raise Conflict(NOT_AS_SHOWN)
            if is_same:
                raise BadInput("nothing differs from the call as it is; approve it as it is")
            _check_changes(waiting, changes)
            try:
                return await self._revise(waiting, params, by, decider)
            except ChangeRefused:
                continue
        waiting = await self._find(approval_id, decider)
        await check_not_stopped(self._store, waiting.call)
        raise Conflict(NOT_AS_SHOWN)

    async def _find(self, approval_id: ApprovalId, decider: Decider) -> _Waiting:
        question = await self._answers.find(approval_id, decider)
        call = await self._store.find_execution(question.execution_id)
        if question.status is not ApprovalStatus.PENDING or call is None:
            raise Conflict(question.how_it_ended)
        if not question.editable:
            raise BadInput(f"calls of {question.tool_name} cannot be changed; refuse it instead")
        place = await self._store.find_place(call.project_id, call.session_id)
        if place is None:
            raise NotFound(f"there is no session {call.session_id!r}")
        return _Waiting(question, call, place, await self._store.read_raw_params(call))

    async def _revise(
        self, waiting: _Waiting, params: JsonObject, by: str, decider: Decider
    ) -> Approval:
        changed = await self._change(waiting, params, by)
        assessment = await self._assess(changed, waiting.place)
        move = await self._approvals.rule(changed.call, assessment, is_asked=True)
        if assessment.survey is None and changed.call.site is Site.CLIENT:
            move = await self._looks.assign(changed.call, move)
        question = replace(_question_in(move), created_at=waiting.question.created_at)
        raw = (changed.params_json, changed.asked_json)
        step = Revise(waiting.call, move.after, question, *raw)
        line = _line_for(move.after, question, decider)
        now = self._clock.now()
        await self._store.submit(Change(question.project_id, now, (step,), move.events, (line,)))
        return question

    async def _change(self, waiting: _Waiting, params: JsonObject, by: str) -> _Changed:
        call, agent = waiting.call, waiting.place.session.opened_by
        asked_json = await self._store.read_asked_params(call)
        asked: JsonObject = msgspec.json.decode(asked_json)
        params_json = canonical(params)
        tool, _ = self._assessor.parse(Asked(call.tool_name, params, params_json))
        check_size(params, params_json, tool.large)
        try:
            masked = await self._assessor.mask(agent, params, len(params_json))
        except ToolError as error:
            raise Conflict(error.message) from error
        diff = "".join(_diff(name, asked.get(name), params.get(name)) for name in tool.editable)
        after = call._replace(
            status=Status.PENDING,
            # An answer to the call as it was before is refused.
            epoch=call.epoch + 1,
            tool_params=masked,
            origins=dict(_left_of(call.origins or {}, asked, params)) or None,
            revision=Revision(by, self._clock.now(), mask(diff)),
        )
        return _Changed(after, params, params_json, asked_json)

    async def _assess(self, changed: _Changed, place: Place) -> Assessment:
        call, params = changed.call, changed.params
        asked = Asked(call.tool_name, params, changed.params_json, call.origins, was_changed=True)
        try:
            tool, checked = self._assessor.parse(asked)
            survey = await self._looker.look(call, tool, checked, place)
            assessment = await self._origins.assess(self._assessor, asked, place, survey)
        except (ToolError, BrokenTool) as error:
            raise BadInput(f"it cannot be changed like this: {error.message}") from error
        if assessment.verdict.ruling is Ruling.DENY:
            reasons = "; ".join(assessment.verdict.reasons)
            raise BadInput(f"the changed call would be refused: {reasons}")
        return assessment


def _check_changes(waiting: _Waiting, changes: JsonObject) -> None:
    """Whether a person may change these parameters, to texts that they have seen in full."""
    editable = waiting.question.editable
    for name, value in changes.items():
        if name not in editable:
            raise BadInput(
                f"{name} cannot be changed, only {' and '.join(editable)}; refuse the call and say "
                "what it should do instead"
            )
        if as_blob(value) is not None:
            raise BadInput(f"{name}: send the text itself")
        if len(canonical(value)) > INLINE_BYTES:
            raise TooLarge(f"{name}: a text of more than {INLINE_BYTES:,} bytes cannot be sent")
        if count_masks(value) > count_masks(waiting.params.get(name)):
            raise BadInput(
                f"{name} has masked parts; change the full text, which is at "
                f"/approvals/{waiting.question.id}/editable"
            )


def _question_in(move: Move) -> Approval:
    for step in move.steps:
        if isinstance(step, Add) and isinstance(step.row, Approval):
            return step.row
    raise AssertionError("a changed call is put to a person")


def _left_of(
    origins: Mapping[str, str], asked: JsonObject, params: JsonObject
) -> Iterator[tuple[str, str]]:
    """The marks of parameters in which a word is left that was taken from a result."""
    for name, call_id in origins.items():
        words = [set(_text(values.get(name)).split()) for values in (asked, params)]
        if not words[0].isdisjoint(words[1]):
            yield name, call_id


def _diff(name: str, old: object, new: object) -> str:
    texts = (_text(old), _text(new))
    if not any("\n" in text for text in texts):
        # A parameter in one line has no line end that could be missing.
        texts = (f"{texts[0]}\n", f"{texts[1]}\n")
    return unified_diff(name, *texts).text


def _text(value: object) -> str:
    """A parameter as text; a list is one line for each of its items."""
    if isinstance(value, list):
        return "".join(f"{canonical(item)}\n" for item in cast(list[object], value))
    return value if isinstance(value, str) else "" if value is None else canonical(value)


def _line_for(call: ToolExecution, question: Approval, decider: Decider) -> AuditRecord:
    revision = call.revision
    details = {
        "approval": question.id,
        "by": None if revision is None else revision.by,
        "channel": decider.channel,
        "risk": call.risk_level.name,
        "reasons": call.reasons,
        "digest": call.digest,
        "changes": "" if revision is None else cut(revision.diff, _MOST_IN_RECORD),
    }
    return AuditRecord("call.revised", decider.principal.subject, call.id, details)

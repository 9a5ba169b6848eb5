"""Origins: which words of a call stood in what earlier calls of its session brought back."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from handrail.core.change import KeepTold
from handrail.core.errors import ErrorType
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import ProjectId, SessionId
from handrail.core.ports import Store
from handrail.core.project import Place, Session, circle_of
from handrail.core.survey import Survey
from handrail.core.tool import JsonObject
from handrail.core.verdict import Ruling
from handrail.plane.assessment import Asked, Assessment, Assessor
from handrail.plane.suspicion import told_text
from handrail.policy.distrust import told
from handrail.policy.injection.checked import needs_injection_check, origin_of, tells_names
from handrail.policy.injection.told import ANY_HOST, keys_of, told_in
from handrail.policy.injection.values import (
    Kind,
    Value,
    as_told,
    hosts_in,
    in_one_form,
    notable_values,
)
from handrail.policy.redaction import mask_text

MOST_RESULTS = 50
MOST_CHARS = 2_000_000

_MOST_NOTES = 8
_MOST_ON_THE_LOOP = 50_000
# In names of files and the like, a value is not looked for: they are the person's own.
_OWN_NAMES = (Kind.PATH, Kind.ARGUMENT)
# What is worst for a person not to know comes first.
_WORST = (Kind.HOST, Kind.URL, Kind.ADDRESS, Kind.COMMAND, Kind.PATH, Kind.ARGUMENT)
_NOT_DONE = (Status.REJECTED, Status.TIMEOUT)
_ENDED_BY_US = (ErrorType.DENIED, ErrorType.TOO_MANY_QUESTIONS, ErrorType.CANCELLED)


class _Source(NamedTuple):
    """What an earlier call has told, and what it had said itself."""

    call: ToolExecution
    told: str
    said: str


class _Found(NamedTuple):
    """A value, and the call that told it; or that told of so many that it may be among them.

    The record of that call may have been removed since; what it told of still counts.
    """

    value: Value
    call: ToolExecution | None
    is_guess: bool = False


class _Where(NamedTuple):
    """In whose results is looked."""

    project_id: ProjectId
    session_id: SessionId
    circle: str

    @classmethod
    def of_session(cls, session: Session) -> "_Where":
        circle = circle_of(session.opened_by, session.id)
        return cls(session.project_id, session.id, circle)

    @classmethod
    def of_call(cls, call: ToolExecution) -> "_Where":
        circle = circle_of(call.agent_id, call.session_id)
        return cls(call.project_id, call.session_id, circle)


class Origins:
    def __init__(self, store: Store):
        self._store = store

    async def assess(
        self, assessor: Assessor, asked: Asked, place: Place, survey: Survey | None = None
    ) -> Assessment:
        """Judge a call; one that reaches out also by whether a result has told whom it reaches.

        Raises:
            BadInput, ToolError, BrokenTool: As `Assessor.assess` does.
        """
        assessment = await assessor.assess(asked, place, survey)
        verdict = assessment.verdict
        if not verdict.plan.reaches_out or verdict.ruling is Ruling.DENY:
            return assessment
        web = assessor.scene_of(place).rules.web
        agent, size = place.session.opened_by, len(asked.params_json)
        params = await assessor.mask(agent, asked.tool_params, size)
        hosts = [host for host in hosts_in(params, verdict.plan.hosts) if not web.names(host.shown)]
        found = await self._look(hosts, _Where.of_session(place.session), params)
        if not found:
            return assessment
        return await assessor.assess(asked, place, survey, (told(_sentence(found[0])),))

    async def notes_for(self, judged: ToolExecution, large: str | None) -> tuple[str, ...]:
        """Where the words of a call came from, in sentences for the person who decides on it."""
        values = notable_values(judged.tool_params, large=large)
        found = await self._look(values, _Where.of_call(judged), judged.tool_params)
        notes = [note for note in map(_sentence, found) if note not in judged.reasons]
        if (more := len(notes) - _MOST_NOTES) > 0:
            notes = [*notes[:_MOST_NOTES], f"{more:,} more of its words appeared in such results"]
        return tuple(notes)

    async def _look(
        self,
        values: Sequence[Value],
        where: _Where,
        params: JsonObject,
    ) -> list[_Found]:
        """The values that were told, each with the call that told it first, the worst first."""
        path = params.get("path")
        but_for = path if isinstance(path, str) else None
        found = [await self._teller(value, where, but_for) for value in values]
        told = {one.value: one for one in found if one is not None}
        # The rest is looked for in what was told last: words that are like nothing else.
        left = [value for value in values if value not in told and not _is_kept(value)]
        told |= {one.value: one for one in await self._look_again(left, where, path)}
        return _without_parts([*told.values()])

    async def _teller(self, value: Value, where: _Where, but_for: str | None) -> _Found | None:
        keys = [(key, False) for key in keys_of(value)]
        if value.kind is Kind.HOST:
            keys.append((ANY_HOST, True))
        for key, is_guess in keys:
            teller = await self._store.find_teller(
                where.project_id, where.circle, key, but_for=but_for
            )
            if teller is not None:
                return _Found(value, await self._store.find_execution(teller), is_guess)
        return None

    async def _look_again(
        self, values: Sequence[Value], where: _Where, path: object
    ) -> list[_Found]:
        if not values:
            return []
        latest = await self._store.list_results(
            where.project_id, where.session_id, limit=MOST_RESULTS, most_chars=MOST_CHARS
        )
        calls = [
            call
            for call in reversed(latest)
            # Of a file that was read and is written now, nobody needs to be told.
            if needs_injection_check(call.tool_name)
            and (path is None or call.tool_params.get("path") != path)
        ]
        if not calls:
            return []
        texts = [_told_by(call) for call in calls]
        if sum(map(len, texts)) <= _MOST_ON_THE_LOOP:
            return _find(values, calls, texts)
        return await asyncio.to_thread(_find, values, calls, texts)


async def keep_told(
    call: ToolExecution, result: JsonObject | None, error: str | None
) -> tuple[KeepTold, ...]:
    """The step that keeps what a result has told of, to go with the one that stores it."""
    if not needs_injection_check(call.tool_name):
        return ()
    text = told_text(result, None if call.error_type in _ENDED_BY_US else error)
    if len(text) <= _MOST_ON_THE_LOOP:
        keys = _keys_told(call, text)
    else:
        keys = await asyncio.to_thread(_keys_told, call, text)
    return (KeepTold(call, keys),) if keys else ()


def _keys_told(call: ToolExecution, text: str) -> tuple[str, ...]:
    told = told_in(text, paths=not tells_names(call.tool_name))
    if not told.keys:
        return ()
    # What a call had said itself, and comes back as an echo. A page can still tell of the host
    # that it came from.
    said = told_in(told_text(call.tool_params, None)[:_MOST_ON_THE_LOOP])
    echo = set(said.others if call.status is Status.COMPLETED else said.keys)
    return tuple(key for key in told.keys if key not in echo)


def _find(
    values: Sequence[Value], calls: Sequence[ToolExecution], texts: Sequence[str]
) -> list[_Found]:
    sources: list[_Source] = []
    left = MOST_CHARS
    # The latest ones count, should there be too much.
    for call, text in zip(reversed(calls), reversed(texts), strict=True):
        said = in_one_form(told_text(call.tool_params, None)[:_MOST_ON_THE_LOOP])
        sources.append(_Source(call, as_told(text[: max(left, 0)]), said))
        left -= len(text)
    sources.reverse()
    found: list[_Found] = []
    for value in values:
        source = next((source for source in sources if _tells(source, value)), None)
        if source is not None:
            found.append(_Found(value, source.call))
    return found


def _is_kept(value: Value) -> bool:
    """Whether we know for good that nobody told it; a bare name is no host unless it is used."""
    return value.kind is Kind.HOST and "." in value.shown


def _without_parts(found: Sequence[_Found]) -> list[_Found]:
    """What is part of something longer is not told beside it; the worst of the rest comes first."""
    kept: list[_Found] = []
    for one in sorted(found, key=lambda one: -len(one.value.shown)):
        if not any(one.value.shown in known.value.shown for known in kept):
            kept.append(one)
    return sorted(kept, key=lambda one: (not _is_suspicious(one), _WORST.index(one.value.kind)))


def _is_suspicious(found: _Found) -> bool:
    return found.call is not None and found.call.suspicion is not None


def _tells(source: _Source, value: Value) -> bool:
    if value.kind in _OWN_NAMES and tells_names(source.call.tool_name):
        return False
    if not value.stands_in(source.told):
        return False
    # What a call had said itself, and comes back as an echo. A page can still tell of the host
    # that it came from.
    ended_well = source.call.status is Status.COMPLETED
    echo = value.kind is not Kind.HOST or not ended_well
    return not (echo and value.stands_in(source.said))


def _told_by(call: ToolExecution) -> str:
    late = call.late_result or {}
    # Why it was not done are the words of a person, or our own.
    undone = call.status in _NOT_DONE or call.error_type in _ENDED_BY_US
    error = None if undone else call.error
    parts = (told_text(call.result, error), told_text(late.get("result"), late.get("error")))
    return "\n".join(filter(None, parts))


def _sentence(found: _Found) -> str:
    call, shown = found.call, found.value.shown
    where = "the result of an earlier call, whose record has been removed since"
    if call is not None:
        where = f"the result of {origin_of(call.tool_name, call.tool_params)} (call {call.call_id})"
    if found.is_guess:
        return mask_text(
            f"{where} contained more addresses than are recorded, perhaps also `{shown}`"
        )
    return mask_text(f"`{shown}` appeared in {where}")

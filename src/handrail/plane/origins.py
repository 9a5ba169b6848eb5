"""Origins: which words of a call stood in what earlier calls of its session brought back."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from handrail.core.errors import ErrorType
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import ProjectId, SessionId
from handrail.core.ports import Store
from handrail.core.project import Place
from handrail.core.survey import Survey
from handrail.core.tool import JsonObject
from handrail.core.verdict import Ruling
from handrail.plane.assessment import Asked, Assessment, Assessor
from handrail.plane.suspicion import told_text
from handrail.policy.distrust import told
from handrail.policy.injection.checked import needs_injection_check, origin_of, tells_names
from handrail.policy.injection.values import (
    Kind,
    Value,
    hosts_in,
    in_one_form,
    notable_values,
)
from handrail.policy.redaction import mask, mask_text
from handrail.policy.validators.hosts import HostList

MOST_RESULTS = 50
MOST_CHARS = 2_000_000

_MOST_NOTES = 8
_MOST_ON_THE_LOOP = 50_000
# In names of files and the like, a value is not looked for: they are the person's own.
_OWN_NAMES = (Kind.PATH, Kind.ARGUMENT)
_NOT_DONE = (Status.REJECTED, Status.TIMEOUT)
_ENDED_BY_US = (ErrorType.DENIED, ErrorType.CANCELLED)


class _Source(NamedTuple):
    """What an earlier call has told, and what it had said itself."""

    call: ToolExecution
    told: str
    said: str


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
        assessment = assessor.assess(asked, place, survey)
        verdict = assessment.verdict
        if not verdict.plan.reaches_out or verdict.ruling is Ruling.DENY:
            return assessment
        listed = assessor.scene_of(place).rules.web.listed
        params = mask(asked.tool_params)
        hosts = [
            host for host in hosts_in(params, verdict.plan.hosts) if not _is_listed(host, listed)
        ]
        found = await self._look(hosts, place.session.project_id, place.session.id, params)
        if not found:
            return assessment
        return assessor.assess(asked, place, survey, (told(_sentence(*found[0])),))

    async def notes_for(self, judged: ToolExecution, large: str | None) -> tuple[str, ...]:
        """Where the words of a call came from, in sentences for the person who decides on it."""
        values = notable_values(judged.tool_params, large=large)
        found = await self._look(values, judged.project_id, judged.session_id, judged.tool_params)
        notes = [
            note
            for note in (_sentence(value, call) for value, call in found)
            if note not in judged.reasons
        ]
        if (more := len(notes) - _MOST_NOTES) > 0:
            notes = [*notes[:_MOST_NOTES], f"{more:,} more of its words appeared in such results"]
        return tuple(notes)

    async def _look(
        self,
        values: Sequence[Value],
        project_id: ProjectId,
        session_id: SessionId,
        params: JsonObject,
    ) -> list[tuple[Value, ToolExecution]]:
        """The values that were told, each with the call that told it first."""
        if not values:
            return []
        latest = await self._store.list_results(
            project_id, session_id, limit=MOST_RESULTS, most_chars=MOST_CHARS
        )
        path = params.get("path")
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


def _find(
    values: Sequence[Value], calls: Sequence[ToolExecution], texts: Sequence[str]
) -> list[tuple[Value, ToolExecution]]:
    sources: list[_Source] = []
    left = MOST_CHARS
    # The latest ones count, should there be too much.
    for call, text in zip(reversed(calls), reversed(texts), strict=True):
        said = in_one_form(told_text(call.tool_params, None)[:_MOST_ON_THE_LOOP])
        sources.append(_Source(call, in_one_form(text[: max(left, 0)]), said))
        left -= len(text)
    sources.reverse()
    found: list[tuple[Value, ToolExecution]] = []
    # What is part of something longer is not told beside it.
    for value in sorted(values, key=lambda value: -len(value.shown)):
        if any(value.shown in known.shown for known, _ in found):
            continue
        source = next((source for source in sources if _tells(source, value)), None)
        if source is not None:
            found.append((value, source.call))
    return found


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


def _sentence(value: Value, call: ToolExecution) -> str:
    where = origin_of(call.tool_name, call.tool_params)
    return mask_text(f"`{value.shown}` appeared in the result of {where} (call {call.call_id})")


def _is_listed(value: Value, listed: HostList | None) -> bool:
    """Whether the operator names this host."""
    return listed is not None and listed.covers_name(value.shown)

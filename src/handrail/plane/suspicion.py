"""Suspicion: what a call brought back is looked at before anybody reads it."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, cast

import structlog

from handrail.core.execution import ToolExecution
from handrail.core.few import Few
from handrail.core.tool import JsonObject
from handrail.policy.injection.checked import (
    KEPT_FROM_IT,
    UNTRUSTED,
    needs_injection_check,
    origin_of,
)
from handrail.policy.injection.report import InjectionReport
from handrail.policy.injection.scan import scan
from handrail.policy.injection.second_look import Reader, look_again
from handrail.policy.redaction import mask_text
from handrail.policy.shown import shown_to_model

# Of what is longer, the beginning and the end are looked at: more of each than a model is shown.
FIRST_CHARS = 200_000
LAST_CHARS = 50_000

# What may take longer than a few milliseconds is not waited for on the loop, and what takes longer
# than this many seconds not at all: then nobody knows, which is as good as a find.
_MOST_ON_THE_LOOP = 2_000
MOST_SECONDS = 10.0
_THREADS = 2
_MOST_TEXTS = 20_000
_MOST_DEPTH = 20
# Shorter than this, it costs less to look at it twice than to find out that it is there twice.
_WORTH_COMPARING = 64
_MOST_CHARS_REMEMBERED = 4_000
_MOST_FINDINGS = 10
_NOT_KNOWN = {
    "rule": "not-looked-at",
    "reason": "it took too long to check all of it",
    "line": 1,
    "excerpt": "",
}

log = structlog.get_logger(__name__)


def get_ready() -> None:
    """Read the rules, which takes longer than to look at a book; the first result waits else."""
    scan("", source="")


class Suspicion:
    """Agents read the same again and again, so what was harmless is remembered for a while.

    A `reader`, if there is one, decides with the scan about what is doubtful.
    """

    def __init__(self, reader: Reader | None = None) -> None:
        self._reader = reader
        self._harmless: Few[str, bool] = Few()
        # Of their own: a text that is made to take long holds up no other work.
        self._threads = ThreadPoolExecutor(_THREADS, "scan")
        self._reading = ThreadPoolExecutor(1, "read")

    async def about(
        self, execution: ToolExecution, result: JsonObject | None, error: str | None
    ) -> JsonObject | None:
        """What in a result reads like orders to an agent; None where nothing does."""
        if not needs_injection_check(execution.tool_name):
            return None
        if isinstance(known := (result or {}).get(UNTRUSTED), str):
            source = origin_of(execution.tool_name, execution.tool_params)
            return {"source": source, "score": 1.0, "findings": [_as_known(known)]}
        text = scanned_text(result, error)
        if not text or self._harmless.get(text):
            return None
        source = origin_of(execution.tool_name, execution.tool_params)
        report = await self._scan(text, execution.tool_name)
        if report is None:
            log.warning("suspicion.took_too_long", execution=execution.id, chars=len(text))
            return {"source": source, "score": 1.0, "findings": [_NOT_KNOWN]}
        if report.suspicious:
            return _as_json(report, source)
        if len(text) <= _MOST_CHARS_REMEMBERED:
            self._harmless.keep(text, True)
        return None

    async def _scan(self, text: str, source: str) -> InjectionReport | None:
        """What was found; None where it took too long to find out."""
        look = partial(scan, text, source=source)
        if len(text) <= _MOST_ON_THE_LOOP:
            return await self._read(look())
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(MOST_SECONDS):
                report = await loop.run_in_executor(self._threads, look)
        except TimeoutError:
            return None
        return await self._read(report)

    async def _read(self, report: InjectionReport) -> InjectionReport:
        """What is left of it when the reader has read its doubts.

        Where that fails, or too many wait for it, nothing is lost: the scan has judged.
        """
        if self._reader is None or not report.doubts:
            return report
        read = partial(look_again, report, self._reader)
        try:
            async with asyncio.timeout(MOST_SECONDS):
                return await asyncio.get_running_loop().run_in_executor(self._reading, read)
        except Exception as error:
            log.warning("suspicion.not_read", error=repr(error))
            return report


def scanned_text(result: JsonObject | None, error: str | None) -> str:
    """What is looked at of a result: all that a model can be shown of any of its fields."""
    shown, *others = _told_texts(result, error) or [""]
    more = "\n".join(map(shown_to_model, others))
    return "\n".join(filter(None, (_ends_of(shown), _ends_of(more))))


def _ends_of(text: str) -> str:
    if len(text) <= FIRST_CHARS + LAST_CHARS:
        return text
    return f"{text[:FIRST_CHARS]}\n\n{text[-LAST_CHARS:]}"


def told_text(result: JsonObject | None, error: str | None) -> str:
    """All the words of a result, those for a model first; what these hold already is left out."""
    return "\n".join(_told_texts(result, error))


def _told_texts(result: JsonObject | None, error: str | None) -> list[str]:
    shown: Any = (result or {}).get("output", "")
    main = _without_our_own(shown, result or {}) if isinstance(shown, str) else ""
    parts = [main] if main else list[str]()
    # A model is told of a failure by this; it stands before what only programs read.
    if error and error not in main:
        parts.append(error)
    for number, text in enumerate(_texts(result or {}, 0)):
        if number >= _MOST_TEXTS:
            break
        if text is not shown and not (len(text) >= _WORTH_COMPARING and text in main):
            parts.append(text)
    return parts


def _without_our_own(output: str, result: JsonObject) -> str:
    """The output without its last line, where that is ours: it speaks of secrets kept from it.

    The names in it are looked at where they stand by themselves.
    """
    rest, mark, line = output.rpartition(KEPT_FROM_IT)
    is_ours = mark and result.get("kept_from_it") and "\n" not in line and line.endswith("]")
    return rest if is_ours else output


def _texts(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        if value:
            yield value
    elif depth < _MOST_DEPTH and isinstance(value, dict):
        for name, item in cast(dict[str, object], value).items():
            if len(name) >= _WORTH_COMPARING:
                yield name
            yield from _texts(item, depth + 1)
    elif depth < _MOST_DEPTH and isinstance(value, list):
        for item in cast(list[object], value):
            yield from _texts(item, depth + 1)


def _as_known(why: str) -> JsonObject:
    reason = mask_text(f"it was stored after this had been read: {why}")
    return {"rule": "kept-untrusted", "reason": reason, "line": 1, "excerpt": ""}


def _as_json(report: InjectionReport, source: str) -> JsonObject:
    return {
        "source": source,
        "score": report.score,
        "findings": [
            {
                "rule": finding.rule,
                "reason": finding.reason,
                "line": finding.line,
                "excerpt": mask_text(finding.excerpt),
            }
            for finding in report.findings[:_MOST_FINDINGS]
        ],
    }

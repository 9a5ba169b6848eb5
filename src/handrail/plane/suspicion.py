"""Suspicion: what a call brought back is looked at before anybody reads it."""

import asyncio
from collections.abc import Iterator
from typing import Any, cast

from handrail.core.execution import ToolExecution
from handrail.core.few import Few
from handrail.core.tool import JsonObject
from handrail.policy.injection.checked import needs_injection_check, origin_of
from handrail.policy.injection.report import InjectionReport
from handrail.policy.injection.scan import scan
from handrail.policy.redaction import mask_text

# Of what is longer, the beginning and the end are looked at: a model seldom sees more.
FIRST_CHARS = 200_000
LAST_CHARS = 50_000

# What takes longer than a few milliseconds is not waited for on the loop.
_MOST_ON_THE_LOOP = 20_000
_MOST_TEXTS = 20_000
_MOST_DEPTH = 20
# Shorter than this, it costs less to look at it twice than to find out that it is there twice.
_WORTH_COMPARING = 64
_MOST_CHARS_REMEMBERED = 4_000
_MOST_FINDINGS = 10


def get_ready() -> None:
    """Read the rules, which takes longer than to look at a book; the first result waits else."""
    scan("", source="")


class Suspicion:
    """Agents read the same again and again, so what was harmless is remembered for a while."""

    def __init__(self) -> None:
        self._harmless: Few[str, bool] = Few()

    async def about(
        self, execution: ToolExecution, result: JsonObject | None, error: str | None
    ) -> JsonObject | None:
        """What in a result reads like orders to an agent; None where nothing does."""
        if not needs_injection_check(execution.tool_name):
            return None
        text = told_text(result, error)
        if not text or self._harmless.get(text):
            return None
        if len(text) > FIRST_CHARS + LAST_CHARS:
            text = f"{text[:FIRST_CHARS]}\n\n{text[-LAST_CHARS:]}"
        if len(text) <= _MOST_ON_THE_LOOP:
            report = scan(text, source=execution.tool_name)
        else:
            report = await asyncio.to_thread(scan, text, source=execution.tool_name)
        if report.suspicious:
            return _as_json(report, origin_of(execution.tool_name, execution.tool_params))
        if len(text) <= _MOST_CHARS_REMEMBERED:
            self._harmless.keep(text, True)
        return None


def told_text(result: JsonObject | None, error: str | None) -> str:
    """All the words of a result, those for a model first; what these hold already is left out."""
    shown: Any = (result or {}).get("output", "")
    parts = [shown] if isinstance(shown, str) and shown else list[str]()
    main = parts[0] if parts else ""
    for number, text in enumerate(_texts(result or {}, 0)):
        if number >= _MOST_TEXTS:
            break
        if text is not shown and not (len(text) >= _WORTH_COMPARING and text in main):
            parts.append(text)
    if error is not None and error not in main:
        parts.append(error)
    return "\n".join(parts)


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

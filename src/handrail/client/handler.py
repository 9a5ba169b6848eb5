"""ToolHandler: what this machine does when it is told to execute something.

It trusts nothing it was sent: parameters are read again, judged again with this machine's own
rules, and held against the digest, before anything is touched.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
import structlog

from handrail.core.audit import canonical
from handrail.core.digest import digest_call
from handrail.core.errors import ApprovalDeniedError, BadInput, ErrorType, ToolError
from handrail.core.hands import Hands
from handrail.core.ports import Clock
from handrail.core.tool import ToolResult
from handrail.core.verdict import Ruling
from handrail.policy.security import Scene
from handrail.tools.judgement import judge_call
from handrail.tools.registry import ToolRegistry

MOST_AT_ONCE = 3
_HISTORY_LENGTH = 1000

log = structlog.get_logger(__name__)


class Signal(msgspec.Struct, frozen=True):
    """`tool.execution_signal`, as far as this machine needs it."""

    tool_id: str
    tool_name: str
    tool_params: dict[str, Any] | None
    digest: str
    salt: str
    epoch: int
    replayed: bool = False


class ResultAck(msgspec.Struct, frozen=True):
    """`tool.result_ack`, likewise."""

    tool_id: str
    receipt_status: str = "received"


@dataclass(frozen=True, slots=True)
class PastExecution:
    tool_id: str
    status: str
    start_time: datetime
    end_time: datetime
    error: str | None


@dataclass(slots=True)
class _Running:
    epoch: int


ReportResult = dict[str, Any]


class ToolHandler:
    def __init__(
        self,
        registry: ToolRegistry,
        scene: Scene,
        hands: Hands,
        clock: Clock,
        report: Callable[[ReportResult], None],
    ):
        self._registry = registry
        self._scene = scene
        self._hands = hands
        self._clock = clock
        self._report = report
        self._gate = asyncio.Semaphore(MOST_AT_ONCE)
        self._running: dict[str, _Running] = {}
        self._unacknowledged: dict[str, ReportResult] = {}
        self.history: deque[PastExecution] = deque(maxlen=_HISTORY_LENGTH)

    @property
    def active_executions(self) -> frozenset[str]:
        return frozenset(self._running)

    async def handle_tool_execution_signal(self, signal: Signal) -> None:
        """Execute, once, and report; a call offered anew is answered from what is known of it."""
        if signal.replayed or signal.tool_params is None:
            return
        if (running := self._running.get(signal.tool_id)) is not None:
            running.epoch = signal.epoch
            return
        if (earlier := self._unacknowledged.get(signal.tool_id)) is not None:
            self._send({**earlier, "epoch": signal.epoch})
            return
        running = self._running[signal.tool_id] = _Running(signal.epoch)
        try:
            async with self._gate:
                report = await self._execute(signal)
        finally:
            del self._running[signal.tool_id]
        self._send({**report, "epoch": running.epoch})

    def handle_tool_result_ack(self, ack: ResultAck) -> None:
        self._unacknowledged.pop(ack.tool_id, None)

    def _send(self, report: ReportResult) -> None:
        self._unacknowledged[report["tool_id"]] = report
        self._report(report)

    async def _execute(self, signal: Signal) -> ReportResult:
        start, began = self._clock.now(), time.perf_counter()
        result = await self._attempt(signal)
        elapsed = int((time.perf_counter() - began) * 1000)
        report: ReportResult = {"tool_id": signal.tool_id, "execution_time_ms": elapsed}
        if result.success:
            report |= {"status": "completed", "result": result.as_json()}
        else:
            report |= {"status": "failed", "error": result.error, "error_type": result.error_type}
        self.history.append(
            PastExecution(signal.tool_id, report["status"], start, self._clock.now(), result.error)
        )
        return report

    async def _attempt(self, signal: Signal) -> ToolResult:
        try:
            return await self._judge_and_run(signal, signal.tool_params or {})
        except ToolError as error:
            return ToolResult.failed(error.message, error.error_type)
        except BadInput as error:
            return ToolResult.failed(error.message, ErrorType.VALIDATION)
        except Exception as error:
            log.exception("execution.broke", tool=signal.tool_name, execution=signal.tool_id)
            return ToolResult.failed(
                f"{signal.tool_name} broke on the client: {type(error).__name__}",
                ErrorType.INTERNAL,
            )

    async def _judge_and_run(self, signal: Signal, raw: dict[str, Any]) -> ToolResult:
        tool, params = self._registry.parse(signal.tool_name, raw)
        verdict = judge_call(tool, params, self._scene)
        if verdict.ruling is Ruling.DENY:
            raise ApprovalDeniedError("; ".join(verdict.reasons))
        if digest_call(signal.salt, tool.name, canonical(raw), verdict.plan) != signal.digest:
            return ToolResult.failed(
                "what arrived is not what was judged; nothing was done", ErrorType.STALE
            )
        return await tool.execute(params, self._scene, self._hands)

"""show_draft: the steps of a session's draft and what they change together, as it is now."""

from datetime import UTC, datetime
from typing import Any, ClassVar

from pydantic import Field

from handrail.core.draft import DraftStep, DraftSum
from handrail.core.effects import Effect
from handrail.core.hands import Hands
from handrail.core.rehearsal import Contents
from handrail.core.risk import RiskLevel
from handrail.core.tool import Effect as ToolEffect
from handrail.core.tool import JsonObject, ToolResult
from handrail.core.visible import cut_middle
from handrail.policy.redaction import mask_text
from handrail.policy.security import Scene
from handrail.tools.base import Tool, ToolParams
from handrail.tools.draft_card import MOST_EVIDENCE_CHARS, history
from handrail.tools.effects import show_effects

# Of the whole sum, and of one step.
_MOST_FILES = 2_000
_MOST_CHANGES = 200
# Of the text for the model.
_MOST_OUTPUT_CHARS = 40_000


class ShowDraftParams(ToolParams):
    steps: int | None = Field(
        default=None,
        ge=1,
        description="The number of the last step to show; without it, all steps are shown.",
    )


class ShowDraft(Tool[ShowDraftParams]):
    name: ClassVar[str] = "show_draft"
    description: ClassVar[str] = (
        "Show the steps of this session's draft, the exit codes of commands that failed, and the "
        "diff of all of them against the workspace. Nothing is changed."
    )
    params = ShowDraftParams
    safety_level: ClassVar[RiskLevel] = RiskLevel.LOW
    effect: ClassVar[ToolEffect] = ToolEffect.READ
    decides_drafts: ClassVar[bool] = True

    def preview(self, params: ShowDraftParams) -> str:
        if params.steps is None:
            return "Show the draft of this session"
        return f"Show the draft of this session up to step {params.steps:,}"

    async def execute(
        self,
        params: ShowDraftParams,
        scene: Scene,
        hands: Hands,
        facts: JsonObject | None = None,
    ) -> ToolResult:
        session_id = "" if hands.call is None else hands.call.session_id

        def draw(summed: DraftSum, contents: Contents) -> ToolResult:
            diff = show_effects(summed.effects, scene.rules, contents).text
            return _result(summed, cut_middle(mask_text(diff), MOST_EVIDENCE_CHARS))

        return await hands.drafts.look(session_id, params.steps, draw)


def _result(summed: DraftSum, diff: str) -> ToolResult:
    lines = [mask_text(line) for line in history(summed)]
    lines += [f"[conflict] {conflict}" for conflict in summed.conflicts]
    if summed.why_not:
        lines.append(f"[cannot be applied] {summed.why_not}")
    files = [change.path for change in summed.effects.changes]
    fields: JsonObject = {
        "steps": [_step(step) for step in summed.steps],
        "files": files[:_MOST_FILES],
        "file_count": len(files),
        "conflicts": list(summed.conflicts),
        "why_not": summed.why_not,
        "later": summed.later,
        "diff": diff,
    }
    told = "\n".join((*lines, diff))
    return ToolResult(True, cut_middle(told, _MOST_OUTPUT_CHARS), fields)


def _step(step: DraftStep) -> dict[str, Any]:
    own = [change for change in step.changes if not _is_gits(change.path)]
    return {
        "number": step.number,
        "tool_id": step.call,
        "title": mask_text(step.title),
        "at": datetime.fromtimestamp(step.at, UTC).isoformat(),
        "exit_code": step.exit_code,
        "changes": [_change(change) for change in own[:_MOST_CHANGES]],
        "change_count": len(own),
        "git": list(step.git),
        "merged": [path for path, _ in step.merged],
    }


def _change(change: Effect) -> dict[str, str]:
    what = "deleted" if change.after is None else "created" if change.before is None else "changed"
    return {"path": change.path, "what": what}


def _is_gits(path: str) -> bool:
    return ".git" in path.split("/")

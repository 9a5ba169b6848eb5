"""apply_draft: put what a session has changed in its draft to a person, and apply it."""

import posixpath
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from pydantic import Field, field_validator

from handrail.core.draft import DraftSum
from handrail.core.errors import PathValidationError, StaleFileError
from handrail.core.hands import Hands
from handrail.core.rehearsal import CallRef
from handrail.core.risk import Finding, RiskLevel, forbidden
from handrail.core.survey import Survey
from handrail.core.tool import JsonObject, ToolResult
from handrail.core.visible import cut_middle
from handrail.policy.effects import GIT_CHANGES, judge_effects
from handrail.policy.redaction import mask_text
from handrail.policy.security import Scene
from handrail.tools.base import Tool, ToolParams
from handrail.tools.draft_card import MOST_EVIDENCE_CHARS, count_steps, history
from handrail.tools.effects import show_effects, sum_up, sum_up_beside

_DRAFT = "the draft"
_MOST_CONFLICTS = 5
MOST_FILES = 200
_NO_CALL = "a draft is known by the session of a call only"


class ApplyDraftParams(ToolParams):
    steps: int | None = Field(
        default=None,
        ge=1,
        description="The number of the last step to apply; without it, all steps are applied.",
    )
    files: list[str] | None = Field(
        default=None,
        min_length=1,
        max_length=MOST_FILES,
        description="Apply only the changes of these files, and of all below these folders. The "
        "others, and commits, stay in the draft.",
    )

    @field_validator("files")
    @classmethod
    def _as_paths(cls, files: list[str] | None) -> list[str] | None:
        return None if files is None else [posixpath.normpath(file) for file in files]


class ApplyDraft(Tool[ApplyDraftParams]):
    name: ClassVar[str] = "apply_draft"
    description: ClassVar[str] = (
        "Ask the person to apply what you have changed in this session. Only for sessions that "
        "work in a draft, where no change is real before. Call it once when your work is done, and "
        "not after each change."
    )
    params = ApplyDraftParams
    safety_level: ClassVar[RiskLevel] = RiskLevel.MEDIUM
    changes: ClassVar[str] = "the workspace as the draft says"
    decides_drafts: ClassVar[bool] = True
    reserved: ClassVar[bool] = True

    def preview(self, params: ApplyDraftParams) -> str:
        what = "the draft of this session"
        if params.files is not None:
            what = f"{len(params.files):,} chosen paths of {what}"
        return f"Apply {what}" + ("" if params.steps is None else f" up to step {params.steps:,}")

    async def survey(self, params: ApplyDraftParams, scene: Scene, hands: Hands) -> Survey:
        summed = await hands.drafts.sum_up(_call_of(hands), params.steps, params.files)
        if summed.why_not:
            raise PathValidationError(f"the draft cannot be applied: {summed.why_not}")
        if summed.effects.is_empty:
            return Survey(_facts(summed), changes_nothing=True)
        drawn = await hands.drafts.show(
            _call_of(hands), lambda contents: show_effects(summed.effects, scene.rules, contents)
        )
        part = "a part of " if summed.others else ""
        told = "".join(f"{line}\n" for line in history(summed, calls=True)) + drawn.text
        masked = mask_text(told)
        steps = count_steps(summed.steps)
        return Survey(
            _facts(summed),
            (
                *map(_without_words, judge_effects(summed.effects, scene.rules)),
                *_concerns(summed, drawn.not_shown),
            ),
            cut_middle(masked, MOST_EVIDENCE_CHARS),
            unmasked=None if masked == told else cut_middle(told, MOST_EVIDENCE_CHARS),
            summary=f"Apply {part}a draft of {steps}: {sum_up_beside(summed.effects)}",
        )

    async def execute(
        self,
        params: ApplyDraftParams,
        scene: Scene,
        hands: Hands,
        facts: JsonObject | None = None,
    ) -> ToolResult:
        call = _call_of(hands)
        if facts is None:
            raise StaleFileError("the draft was not looked at; ask again")
        summed = await hands.drafts.sum_up(call, params.steps, params.files)
        if facts != _facts(summed):
            raise StaleFileError("the draft or the workspace has changed since it was shown")
        await hands.drafts.apply(call)
        changed = [change.path for change in summed.effects.changes]
        left = summed.later + (len(summed.steps) if summed.others else 0)
        fields = {"steps": len(summed.steps), "changed": changed, "left": left}
        if hosts := [host for step in summed.steps for host in step.hosts]:
            fields["hosts"] = hosts
        part = "a part of " if summed.others else ""
        what = sum_up(summed.effects) or "nothing is changed by it"
        return ToolResult(True, f"Applied {part}{count_steps(summed.steps)}: {what}", fields)


def _call_of(hands: Hands) -> CallRef:
    if hands.call is None:
        raise PathValidationError(_NO_CALL)
    return hands.call


def _facts(summed: DraftSum) -> JsonObject:
    """What an approval covers: every byte of the effects, and the steps that they come from."""
    calls = [step.call for step in summed.steps]
    return {_DRAFT: {"effects": summed.effects.digest, "steps": calls}}


def _without_words(finding: Finding) -> Finding:
    """The list of changes tells what git's ordinary ones are."""
    is_git = finding.rule == GIT_CHANGES
    return replace(finding, reason="changes git's data") if is_git else finding


def _concerns(summed: DraftSum, not_shown: str) -> Iterator[Finding]:
    for conflict in summed.conflicts[:_MOST_CONFLICTS]:
        yield forbidden("draft.conflict", conflict)
    if not_shown:
        yield Finding("effects.shown-in-part", not_shown, RiskLevel.HIGH)

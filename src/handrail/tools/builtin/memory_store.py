"""memory_store: keep something for later conversations."""

import asyncio
from typing import ClassVar

from pydantic import Field, field_validator

from handrail.core.hands import Hands
from handrail.core.memory import (
    MOST_CATEGORY_CHARS,
    MOST_CONTENT_CHARS,
    MOST_KEY_CHARS,
    fault_in_category,
    fault_in_content,
    fault_in_key,
)
from handrail.core.risk import Finding, RiskLevel
from handrail.core.survey import Survey
from handrail.core.tool import Effect, JsonObject, Site, ToolResult
from handrail.core.visible import cut, visible
from handrail.policy.injection.scan import scan
from handrail.policy.security import Scene
from handrail.tools.base import Tool, ToolParams
from handrail.tools.diff import unified_diff

_PREVIEWED_CHARS = 80


class MemoryStoreParams(ToolParams):
    key: str = Field(
        min_length=1,
        max_length=MOST_KEY_CHARS,
        description="A short name, such as `release-day`; what is stored under it is replaced.",
    )
    content: str = Field(
        min_length=1,
        max_length=MOST_CONTENT_CHARS,
        description="What to remember, in sentences that can be understood without this talk.",
    )
    category: str = Field(
        default="general",
        min_length=1,
        max_length=MOST_CATEGORY_CHARS,
        description="What kind of memory it is, such as `preference` or `project`.",
    )

    @field_validator("key")
    @classmethod
    def _is_key(cls, key: str) -> str:
        return _sound(key, fault_in_key(key))

    @field_validator("content")
    @classmethod
    def _is_content(cls, content: str) -> str:
        return _sound(content, fault_in_content(content))

    @field_validator("category")
    @classmethod
    def _is_category(cls, category: str) -> str:
        return _sound(category, fault_in_category(category))


class MemoryStore(Tool[MemoryStoreParams]):
    name: ClassVar[str] = "memory_store"
    description: ClassVar[str] = (
        "Remember something about the person or their work for later conversations: preferences, "
        "agreements, facts that took effort to find out. Nothing secret, such as passwords."
    )
    params = MemoryStoreParams
    safety_level: ClassVar[RiskLevel] = RiskLevel.LOW
    site: ClassVar[Site] = Site.SERVER
    effect: ClassVar[Effect] = Effect.CHANGE
    repeatable: ClassVar[bool] = True

    def preview(self, params: MemoryStoreParams) -> str:
        return f"Remember {visible(params.key)}: {cut(visible(params.content), _PREVIEWED_CHARS)}"

    async def survey(self, params: MemoryStoreParams, scene: Scene, hands: Hands) -> Survey:
        """Whether it replaces what another agent or a person has stored."""
        found = await hands.memories.find_of_another(params.key)
        if found is None:
            return Survey({"replaces": None})
        memory, author = found
        key = visible(params.key)
        reason = f"this replaces the memory {key}, which was stored by {visible(author)}"
        findings = [Finding("memory.of-another", reason, RiskLevel.MEDIUM)]
        diff = unified_diff(key, f"{memory.content}\n", f"{params.content}\n")
        if not diff.whole:
            findings.append(Finding("memory.shown-in-part", diff.not_shown, RiskLevel.HIGH))
        lines = [diff.text or "[the text stays the same]\n"]
        if memory.category != params.category:
            change = f"{visible(memory.category)} → {visible(params.category)}"
            lines.append(f"[category: {change}]\n")
        return Survey({"replaces": memory.digest}, tuple(findings), "".join(lines))

    async def execute(
        self,
        params: MemoryStoreParams,
        scene: Scene,
        hands: Hands,
        facts: JsonObject | None = None,
    ) -> ToolResult:
        doubt = await asyncio.to_thread(_doubt_about, params)
        replaces = None if facts is None else facts["replaces"]
        kept = await hands.memories.store(
            params.key, params.content, params.category, doubt, replaces
        )
        again = kept.updated_at != kept.created_at
        words = f"{'Changed' if again else 'Remembered'}: {visible(kept.key)} ({kept.category})"
        if kept.tainted is not None:
            words += f"\n[it is marked as untrusted: {visible(kept.tainted)}]"
        fields = {"key": kept.key, "category": kept.category, "replaced": again}
        return ToolResult(True, words, fields)


def _doubt_about(params: MemoryStoreParams) -> str | None:
    """Why it is not to be trusted, by its own words; they would be read in every conversation."""
    report = scan(f"{params.key}\n{params.content}", source="memory_store")
    if not report.suspicious:
        return None
    return f"its own text, which looks like instructions ({report.findings[0].reason})"


def _sound(text: str, fault: str | None) -> str:
    if fault is not None:
        raise ValueError(fault)
    return text

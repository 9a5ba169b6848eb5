"""Bodies about Handrail itself: its settings, its model, and what is used today."""

from typing import Self

from pydantic import BaseModel, Field

from handrail.core.about import ModelFacts, Stats
from handrail.core.budget import BudgetState
from handrail.core.configuration import Entry, Shown, Source
from handrail.wire.payloads import Count, Success


class SettingView(BaseModel):
    key: str = Field(description="Its name.")
    value: str | int | None = Field(
        description="What it is now, with what looks like a secret covered; null if not set."
    )
    source: Source = Field(description="Where that comes from.")
    meaning: str = Field(description="What it is for.")
    agent_may_set: bool = Field(description="Whether an agent may ask to change it.")

    @classmethod
    def of(cls, entry: Entry) -> Self:
        setting = entry.setting
        return cls(
            key=setting.name,
            value=entry.value,
            source=entry.source,
            meaning=setting.meaning,
            agent_may_set=setting.agent_may_set,
        )


class ConfigResponse(BaseModel):
    success: Success = True
    settings: list[SettingView] = Field(description="All settings there are.")
    total_count: Count
    trouble: str | None = Field(
        description="Why the file cannot be read, where it cannot; what held before holds then."
    )
    unknown: list[str] = Field(description="Names in the file that mean nothing.")

    @classmethod
    def of(cls, shown: Shown) -> Self:
        views = [SettingView.of(one) for one in shown.entries]
        return cls(
            settings=views,
            total_count=len(views),
            trouble=shown.trouble,
            unknown=list(shown.unknown),
        )


class BudgetView(BaseModel):
    day: str = Field(description="The day in UTC, such as `2026-11-17`.")
    used_tokens: int = Field(description="What the person's agents have used on it, in and out.")
    input_tokens: int = Field(description="What the models were told, cached tokens included.")
    output_tokens: int = Field(description="What the models said.")
    cached_tokens: int = Field(description="What the providers had kept of what they were told.")
    limit_tokens: int | None = Field(description="What may be used; null where nothing is said.")
    share: float | None = Field(description="How much of the limit is used; 1.0 is all of it.")
    near: bool = Field(description="Whether 80 % of the limit are reached.")
    exhausted: bool = Field(description="Whether all of it is used, so that no model is asked.")

    @classmethod
    def of(cls, state: BudgetState) -> Self:
        return cls(
            day=state.day,
            used_tokens=state.used.total,
            input_tokens=state.used.input_tokens,
            output_tokens=state.used.output_tokens,
            cached_tokens=state.used.cached_tokens,
            limit_tokens=state.limit,
            share=state.share,
            near=state.is_near,
            exhausted=state.is_exhausted,
        )


class BudgetResponse(BudgetView):
    success: Success = True


class ModelView(BaseModel):
    provider: str | None = Field(description="Whose model is asked; null where none is chosen.")
    model: str | None = Field(description="Which model it is.")
    base_url: str | None = Field(description="Where its server is.")
    key: str | None = Field(description="The first four characters of its key.")
    key_from: str | None = Field(description="Where the key comes from.")
    trouble: str | None = Field(description="Why no model can be asked, where none can.")

    @classmethod
    def of(cls, facts: ModelFacts) -> Self:
        return cls(
            provider=facts.provider,
            model=facts.model,
            base_url=facts.base_url,
            key=facts.key,
            key_from=facts.key_place,
            trouble=facts.trouble,
        )


class SelfResponse(BaseModel):
    success: Success = True
    version: str = Field(description="The version of this Handrail.")
    uptime_seconds: int = Field(description="How long the server runs.")
    calls_today: int = Field(description="Calls of this project since midnight UTC.")
    budget: BudgetView = Field(description="What the person's agents have used today.")
    model: ModelView = Field(description="The model that Handrail's own agent asks.")
    paths: dict[str, str] | None = Field(
        description="Where things lie on the server; null for all but the person who runs it."
    )

    @classmethod
    def of(cls, stats: Stats, model: ModelFacts, paths: dict[str, str] | None) -> Self:
        return cls(
            version=stats.version,
            uptime_seconds=stats.uptime_seconds,
            calls_today=stats.calls_today,
            budget=BudgetView.of(stats.budget),
            model=ModelView.of(model),
            paths=paths,
        )

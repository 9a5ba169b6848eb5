"""Bodies about what agents keep for a person: memories and skills."""

from datetime import datetime
from typing import Self

from pydantic import BaseModel, Field

from handrail.core.memory import Memory
from handrail.core.skill import Skill
from handrail.wire.payloads import Count, Success


class MemoryView(BaseModel):
    key: str = Field(description="The name it was stored under.")
    content: str = Field(description="What is remembered.")
    category: str = Field(description="What kind of memory it is.")
    created_at: datetime = Field(description="When it was first stored.")
    updated_at: datetime = Field(description="When it was last stored.")
    tainted: str | None = Field(
        description="What untrusted text had been read when it was stored, where some had."
    )

    @classmethod
    def of(cls, memory: Memory) -> Self:
        return cls(
            key=memory.key,
            content=memory.content,
            category=memory.category,
            created_at=memory.created_at,
            updated_at=memory.updated_at,
            tainted=memory.tainted,
        )


class MemoriesResponse(BaseModel):
    success: Success = True
    memories: list[MemoryView] = Field(
        description="Those that fit, best first; without a question, the ones changed last first."
    )
    total_count: Count
    words_alone: str | None = Field(
        description="Why memories are found by their words alone, where no model is at hand."
    )


class ForgetResponse(BaseModel):
    success: Success = True
    key: str = Field(description="The key under which nothing is remembered any more.")


class SkillView(BaseModel):
    name: str = Field(description="The name it is loaded by.")
    description: str = Field(description="What it is for.")
    builtin: bool = Field(description="Whether it comes with Handrail.")

    @classmethod
    def of(cls, skill: Skill) -> Self:
        return cls(name=skill.name, description=skill.description, builtin=skill.builtin)


class SkillResponse(BaseModel):
    success: Success = True
    name: str = Field(description="The name it is loaded by.")
    description: str = Field(description="What it is for.")
    builtin: bool = Field(description="Whether it comes with Handrail.")
    body: str = Field(description="What an agent that loads it is told.")

    @classmethod
    def of(cls, skill: Skill) -> Self:
        return cls(
            name=skill.name,
            description=skill.description,
            builtin=skill.builtin,
            body=skill.body,
        )


class SkillsResponse(BaseModel):
    success: Success = True
    skills: list[SkillView] = Field(description="The skills, by name.")
    total_count: Count
    warnings: list[str] = Field(description="A sentence about each folder that is left out.")

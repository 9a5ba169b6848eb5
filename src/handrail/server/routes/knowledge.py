"""What agents keep for a person, shown to that person: memories and skills."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Request

from handrail.core.errors import NotFound
from handrail.core.memory import MOST_CATEGORY_CHARS, MOST_MEMORIES
from handrail.knowledge.memory import Owner, PersonalMemories
from handrail.knowledge.skills import SkillShelf
from handrail.server.auth import Entry, Gate
from handrail.server.direct import open_to
from handrail.server.routes.calls import PEOPLE
from handrail.server.services import Services
from handrail.wire.knowledge import (
    ForgetResponse,
    MemoriesResponse,
    MemoryView,
    SkillResponse,
    SkillsResponse,
    SkillView,
)

_MOST_FOUND = 50


def memory_router(services: Services, gate: Gate) -> APIRouter:
    router = APIRouter(tags=["knowledge"])

    def theirs(entry: Entry) -> PersonalMemories:
        who = entry.principal
        return services.memories.of(Owner(who.user_id, entry.project.id, who.subject))

    @router.get("/memory", openapi_extra=open_to(PEOPLE))
    async def memory(
        project_id: str,
        request: Request,
        category: Annotated[
            str | None,
            Query(max_length=MOST_CATEGORY_CHARS, description="Only memories of this category."),
        ] = None,
        q: Annotated[
            str | None,
            Query(
                max_length=4_000,
                description="Only memories that match this query, as for an agent.",
            ),
        ] = None,
        limit: Annotated[
            int, Query(ge=1, le=MOST_MEMORIES, description="How many, at most.")
        ] = 1_000,
    ) -> MemoriesResponse:
        """What agents remember for this person, in all their projects."""
        mine = theirs(await gate.admit(request, *PEOPLE))
        wanted = category or None
        if q:
            found = await mine.recall(q, limit=min(limit, _MOST_FOUND), category=wanted)
        else:
            found = await mine.list_all(category=wanted, limit=limit)
        views = [MemoryView.of(one) for one in found]
        return MemoriesResponse(
            memories=views, total_count=len(views), words_alone=services.memories.words_alone
        )

    @router.delete("/memory/{key:path}", openapi_extra=open_to(PEOPLE))
    async def forget(project_id: str, key: str, request: Request) -> ForgetResponse:
        """Forget one memory, for good."""
        mine = theirs(await gate.admit(request, *PEOPLE))
        if not await mine.forget_for_person(key):
            raise NotFound("there is no memory with this key")
        return ForgetResponse(key=key)

    return router


def skills_router(services: Services, gate: Gate) -> APIRouter:
    router = APIRouter(tags=["knowledge"])

    async def shelf_for(request: Request) -> SkillShelf:
        """Those that the owner of the server has written are for nobody else."""
        entry = await gate.admit(request, *PEOPLE)
        is_owner = await services.affairs.is_owner(entry.principal.user_id)
        return services.skills if is_owner else SkillShelf()

    @router.get("/skills", openapi_extra=open_to(PEOPLE))
    async def skills(project_id: str, request: Request) -> SkillsResponse:
        """The skills agents can load: the owner's own, and those that come with Handrail."""
        shelf = await shelf_for(request)
        found = await asyncio.to_thread(shelf.collect)
        views = [SkillView.of(one) for one in found.skills]
        return SkillsResponse(skills=views, total_count=len(views), warnings=list(found.warnings))

    @router.get("/skills/{name}", openapi_extra=open_to(PEOPLE))
    async def skill(project_id: str, name: str, request: Request) -> SkillResponse:
        """One skill, with what an agent that loads it is told."""
        shelf = await shelf_for(request)
        found = await asyncio.to_thread(shelf.find, name)
        if found is None:
            raise NotFound("there is no skill with this name")
        return SkillResponse.of(found)

    return router

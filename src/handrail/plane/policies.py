"""Policies: what the rules are, what they would say to a call, and what a project adds to them."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from handrail.core.access import Principal
from handrail.core.audit import AuditRecord, canonical
from handrail.core.box import Wall
from handrail.core.change import Change, SetAutonomy, SetPolicy
from handrail.core.errors import (
    BadInput,
    BrokenTool,
    ChangeRefused,
    Conflict,
    NotFound,
    RuleError,
    ToolError,
)
from handrail.core.ids import ProjectId, SessionId, WorkspaceId
from handrail.core.policy import LayerSummary
from handrail.core.ports import Clock, Store
from handrail.core.project import Autonomy, Project, Workspace
from handrail.core.risk import Layer
from handrail.core.tool import JsonObject
from handrail.core.verdict import Explained
from handrail.plane.assessment import Assessor
from handrail.plane.calls import check_size
from handrail.policy.rulebook.book import PROJECT_FILE, Rulebook, project_rules
from handrail.policy.rulebook.rules import Rules, default_rules
from handrail.policy.rulebook.summary import summarise


@dataclass(frozen=True, slots=True)
class Where:
    """Where a call would happen; what is not said is found out."""

    session_id: SessionId | None = None
    workspace_id: WorkspaceId | None = None
    autonomy: Autonomy | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """What would be said to a call, where, and how much freedom its agent has there."""

    explained: Explained
    workspace: Workspace
    autonomy: Autonomy


class Policies:
    def __init__(self, store: Store, clock: Clock, assessor: Assessor, rulebook: Rulebook):
        self._store = store
        self._clock = clock
        self._assessor = assessor
        self._rulebook = rulebook

    async def list_layers(self, project_id: ProjectId) -> list[LayerSummary]:
        """Who says what: Handrail, the operator, and the file of each workspace that has one."""
        found = await self._store.list_workspaces(project_id)
        return [
            summarise(Layer.SHIPPED, "shipped with Handrail", default_rules()),
            summarise(Layer.OPERATOR, "the server's policy.toml", self._rulebook.operator),
            *[await asyncio.to_thread(self._summarise, one) for one in found if one.policy],
        ]

    async def list_workspaces(self, project_id: ProjectId) -> list[tuple[Workspace, Rules]]:
        """The workspaces of a project, each with the rules that hold there."""
        found = await self._store.list_workspaces(project_id)
        return [(one, self._rulebook.rules_for(one.policy)) for one in found]

    async def keep(
        self, policy: str, walls: Sequence[Wall], client: Principal, project_id: ProjectId
    ) -> Workspace:
        """From now on, the calls of the client's workspace are judged by this file as well.

        `walls` are what keeps commands in on the client's machine.

        Raises:
            BadInput: The file cannot be read; the one before it stays in force.
        """
        try:
            await asyncio.to_thread(project_rules, policy)
        except RuleError as error:
            raise BadInput(error.message) from error
        workspace = await self._find_workspace(project_id, None, client)
        changed = replace(workspace, policy=policy, walls=tuple(walls))
        if changed == workspace:
            return workspace
        lines = _lines_about(workspace, changed, client.subject)
        change = Change(project_id, self._clock.now(), (SetPolicy(changed),), audit=lines)
        try:
            await self._store.submit(change)
        except ChangeRefused:
            raise Conflict(f"workspace {workspace.id!r} is no longer there") from None
        return changed

    async def set_autonomy(self, project: Project, autonomy: Autonomy, by: Principal) -> Project:
        """How much agents of a project may do from now on, where nothing else is said for them."""
        if autonomy is project.autonomy:
            return project
        changed = replace(project, autonomy=autonomy)
        details = {"before": project.autonomy, "after": autonomy}
        line = AuditRecord("project.autonomy", by.subject, project.id, details)
        steps = (SetAutonomy(changed),)
        await self._store.submit(Change(project.id, self._clock.now(), steps, audit=(line,)))
        return changed

    async def explain(
        self,
        tool_name: str,
        tool_params: JsonObject,
        where: Where,
        asker: Principal,
        project: Project,
    ) -> Explanation:
        """What would be said to a call. Nothing is run, stored or asked.

        Raises:
            BadInput: No tool has that name, the parameters do not fit it, or it is not clear where.
            NotFound: There is no such session or workspace in this project.
        """
        check_size(tool_params, canonical(tool_params), "content")
        workspace, usual = await self._find_scene(project, where, asker)
        freedom = where.autonomy or usual
        try:
            explained = await self._assessor.explain(
                tool_name, tool_params, workspace, freedom, asker.subject
            )
        except (ToolError, BrokenTool) as error:
            raise BadInput(error.message) from error
        allowed = self._rulebook.rules_for(workspace.policy).lower(freedom)
        return Explanation(explained, workspace, allowed)

    async def _find_scene(
        self, project: Project, where: Where, asker: Principal
    ) -> tuple[Workspace, Autonomy]:
        """Where it would happen, and what an agent may usually do there unasked."""
        if where.session_id is None:
            workspace = await self._find_workspace(project.id, where.workspace_id, asker)
            return workspace, project.autonomy
        place = await self._store.find_place(project.id, where.session_id)
        if place is None:
            raise NotFound(f"there is no session {where.session_id!r}")
        return place.workspace, place.autonomy

    async def _find_workspace(
        self, project_id: ProjectId, wanted: WorkspaceId | None, asker: Principal
    ) -> Workspace:
        found = await self._store.list_workspaces(project_id)
        wanted = wanted or asker.workspace_id
        if wanted is not None:
            found = [workspace for workspace in found if workspace.id == wanted]
        if not found:
            raise NotFound("there is no such workspace; `handrail connect` registers one")
        if len(found) > 1:
            raise BadInput("this project has several workspaces; name one by its workspace_id")
        return found[0]

    def _summarise(self, workspace: Workspace) -> LayerSummary:
        source = f"{PROJECT_FILE} in {workspace.root}"
        try:
            rules = project_rules(workspace.policy)
        except RuleError as error:
            words = f"cannot be read, so nothing is allowed here: {error.message}"
            return LayerSummary(Layer.PROJECT, source, notes=(words,), workspace_id=workspace.id)
        summary = summarise(Layer.PROJECT, source, rules, self._rulebook.rules_for(""))
        return replace(summary, workspace_id=workspace.id)


def _lines_about(before: Workspace, after: Workspace, actor: str) -> tuple[AuditRecord, ...]:
    lines: list[AuditRecord] = []
    if after.policy != before.policy:
        text = after.policy.encode()
        details = {"sha256": sha256(text).hexdigest(), "bytes": len(text)}
        lines.append(AuditRecord("policy.changed", actor, after.id, details))
    if after.walls != before.walls:
        walls = {"walls": list(after.walls)}
        lines.append(AuditRecord("workspace.walls_changed", actor, after.id, walls))
    return tuple(lines)

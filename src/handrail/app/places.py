"""Places: the project and workspace a new token is for, found or made."""

import secrets
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from handrail.app.home import Credentials
from handrail.core.access import Role
from handrail.core.audit import AuditRecord
from handrail.core.change import Add, Step
from handrail.core.errors import BadInput
from handrail.core.ids import AgentId, ClientId, ProjectId, WorkspaceId, mint
from handrail.core.ports import Clock, Store
from handrail.core.project import Autonomy, Client, Project, User, Workspace


@dataclass(frozen=True, slots=True)
class Site:
    """A folder on a machine, as it is called there."""

    machine: str
    root: str

    def __post_init__(self) -> None:
        if not self.machine or not PurePosixPath(self.root).is_absolute():
            raise BadInput(
                "--machine and --root belong together: a machine's name, "
                "and the absolute path of a folder on it"
            )


@dataclass(frozen=True, slots=True)
class TokenPlace:
    """Where a token will count, and what must be stored before it can."""

    project: Project
    workspace: Workspace | None
    steps: tuple[Step, ...] = ()

    def lines(self, actor: str) -> tuple[AuditRecord, ...]:
        if not any(step == Add(self.project) for step in self.steps):
            return ()
        machine = None if self.workspace is None else self.workspace.machine
        return (AuditRecord("project.created", actor, self.project.id, {"machine": machine}),)

    def seat_for(self, role: Role, at: datetime) -> tuple[str | None, tuple[Step, ...]]:
        """Who is to speak with the token: a new client, agent or approver; None for the user."""
        if role is Role.APPROVER:
            return mint("apv", at), ()
        if role is Role.USER or self.workspace is None:
            return None, ()
        if role is Role.AGENT:
            return AgentId(mint("agt", at)), ()
        client = Client(
            ClientId(mint("cli", at)),
            self.project.id,
            self.workspace.id,
            self.workspace.machine,
            at,
        )
        return client.id, (Add(client),)


class Places:
    def __init__(self, store: Store, clock: Clock):
        self._store = store
        self._clock = clock

    async def find(
        self,
        user: User,
        role: Role,
        project_id: ProjectId | None,
        site: Site | None,
        near: Credentials | None,
    ) -> TokenPlace:
        """The place that is named, else the one of `near`, else the only one there is."""
        at = self._clock.now()
        is_new_user = await self._store.find_user(user.name) is None
        mine = [] if is_new_user else await self._store.list_projects(user.id)
        project = _choose(mine, project_id, near, user, any_will_do=role is Role.USER)
        if role is Role.APPROVER:
            if project is None:
                raise BadInput(f"{user.name} has no project for an approver")
            return TokenPlace(project, None)
        steps: tuple[Step, ...] = (Add(user),) if is_new_user else ()
        if project is None:
            name = user.name if site is None else PurePosixPath(site.root).name or "root"
            project = Project(
                ProjectId(mint("prj", at)), user.id, name,
                Autonomy.SUPERVISED, secrets.token_hex(16), at,
            )  # fmt: skip
            steps = (*steps, Add(project))
        workspace, fresh = await self._workspace(project, site, near)
        if workspace is None and role is not Role.USER:
            raise BadInput(
                f"say which workspace of {user.name}'s the {role} is for: "
                "--machine and --root name it, or create it"
            )
        return TokenPlace(project, workspace, (*steps, *fresh))

    async def _workspace(
        self, project: Project, site: Site | None, near: Credentials | None
    ) -> tuple[Workspace | None, tuple[Step, ...]]:
        known = await self._store.list_workspaces(project.id)
        if site is None:
            here = [one for one in known if near is not None and one.root == near.workspace]
            fitting = here or known
            return (fitting[0] if len(fitting) == 1 else None), ()
        for one in known:
            if (one.machine, one.root) == (site.machine, site.root):
                return one, ()
        at = self._clock.now()
        made = Workspace(WorkspaceId(mint("wsp", at)), project.id, site.machine, site.root, at)
        return made, (Add(made),)


def _choose(
    mine: list[Project],
    wanted: ProjectId | None,
    near: Credentials | None,
    user: User,
    *,
    any_will_do: bool,
) -> Project | None:
    """The project that is meant; None when the user has none yet."""
    if wanted is not None:
        for project in mine:
            if project.id == wanted:
                return project
        raise BadInput(f"{user.name} has no project {wanted!r}")
    for project in mine:
        if near is not None and project.id == near.project_id:
            return project
    if len(mine) > 1 and not any_will_do:
        names = ", ".join(f"{project.id} ({project.name})" for project in mine)
        raise BadInput(f"{user.name} has several projects; name one with --project: {names}")
    return mine[0] if mine else None

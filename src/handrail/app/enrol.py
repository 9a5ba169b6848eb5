"""Making this person and this folder known to a server whose store is at hand."""

import asyncio
import getpass
import secrets
import socket
from dataclasses import replace
from pathlib import Path

from handrail.app.home import Credentials, Home
from handrail.app.isolation import prove_here
from handrail.app.storage import open_checkpoints
from handrail.app.tokens import finish_exchange
from handrail.app.workspace_root import usable_root
from handrail.core.access import Role, Token, hash_secret, new_secret
from handrail.core.audit import GENESIS, AuditHead, AuditRecord, chain
from handrail.core.change import Add, Change
from handrail.core.ids import (
    AgentId,
    ClientId,
    ProjectId,
    TokenId,
    UserId,
    WorkspaceId,
    mint,
)
from handrail.core.ports import Clock, Store
from handrail.core.project import Autonomy, Client, Project, User, Workspace
from handrail.executors.sandbox.probe import find_programs


async def enrol(
    store: Store, clock: Clock, home: Home, workspace: Path, server: str
) -> Credentials:
    """The credentials for a workspace; made on the first time, found again on the next."""
    root = usable_root(home, workspace)
    await finish_exchange(store, home)
    found = home.find_credentials(root)
    if found is not None and await store.find_token(hash_secret(found.client_token)) is not None:
        credentials = replace(found, server=server)
        home.save_credentials(credentials)
    else:
        checkpoints = open_checkpoints(home)
        credentials, introduction = await _introduce(store, clock, root, server, checkpoints.key)
        # Saved first: a crash in between leaves keys to nothing, never a project without keys,
        # and a checkpoint of nothing, never a record whose first line is not sealed.
        home.save_credentials(credentials)
        await checkpoints.add(introduction.project_id, _first_line(introduction), introduction.at)
        await store.submit(introduction)
    return credentials


async def _introduce(
    store: Store, clock: Clock, root: Path, server: str, audit_key: str
) -> tuple[Credentials, Change]:
    at = clock.now()
    name = getpass.getuser()
    user = await store.find_user(name)
    newcomer = user is None
    user = user or User(UserId(mint("usr", at)), name, at)
    project = Project(
        ProjectId(mint("prj", at)), user.id, root.name or "root",
        Autonomy.SUPERVISED, secrets.token_hex(16), at,
    )  # fmt: skip
    machine = socket.gethostname()
    # The client adds what it can do itself, such as rehearsing, when it connects.
    walls = (await asyncio.to_thread(prove_here, find_programs())).walls
    workspace = Workspace(
        WorkspaceId(mint("wsp", at)), project.id, machine, str(root), at, walls=walls
    )
    client = Client(ClientId(mint("cli", at)), project.id, workspace.id, machine, at)
    agent = AgentId(mint("agt", at))
    secret = {role: new_secret(role) for role in Role}

    def token(role: Role, subject: str, *, bound: bool) -> Token:
        return Token(
            TokenId(mint("tok", at)), hash_secret(secret[role]), role, subject, user.id,
            project.id if bound else None, workspace.id if bound else None,
            f"{role} of {project.name}", at,
        )  # fmt: skip

    people = (Add(user),) if newcomer else ()
    steps = (
        *people,
        Add(project),
        Add(workspace),
        Add(client),
        Add(token(Role.USER, user.id, bound=False)),
        Add(token(Role.CLIENT, client.id, bound=True)),
        Add(token(Role.AGENT, agent, bound=True)),
    )
    details = {"machine": machine, "audit_key": audit_key}
    line = AuditRecord("project.created", user.id, project.id, details)
    credentials = Credentials(
        server, project.id, str(root),
        secret[Role.USER], secret[Role.CLIENT], secret[Role.AGENT],
    )  # fmt: skip
    return credentials, Change(project.id, at, steps, audit=(line,))


def _first_line(introduction: Change) -> AuditHead:
    """The line with which a record begins, as the store will chain it."""
    (record,) = introduction.audit
    line = chain(
        record, project_id=introduction.project_id, seq=1, at=introduction.at, previous=GENESIS
    )
    return AuditHead(line.seq, line.hash)

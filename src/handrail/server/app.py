"""create_app: the routes, behind the guard."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount

from handrail.server.audience import Audiences
from handrail.server.auth import Gate
from handrail.server.console.files import ConsoleFiles
from handrail.server.console.sign_in import SignIns
from handrail.server.direct import (
    PROBLEM,
    SCHEME,
    USUAL_PROBLEMS,
    DirectRoute,
    problem_responses,
    routes_of,
)
from handrail.server.errors import HANDLERS
from handrail.server.guard import HostGuard
from handrail.server.routes.activity import activity_router
from handrail.server.routes.analytics import analytics_router
from handrail.server.routes.approvals import AnswerRoutes, approvals_router
from handrail.server.routes.batch import BatchRoutes
from handrail.server.routes.blobs import BlobRoutes
from handrail.server.routes.calls import BASE, CallRoutes
from handrail.server.routes.chat import ChatRoutes
from handrail.server.routes.console import ConsoleRoutes
from handrail.server.routes.drafts import DraftRoutes
from handrail.server.routes.grants import grants_router
from handrail.server.routes.health import health_router
from handrail.server.routes.knowledge import memory_router, skills_router
from handrail.server.routes.metrics import metrics_router
from handrail.server.routes.own import own_router
from handrail.server.routes.policy import PolicyRoutes
from handrail.server.routes.records import records_router
from handrail.server.routes.stops import StopRoutes
from handrail.server.routes.streams import StreamRoutes
from handrail.server.routes.taints import TaintRoutes
from handrail.server.routes.tools import tools_router
from handrail.server.routes.undo import UndoRoutes
from handrail.server.services import Services
from handrail.server.switchboard import Switchboard
from handrail.server.unkept import Unkept
from handrail.version import __version__

_METRICS_PROBLEMS = (401, 403)


def create_app(
    services: Services,
    *,
    sign_ins: SignIns | None = None,
    console: ConsoleFiles | None = None,
    hosts: frozenset[str] = frozenset(),
    origin: str | None = None,
    metrics_token: str | None = None,
) -> Starlette:
    """The whole server as an ASGI application.

    `hosts` are further names it answers to; `origin` is how others reach the proxy in front of it.
    """
    gate = Gate(services.store, services.clock)
    audiences = Audiences(services, gate)
    direct = (
        *CallRoutes(services, gate).routes(),
        *StreamRoutes(services, gate, audiences).routes(),
        *AnswerRoutes(services, gate).routes(),
        *StopRoutes(services, gate).routes(),
        *UndoRoutes(services, gate).routes(),
        *DraftRoutes(services, gate).routes(),
        *TaintRoutes(services, gate).routes(),
        *PolicyRoutes(services, gate).routes(),
        *BatchRoutes(services, gate).routes(),
        *BlobRoutes(services, gate).routes(),
        *ChatRoutes(services, gate).routes(),
        *ConsoleRoutes(
            services,
            gate,
            sign_ins or SignIns(services.store, services.clock),
            behind_proxy=origin is not None,
        ).routes(),
    )
    console = console or ConsoleFiles()
    api = _api(services, gate, direct)
    api.include_router(
        metrics_router(services, token=metrics_token, behind_proxy=origin is not None)
    )
    return Starlette(
        routes=[
            *routes_of(direct),
            *console.routes(),
            *console.nowhere(api.routes),
            Mount("/", api),
        ],
        middleware=[
            Middleware(Unkept),
            Middleware(HostGuard, hosts=hosts, origin=origin),
            Middleware(Switchboard, routes=direct),
        ],
        exception_handlers=HANDLERS,  # pyright: ignore[reportArgumentType]
        lifespan=lambda _: _at_work(services, audiences),
    )


@asynccontextmanager
async def _at_work(services: Services, audiences: Audiences) -> AsyncGenerator[None]:
    async with audiences.running(), asyncio.TaskGroup() as group:
        works = [
            services.connections.watch_leases(),
            services.sweeper.sweep_forever(),
            services.inside.work_forever(),
        ]
        if services.runs is not None:
            works.append(services.runs.work_forever())
        tasks = [group.create_task(work) for work in works]
        yield
        for task in tasks:
            task.cancel()


def _api(services: Services, gate: Gate, direct: tuple[DirectRoute, ...]) -> FastAPI:
    api = FastAPI(
        title="Handrail",
        version=__version__,
        summary="Between AI agents and your machine.",
        docs_url=None,
        redoc_url=None,
        # An address that we do not have is none of ours, also when it is nearly right.
        redirect_slashes=False,
        exception_handlers=HANDLERS,  # pyright: ignore[reportArgumentType]
    )
    api.include_router(health_router(services))
    api.include_router(tools_router(services, gate), prefix=BASE)
    api.include_router(activity_router(services, gate), prefix=BASE)
    api.include_router(approvals_router(services, gate), prefix=BASE)
    api.include_router(grants_router(services, gate), prefix=BASE)
    api.include_router(records_router(services, gate), prefix=BASE)
    api.include_router(memory_router(services, gate), prefix=BASE)
    api.include_router(skills_router(services, gate), prefix=BASE)
    api.include_router(own_router(services, gate), prefix=BASE)
    api.include_router(analytics_router(services, gate), prefix=BASE)
    describe = api.openapi

    @cache
    def openapi() -> dict[str, Any]:
        # FastAPI keeps what it has made, and what is added below is added once.
        document = describe()
        _summarise(document)
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        _tell_of_problems(document)
        for route in direct:
            path = document["paths"].setdefault(route.path, {})
            path[route.method.lower()] = route.describe(schemas)
        _tell_of_tokens(document)
        return document

    api.openapi = openapi
    return api


def _summarise(document: dict[str, Any]) -> None:
    """FastAPI makes a summary of a function's name; what the function says of itself is better."""
    for operations in document["paths"].values():
        for operation in operations.values():
            operation["summary"] = operation.pop("description").removesuffix(".")


def _tell_of_problems(document: dict[str, Any]) -> None:
    """FastAPI promises a 422 that we never send, and nothing of what the gate may say."""
    schemas = document["components"]["schemas"]
    for unsent in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unsent, None)
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            operation["responses"].pop("422", None)
            codes = _METRICS_PROBLEMS if path == "/metrics" else ()
            if path.startswith(BASE):
                codes = USUAL_PROBLEMS if method == "get" else (*USUAL_PROBLEMS, 409)
            # A route may name further ones of its own, and say more about each.
            own = {
                code: response.get("description", PROBLEM)
                for code, response in operation["responses"].items()
                if code.startswith("4")
            }
            codes += tuple(map(int, own))
            operation["responses"] |= problem_responses(schemas, codes, own)


def _tell_of_tokens(document: dict[str, Any]) -> None:
    scheme = {"type": "http", "scheme": "bearer", "description": "The token of a role: `hr_…`"}
    document["components"]["securitySchemes"] = {SCHEME: scheme}

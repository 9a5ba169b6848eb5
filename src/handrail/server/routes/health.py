"""Is it alive, and what is it?"""

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse

from handrail.server.auth import Channel
from handrail.server.errors import STORE_UNAVAILABLE
from handrail.server.services import Services
from handrail.server.status_page import status_page
from handrail.version import __version__
from handrail.wire import WIRE_VERSION
from handrail.wire.payloads import ChannelHealth, HealthResponse


def health_router(services: Services) -> APIRouter:
    router = APIRouter(tags=["health"])

    @router.get("/health", responses={503: {"model": HealthResponse}})
    async def health(response: Response) -> HealthResponse:
        """Says whether calls can be stored; 503 while they cannot."""
        fault = services.store.fault
        if fault is not None:
            response.status_code = STORE_UNAVAILABLE.status
            response.headers["retry-after"] = str(STORE_UNAVAILABLE.retry_after_seconds)
        return HealthResponse(
            status="ok" if fault is None else "degraded",
            problem=None if fault is None else fault.message,
            version=__version__,
            wire_version=WIRE_VERSION,
            connected_clients=len(services.connections.connected),
            channels=[
                ChannelHealth(name=name, state="open" if count else "idle", listeners=count)
                for name in Channel
                for count in (services.tally.listening[name],)
            ],
        )

    @router.get("/", include_in_schema=False)
    async def home() -> HTMLResponse:
        return HTMLResponse(
            status_page(len(services.connections.connected)),
            headers={"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'"},
        )

    return router

"""Numbers for whoever runs the server."""

import secrets

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4

from handrail.core.address import is_loopback
from handrail.core.errors import Forbidden, Unauthenticated
from handrail.server.metrics import render
from handrail.server.services import Services

_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")


def metrics_router(services: Services, *, token: str | None, behind_proxy: bool) -> APIRouter:
    """With a token, for its bearer alone; without one, for who calls from this very machine."""
    router = APIRouter(tags=["health"])

    def admit(request: Request) -> None:
        if token is not None:
            scheme, _, sent = request.headers.get("authorization", "").partition(" ")
            good = secrets.compare_digest(sent.strip().encode(), token.encode())
            if scheme.lower() != "bearer" or not good:
                raise Unauthenticated("send the token of HANDRAIL_METRICS_TOKEN")
        elif behind_proxy or not _is_from_here(request):
            raise Forbidden(
                "metrics are for this machine alone; start the server with HANDRAIL_METRICS_TOKEN "
                "to read them from elsewhere, or through a proxy"
            )

    @router.get("/metrics", response_class=PlainTextResponse)
    async def metrics(request: Request) -> PlainTextResponse:
        """What happens here in numbers, for Prometheus: to this machine, or by a token."""
        admit(request)
        body = render(
            services.tally,
            connected_clients=len(services.connections.connected),
            open_approvals=sum((await services.store.count_open_questions()).values()),
        )
        return PlainTextResponse(body, media_type=CONTENT_TYPE_PLAIN_0_0_4)

    return router


def _is_from_here(request: Request) -> bool:
    """Whether the caller sits on this machine, and speaks for nobody behind them."""
    if request.client is None or any(name in request.headers for name in _FORWARDED):
        return False
    return is_loopback(request.client.host)

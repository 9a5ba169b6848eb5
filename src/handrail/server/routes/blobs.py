"""Payloads too large for JSON, streamed in and out."""

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from handrail.core.access import Role
from handrail.core.blob import INLINE_BYTES, is_sha256
from handrail.core.errors import BadInput, TooLarge
from handrail.policy.validators.sizes import SizeLimiter
from handrail.server.auth import Gate
from handrail.server.direct import CHANGE_PROBLEMS, DirectRoute, json_response
from handrail.server.routes.calls import BASE, PEOPLE
from handrail.server.services import Services
from handrail.wire.blobs import BlobResponse

# Blobs are parts of calls and results.
_CARRIERS = (*PEOPLE, Role.AGENT)
_BYTES = "application/octet-stream"
# What an agent wrote is never shown as a page.
_HEADERS = {
    "cache-control": "private, no-store",
    "content-disposition": "attachment",
    "content-security-policy": "default-src 'none'; sandbox",
    "x-content-type-options": "nosniff",
}


class BlobRoutes:
    def __init__(self, services: Services, gate: Gate):
        self._services = services
        self._gate = gate

    def routes(self) -> tuple[DirectRoute, ...]:
        path = f"{BASE}/blobs/{{sha256}}"
        return (
            DirectRoute(
                "PUT",
                path,
                self.put,
                _CARRIERS,
                "Upload content over 1 MB, for a call or a result",
                BlobResponse,
                _BYTES,
                CHANGE_PROBLEMS,
                bad_input="The content does not have this SHA-256, or is not over "
                f"{INLINE_BYTES:,} bytes and belongs in the JSON itself.",
            ),
            DirectRoute("GET", path, self.get, _CARRIERS, "The content of a blob", _BYTES),
        )

    async def put(self, request: Request) -> Response:
        entry = await self._gate.admit(request, *_CARRIERS)
        _check_announced(request)
        blob = await self._services.blobs.put(
            entry.project.id, _sha256(request), request.stream(), entry.principal
        )
        await self._gate.check_again(entry)
        return json_response({"success": True, **blob.as_json()})

    async def get(self, request: Request) -> Response:
        entry = await self._gate.admit(request, *_CARRIERS)
        blob, pieces = await self._services.blobs.open(
            entry.project.id, _sha256(request), entry.principal
        )
        headers = {**_HEADERS, "content-length": str(blob.size)}
        return StreamingResponse(pieces, 200, headers, _BYTES)


def _sha256(request: Request) -> str:
    text = request.path_params["sha256"]
    if not is_sha256(text):
        raise BadInput("a blob is named by its SHA-256, 64 digits 0-9 and a-f")
    return text


def _check_announced(request: Request) -> None:
    """Before anything is sent: an upload that is too large need not begin."""
    announced, most = request.headers.get("content-length", ""), SizeLimiter().max_blob_bytes
    if announced.isdigit() and int(announced) > most:
        raise TooLarge(f"the blob is {int(announced):,} bytes; at most {most:,} are allowed")

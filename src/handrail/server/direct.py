"""Routes written on Starlette itself, where the framework's comfort costs too much time.

They say in data what FastAPI would have read from their signatures, so that the OpenAPI document
stays true for them as well.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from handrail.core.errors import TooLarge
from handrail.wire.payloads import Problem

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class DirectRoute:
    method: str
    path: str
    endpoint: Callable[[Request], Awaitable[Response]]
    summary: str
    answer: type[BaseModel] | None = None
    body: type[BaseModel] | None = None
    problems: tuple[int, ...] = (400, 401, 403, 404)
    parameters: tuple[dict[str, Any], ...] = field(default=())

    def route(self) -> Route:
        return Route(self.path, self.endpoint, methods=[self.method])

    def describe(self, schemas: dict[str, Any]) -> dict[str, Any]:
        """The operation as OpenAPI, its models added to `schemas`."""
        if self.answer is not None:
            ok = _content("application/json", _reference(self.answer, schemas))
        else:
            ok = _content("text/event-stream", {"type": "string"})
        trouble = _content("application/problem+json", _reference(Problem, schemas))
        operation: dict[str, Any] = {
            "summary": self.summary,
            "parameters": [*_path_parameters(self.path), *self.parameters],
            "responses": {
                "200": {"description": "OK", **ok},
                **{str(code): {"description": "Problem", **trouble} for code in self.problems},
            },
        }
        if self.body is not None:
            schema = _content("application/json", _reference(self.body, schemas))
            operation["requestBody"] = {"required": True, **schema}
        return operation


def json_response(value: object, status: int = 200) -> Response:
    return Response(_encode(value), status, media_type="application/json")


async def read_body(request: Request, max_bytes: int) -> bytes:
    """The body, unless it is more than we take: then nobody keeps it in memory."""
    announced = request.headers.get("content-length", "")
    if announced.isdigit() and int(announced) > max_bytes:
        raise TooLarge(f"the body is {int(announced):,} bytes; at most {max_bytes:,} are taken")
    pieces: list[bytes] = []
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size > max_bytes:
            raise TooLarge(f"the body is more than the {max_bytes:,} bytes that are taken")
        pieces.append(piece)
    return b"".join(pieces)


def _content(media_type: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"content": {media_type: {"schema": schema}}}


def _reference(model: type[BaseModel], schemas: dict[str, Any]) -> dict[str, Any]:
    schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(schema.pop("$defs", {}))
    schemas[model.__name__] = schema
    return {"$ref": f"#/components/schemas/{model.__name__}"}


def _path_parameters(path: str) -> list[dict[str, Any]]:
    names = [part[1:-1] for part in path.split("/") if part.startswith("{")]
    text = {"type": "string"}
    return [{"name": name, "in": "path", "required": True, "schema": text} for name in names]

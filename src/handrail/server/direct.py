"""Routes written on Starlette itself, where the framework's comfort costs too much time.

They say in data what FastAPI would have read from their signatures, so that the OpenAPI document
stays true for them as well.
"""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from handrail.core.access import Role
from handrail.core.errors import BadInput, TooLarge, UnsupportedType
from handrail.core.shape import MOST_NESTED, check_shape
from handrail.core.visible import cut, visible
from handrail.wire.payloads import Problem

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode

M = TypeVar("M", bound=BaseModel)


_JSON = "application/json"
_SURELY_FEW_BYTES = 100_000
_MOST_HEARD_OUT_BYTES = 64_000_000

# The description of a problem about which a route has nothing further to say.
PROBLEM = "Problem"
USUAL_PROBLEMS = (400, 401, 403, 404)
# Of what takes a body and changes something.
CHANGE_PROBLEMS = (*USUAL_PROBLEMS, 409, 413)

# How the OpenAPI document calls the tokens of all roles.
SCHEME = "token"

# Names in addresses that are more than a word.
_SHAPES = {"sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"}}


@dataclass(frozen=True, slots=True)
class DirectRoute:
    """`answer` and `body` are models or, where it is no JSON, the media type.

    `bad_input` says when a request that fits the schema is still refused with 400.
    """

    method: str
    path: str
    endpoint: Callable[[Request], Awaitable[Response]]
    roles: tuple[Role, ...]
    summary: str
    answer: type[BaseModel] | str
    body: type[BaseModel] | str | None = None
    problems: tuple[int, ...] = USUAL_PROBLEMS
    parameters: tuple[dict[str, Any], ...] = field(default=())
    body_needed: bool = True
    bad_input: str | None = None

    def route(self) -> Route:
        return Route(self.path, self.endpoint, methods=[self.method])

    def describe(self, schemas: dict[str, Any]) -> dict[str, Any]:
        """The operation as OpenAPI, its models added to `schemas`."""
        takes_json = not isinstance(self.body, str | None)
        problems = (*self.problems, 415) if takes_json else self.problems
        notes = {} if self.bad_input is None else {"400": self.bad_input}
        operation: dict[str, Any] = {
            "summary": self.summary,
            **open_to(self.roles),
            "parameters": [*_path_parameters(self.path), *self.parameters],
            "responses": {
                "200": {"description": "OK", **_described(self.answer, schemas)},
                **problem_responses(schemas, problems, notes),
            },
        }
        if self.body is not None:
            content = _described(self.body, schemas)
            operation["requestBody"] = {"required": self.body_needed, **content}
        return operation


def query_of(model: type[BaseModel]) -> tuple[dict[str, Any], ...]:
    """The fields of a model as what may stand behind the question mark of an address."""
    schema = model.model_json_schema()
    needed = schema.get("required", [])
    return tuple(
        {
            "name": name,
            "in": "query",
            "required": name in needed,
            "description": described.pop("description"),
            "schema": described,
        }
        for name, described in schema["properties"].items()
    )


def open_to(roles: Sequence[Role]) -> dict[str, Any]:
    """Whose tokens are taken, any of them, as OpenAPI; the gate sees to it."""
    return {"security": [{SCHEME: [role.value]} for role in roles]}


def routes_of(direct: Sequence[DirectRoute]) -> list[Route]:
    """What is served and, behind it, what says of each address that it takes nothing else."""
    allowed: dict[str, list[str]] = {}
    for route in direct:
        allowed.setdefault(route.path, []).append(route.method)
    closing = [Route(path, _NothingElse(methods)) for path, methods in allowed.items()]
    return [*(route.route() for route in direct), *closing]


class _NothingElse:
    def __init__(self, methods: Sequence[str]):
        self._headers = {"Allow": ", ".join(methods)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raise HTTPException(405, headers=self._headers)


def problem_responses(
    schemas: dict[str, Any], codes: tuple[int, ...], notes: Mapping[str, str]
) -> dict[str, Any]:
    """What may go wrong, as OpenAPI; `notes` describe some of the codes further."""
    problem = _content("application/problem+json", _reference(Problem, schemas))
    return {code: {"description": notes.get(code, PROBLEM), **problem} for code in map(str, codes)}


def json_response(value: object, status: int = 200) -> Response:
    return Response(_encode(value), status, media_type=_JSON)


async def read_body(
    request: Request, model: type[M], max_bytes: int, *, empty: M | None = None
) -> M:
    """The body as its model; `empty` stands for no body, where none is needed.

    Strict JSON: NaN and an object with the same key twice are refused.
    """
    body = await _take(request, max_bytes)
    if not body and empty is not None:
        return empty
    _check_type(request)
    try:
        value = _decode(body)
    except UnicodeDecodeError as error:
        raise BadInput("this is not valid JSON: it is not UTF-8") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadInput(f"this is not valid JSON: {error}") from error
    # Looking at size and brackets is cheap, and nearly always enough to know.
    if len(body) > _SURELY_FEW_BYTES or body.count(b"[") + body.count(b"{") > MOST_NESTED:
        check_shape(value)
    # Most clients send JSON as compact as ours, and an equal text has no key twice.
    if _encode(value) != body:
        _check_keys(body)
    return model.model_validate(value)


def _check_type(request: Request) -> None:
    """A body without a type is read as JSON: programs that send nothing else leave it out."""
    sent = request.headers.get("content-type", "")
    kind = sent.partition(";")[0].strip().lower()
    if kind not in ("", _JSON) and not (kind.startswith("application/") and kind.endswith("+json")):
        raise UnsupportedType(f"send this body as {_JSON}, not as {cut(visible(kind), 100)}")


def _check_keys(body: bytes) -> None:
    """The fast parser keeps the last of two equal keys, where another reader may keep the first."""
    _keys_decoder.decode(body.decode())


def _refuse_twice(pairs: list[tuple[str, object]]) -> None:
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise BadInput(f"this JSON has the key {cut(visible(key), 100)!r} twice in one object")
        seen.add(key)


# Looks at keys alone, so it need not understand any number.
_keys_decoder = json.JSONDecoder(
    object_pairs_hook=_refuse_twice, parse_int=len, parse_float=len, strict=False
)


async def _take(request: Request, max_bytes: int) -> bytes:
    """All of the body, unless it is more than we take: then nobody keeps it in memory.

    It is heard out for a while all the same, since who is still writing cannot read our answer.
    """
    announced = request.headers.get("content-length", "")
    size = int(announced) if announced.isdigit() else 0
    return b"".join([piece async for piece in _heard_out(request, size, max_bytes)])


async def _heard_out(request: Request, announced: int, max_bytes: int) -> AsyncGenerator[bytes]:
    size = 0
    if announced <= max_bytes + _MOST_HEARD_OUT_BYTES:
        async for piece in request.stream():
            size += len(piece)
            if size > max_bytes + _MOST_HEARD_OUT_BYTES:
                break
            if max(size, announced) <= max_bytes:
                yield piece
    if max(size, announced) > max_bytes:
        told = f"{announced:,} bytes" if announced else f"more than {max_bytes:,} bytes"
        raise TooLarge(f"the body is {told}; at most {max_bytes:,} are allowed")


def _described(content: type[BaseModel] | str, schemas: dict[str, Any]) -> dict[str, Any]:
    if isinstance(content, str):
        return {"content": {content: {}}}
    return _content(_JSON, _reference(content, schemas))


def _content(media_type: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"content": {media_type: {"schema": schema}}}


def _reference(model: type[BaseModel], schemas: dict[str, Any]) -> dict[str, Any]:
    schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
    for name, described in {**schema.pop("$defs", {}), model.__name__: schema}.items():
        if schemas.setdefault(name, described) != described:
            raise RuntimeError(f"two different models are called {name}")
    return {"$ref": f"#/components/schemas/{model.__name__}"}


def _path_parameters(path: str) -> list[dict[str, Any]]:
    names = [part[1:-1] for part in path.split("/") if part.startswith("{")]
    text = {"type": "string"}
    return [
        {"name": name, "in": "path", "required": True, "schema": _SHAPES.get(name, text)}
        for name in names
    ]

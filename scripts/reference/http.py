"""docs/reference/http.md: every route, from the server's own OpenAPI document."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fastapi import FastAPI
from starlette.routing import Mount

from handrail.app.build_server import build_services
from handrail.app.clock import SystemClock
from handrail.bus.local import LocalBus
from handrail.server.app import create_app
from handrail.server.direct import PROBLEM
from handrail.server.errors import PROBLEMS
from handrail.server.routes.calls import BASE
from handrail.store.sqlite import SqliteStore
from scripts.reference.page import code, codes, page, paragraphs, sentence, table
from scripts.reference.schema import Schema, answer_table, default_of, fitting, request_table

Document = Mapping[str, Any]

# The first word behind the project, and what to call those routes. Others stand at the end.
_GROUPS = {
    "tools": "Tools and calls",
    "undo": "Tools and calls",
    "activity": "Looking back over calls",
    "chat": "Sessions and the stream",
    "approvals": "Questions",
    "grants": "Grants",
    "policy": "Rules",
    "autonomy": "Rules",
    "drafts": "Drafts",
    "blobs": "Blobs",
    "clients": "Machines",
    "audit": "The record",
    "analytics": "Numbers",
    "memory": "Memories",
    "skills": "Skills",
    "config": "Settings",
    "budget": "The budget",
    "self": "Handrail itself",
    "console": "Signing in with a browser",
}
_ELSEWHERE = "The server itself"
_JSON = "application/json"


class Route(NamedTuple):
    method: str
    path: str
    operation: Document

    @property
    def group(self) -> str:
        if not self.path.startswith(BASE):
            return _ELSEWHERE
        return _GROUPS[self.path.removeprefix(BASE).split("/")[1]]

    @property
    def title(self) -> str:
        return f"{self.method} {self.path.removeprefix(BASE)}"


def http_page() -> str:
    document = openapi_document()
    schemas = document["components"]["schemas"]
    routes = [
        Route(method.upper(), path, operation)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    ]
    return page(
        "HTTP",
        f"Every address of a project begins with {code(BASE)}, which is left out below. Each "
        "request carries a token, `Authorization: Bearer hr_…`; who may is said of each route. "
        "Bodies are JSON and closed: a field that nobody declared is an error. The same as an "
        "OpenAPI document is at `/openapi.json` of every server.",
        *_groups(routes, schemas),
        _problems(schemas),
        "## Bodies",
        *(_body(name, schemas) for name in _named_elsewhere(routes, schemas)),
    )


def openapi_document() -> Document:
    """The description as a server gives it; nothing is opened or started for it."""
    bus = LocalBus()
    services = build_services(SqliteStore(Path("never-opened"), bus), bus, SystemClock())
    (api,) = [mount.app for mount in create_app(services).routes if isinstance(mount, Mount)]
    assert isinstance(api, FastAPI)
    return api.openapi()


def _groups(routes: Sequence[Route], schemas: Schema) -> Iterator[str]:
    for group in dict.fromkeys((*_GROUPS.values(), _ELSEWHERE)):
        yield f"## {group}"
        yield from (_section(route, schemas) for route in routes if route.group == group)


def _section(route: Route, schemas: Schema) -> str:
    operation = route.operation
    parts = [
        f"### {route.title}",
        f"{sentence(operation['summary'])} {_who_may(operation)}".rstrip(),
        _parameters(operation, schemas),
        _request(operation, schemas),
        _answers(operation),
    ]
    return "\n\n".join(filter(None, parts))


def _who_may(operation: Document) -> str:
    roles = [role for choice in operation.get("security", []) for role in choice["token"]]
    return f"For {codes(roles)}." if roles else ""


def _parameters(operation: Document, schemas: Schema) -> str:
    """What is said in query and headers; what stands in the path explains itself."""
    return table(
        ("parameter", "in", "what fits", "default", "meaning"),
        (
            (
                code(one["name"]),
                one["in"],
                fitting(one["schema"], schemas, _link),
                default_of(one["schema"], needed=one.get("required", False)),
                one.get("description", ""),
            )
            for one in operation.get("parameters", [])
            if one["in"] != "path"
        ),
    )


def _request(operation: Document, schemas: Schema) -> str:
    body = operation.get("requestBody")
    if body is None:
        return ""
    if (name := _model(body)) is None:
        return f"**Body.** {codes(body['content'])}"
    needed = "" if body["required"] else " It may be left out."
    meaning = _meaning(schemas[name])
    return f"**Body.** {meaning}{needed}\n\n{request_table(schemas[name], schemas, _link)}"


def _answers(operation: Document) -> str:
    good, bad = operation["responses"]["200"], sorted(set(operation["responses"]) - {"200"})
    name = _model(good)
    told = _link(name) if name is not None else codes(good["content"])
    problems = f"; a [problem](#problems) with {codes(bad)}" if bad else ""
    notes = "".join(
        f"\n\n**`{status}`**, where the schema fits: {response['description']}"
        for status, response in operation["responses"].items()
        if status in bad and response["description"] != PROBLEM
    )
    return f"**Answers.** {code(200)} with {told}{problems}{notes}"


def _problems(schemas: Schema) -> str:
    rows = ((code(one.status), code(one.type), one.title, one.meaning) for one in PROBLEMS)
    return "\n\n".join(
        [
            "## Problems",
            "What goes wrong is told as `application/problem+json`, as RFC 9457 has it. Programs "
            "go by `type`, people read `detail`.",
            answer_table(schemas["Problem"]["properties"], schemas),
            table(("status", "type", "title", "meaning"), rows),
        ]
    )


def _body(name: str, schemas: Schema) -> str:
    schema = schemas[name]
    # What is sent is closed; what is told has all of its fields.
    sent = schema.get("additionalProperties") is False
    fields = (
        request_table(schema, schemas, _link)
        if sent
        else answer_table(schema["properties"], schemas, _link)
    )
    return "\n\n".join(filter(None, [f"### {name}", _meaning(schema), fields]))


def _meaning(schema: Schema) -> str:
    return paragraphs(schema.get("description", ""))


def _named_elsewhere(routes: Sequence[Route], schemas: Schema) -> list[str]:
    """The bodies that no route shows in full: answers, and what lies within others."""
    shown = {_model(route.operation.get("requestBody", {})) for route in routes}
    bodies = [name for name, schema in schemas.items() if "properties" in schema]
    return sorted(set(bodies) - shown - {"Problem"})


def _model(content: Document) -> str | None:
    schema = content.get("content", {}).get(_JSON, {}).get("schema", {})
    return schema["$ref"].rpartition("/")[2] if "$ref" in schema else None


def _link(name: str) -> str:
    return f"[{code(name)}](#{name.lower()})"

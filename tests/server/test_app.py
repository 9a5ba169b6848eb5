"""The API describes itself, whole and truly."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from pydantic import create_model
from starlette.routing import Mount, Route

from handrail.server.app import create_app
from handrail.server.console.files import ConsoleFiles
from handrail.server.direct import _reference
from handrail.server.services import Services
from tests.server.conftest import Caller

# For people, and the description itself.
UNDESCRIBED = {("GET", "/"), ("GET", "/openapi.json")}


@pytest.fixture
def document(services: Services) -> dict[str, Any]:
    (api,) = [route.app for route in create_app(services).routes if isinstance(route, Mount)]
    assert isinstance(api, FastAPI)
    return api.openapi()


def walk(routes: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Every method and path that is served, however deep the framework has put it."""
    for route in routes:
        if isinstance(route, Mount):
            yield from walk(route.routes, prefix + route.path)
        elif isinstance(route, Route):
            methods = (route.methods or set()) - {"HEAD"}
            path = prefix + route.path.replace(":path}", "}")
            yield from ((method, path) for method in methods)
        else:
            # FastAPI keeps a router that was included as it is, beside its prefix.
            included = route.include_context
            yield from walk(route.original_router.routes, prefix + included.prefix)


def test_every_route_is_described(
    document: dict[str, Any], services: Services, tmp_path: Path
) -> None:
    # Without the pages of the console, which are for people as well.
    served = set(walk(create_app(services, console=ConsoleFiles(tmp_path)).routes))
    described = {
        (method.upper(), path)
        for path, operations in document["paths"].items()
        for method in operations
    }

    assert served - UNDESCRIBED == described
    assert served >= UNDESCRIBED


def test_every_reference_of_the_description_leads_somewhere(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]

    def references(node: Any) -> Iterator[str]:
        if isinstance(node, dict):
            for name, value in node.items():
                if name == "$ref":
                    yield value
                yield from references(value)
        elif isinstance(node, list):
            for item in node:
                yield from references(item)

    found = set(references(document))

    assert "#/components/schemas/ExecuteRequest" in found
    assert {name.removeprefix("#/components/schemas/") for name in found} <= set(schemas)


def test_two_models_never_share_a_name() -> None:
    first, second = create_model("Twin", one=(str, ...)), create_model("Twin", other=(str, ...))
    schemas: dict[str, Any] = {}

    _reference(first, schemas)
    _reference(first, schemas)

    with pytest.raises(RuntimeError, match="two different models are called Twin"):
        _reference(second, schemas)


def test_a_token_is_asked_for_wherever_the_gate_stands(document: dict[str, Any]) -> None:
    asked = {
        (method.upper(), path)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if operation.get("security")
    }

    described = {
        (method.upper(), path)
        for path, operations in document["paths"].items()
        for method in operations
    }
    # A browser that signs in has no token yet; nor has the owner of a stolen link.
    assert described - asked == {
        ("GET", "/health"),
        ("GET", "/metrics"),
        ("POST", "/console/session"),
        ("POST", "/console/session/end"),
    }


def test_every_path_parameter_is_described(document: dict[str, Any]) -> None:
    for path, operations in document["paths"].items():
        names = {part[1:-1] for part in path.split("/") if part.startswith("{")}
        for operation in operations.values():
            described = {
                parameter["name"]
                for parameter in operation.get("parameters", [])
                if parameter["in"] == "path"
            }
            assert described == names


def test_problems_are_described_in_the_form_they_come_in(document: dict[str, Any]) -> None:
    operation = document["paths"]["/my/projects/{project_id}/tools/execute"]["post"]

    assert set(operation["responses"]) == {"200", "400", "401", "403", "404", "409", "413", "415"}
    for status, response in operation["responses"].items():
        (media_type,) = response["content"]
        assert media_type == "application/json" if status == "200" else "application/problem+json"


async def test_the_description_is_served(caller: Caller, document: dict[str, Any]) -> None:
    for _ in range(2):
        assert (await caller.ask("GET", "/openapi.json")).body == document


async def test_no_page_is_served_that_loads_from_elsewhere(caller: Caller) -> None:
    assert [(await caller.ask("GET", path)).status for path in ("/docs", "/redoc")] == [404, 404]

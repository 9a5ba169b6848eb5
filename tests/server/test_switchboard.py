"""An address is found by its words, and what has no place on the board is not lost."""

from collections.abc import AsyncIterator, Callable
from typing import Any, cast

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.testclient import TestClient

from handrail.core.access import Role
from handrail.core.errors import Conflict
from handrail.server.app import create_app
from handrail.server.direct import DirectRoute
from handrail.server.services import Services
from handrail.server.switchboard import Switchboard

Answer = Callable[[Request], Any]


def a_route(method: str, path: str, answer: Answer | None = None) -> DirectRoute:
    async def endpoint(request: Request) -> Response:
        if answer is not None:
            return answer(request)
        return PlainTextResponse(f"{method} {path} {request.path_params}")

    return DirectRoute(method, path, endpoint, (Role.USER,), "", "text/plain")


async def otherwise(scope: Any, receive: Any, send: Any) -> None:
    await PlainTextResponse("otherwise")(scope, receive, send)


def caller(*routes: DirectRoute) -> TestClient:
    return TestClient(Switchboard(otherwise, routes), raise_server_exceptions=False)


BOARD = (
    a_route("POST", "/p/{project}/tools/results"),
    a_route("POST", "/p/{project}/tools/{tool}/result"),
    a_route("GET", "/p/{project}/tools"),
    a_route("PUT", "/p/{project}/tools"),
)


@pytest.mark.parametrize(
    ("method", "address", "answer"),
    [
        ("POST", "/p/x/tools/results", "POST /p/{project}/tools/results {'project': 'x'}"),
        (
            "POST",
            "/p/x/tools/7/result",
            "POST /p/{project}/tools/{tool}/result {'project': 'x', 'tool': '7'}",
        ),
        ("GET", "/p/a%20b/tools", "GET /p/{project}/tools {'project': 'a b'}"),
        ("PUT", "/p/x/tools", "PUT /p/{project}/tools {'project': 'x'}"),
    ],
)
def test_a_route_is_found_by_its_words(method: str, address: str, answer: str) -> None:
    assert caller(*BOARD).request(method, address).text == answer


@pytest.mark.parametrize(
    ("method", "address"),
    [
        ("GET", "/"),
        ("GET", "/p/x"),
        ("GET", "/p/x/tools/"),
        ("GET", "/p//tools"),
        ("GET", "/p/x/tools/GET"),
        ("GET", "/p/x/tools//GET"),
        ("POST", "/p/x/tools"),
        ("HEAD", "/p/x/tools"),
        ("POST", "/p/x/tools/7/result/more"),
        ("POST", "/p/x/tools//result"),
        ("POST", "/p/a%2Fb/tools/results"),
        ("GET", "/q/x/tools"),
    ],
)
def test_what_is_not_on_the_board_is_left_to_the_framework(method: str, address: str) -> None:
    answer = caller(*BOARD).request(method, address)

    assert answer.status_code == 200
    assert answer.text == ("" if method == "HEAD" else "otherwise")


def test_what_goes_wrong_is_told_in_our_form() -> None:
    def refuse(request: Request) -> Response:
        raise Conflict("somebody was faster")

    answer = caller(a_route("GET", "/x", refuse)).get("/x")

    assert answer.status_code == 409
    assert answer.json()["detail"] == "somebody was faster"


def test_an_answer_that_has_begun_is_not_answered_anew() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"first"
        raise Conflict("in the middle")

    board = Switchboard(otherwise, [a_route("GET", "/x", lambda _: StreamingResponse(pieces()))])

    with pytest.raises(Conflict):
        TestClient(board).get("/x")


def test_every_direct_route_of_the_server_is_found(services: Services) -> None:
    # The framework has them too, so a route that the board misses would only be slow.
    (routes,) = [
        cast(tuple[DirectRoute, ...], one.kwargs["routes"])
        for one in create_app(services).user_middleware
        if one.cls is Switchboard
    ]
    board = Switchboard(otherwise, routes)
    for route in routes:
        scope = {"path": route.path.replace("{", "").replace("}", ""), "method": route.method}
        assert board._find(scope) is route

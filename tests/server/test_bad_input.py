"""What cannot be read is refused in clear words at every address, and nothing is stored of it."""

import asyncio
import json
import re
import sqlite3
from collections.abc import AsyncGenerator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import aiohttp
import jsonschema
import pytest

from handrail.core.access import Role
from handrail.server.http import MOST_HEAD_BYTES
from tests.conftest import Household
from tests.server.conftest import Answer, Caller, a_body, base

BAD_INPUT = (400, "urn:handrail:bad-input")
TOO_LARGE = (413, "urn:handrail:too-large")
SECRET = "correct-horse-battery-staple"
JSON = "application/json"

# None of these is what any address takes, under whatever name it is sent.
BODIES: dict[str, tuple[bytes, str]] = {
    "cut short": (b'{"reason": "', JSON),
    "no JSON": (b"reason=none", JSON),
    "a page": (b"<p>hello</p>", "application/problem+json; charset=utf-8"),
    "a key twice": (b'{"reason": "a", "reason": "b"}', JSON),
    "a key twice, once escaped": (b'{"reason":"a","re\\u0061son":"a"}', JSON),
    "a key twice inside": (b'{"reason":[{"x":[1,{"y":{},"y":{}}]}]}', JSON),
    "a list": (b"[]", JSON),
    "text": (b'"hello"', JSON),
    "nothing": (b"null", JSON),
    "a number": (b"7", JSON),
    "yes": (b"true", JSON),
    "two values": (b"{} {}", JSON),
    "no UTF-8": (b'{"reason": "\xff"}', JSON),
    "other letters": ('{"reason": ""}'.encode("utf-16"), JSON),
    "half a letter": (b'{"reason": "\\ud800"}', JSON),
    "no number": (b'{"reason": NaN}', JSON),
    "no end": (b'{"reason": -Infinity}', JSON),
    "more than a number": (b'{"reason": 1e999}', JSON),
    "deep": (b'{"reason": ' + b"[" * 60 + b"]" * 60 + b"}", JSON),
    "bottomless": (b"[" * 900, JSON),
    "unknown field": (b'{"surprise": 1}', JSON),
    "many unknown fields": (json.dumps({f"f{n}": n for n in range(60)}).encode(), JSON),
}


def operations(caller: Caller, body: str | None = None) -> Iterator[tuple[str, str]]:
    """Every method and address of the API; with `body`, those that take one of this kind."""
    for path, described in caller.document["paths"].items():
        for method, operation in described.items():
            if body is None or body in operation.get("requestBody", {}).get("content", {}):
                yield method.upper(), path


def at(home: Household, path: str) -> str:
    """The address in this household, of things that do not exist."""
    names = {"project_id": home.project.id, "sha256": "0" * 64}
    names |= dict.fromkeys(
        ("tool_id", "approval_id", "grant_id", "session_id", "run_id", "key", "name"), "none"
    )
    return path.format_map(names)


async def ask_as_whoever_may(
    caller: Caller, home: Household, method: str, path: str, **options: Any
) -> Answer:
    for role in Role:
        answer = await caller.ask(method, at(home, path), home.secrets[role], **options)
        if answer.status != 403:
            return answer
    raise AssertionError(f"nobody may {method} {path}")


def assert_clear(answer: Answer) -> None:
    """A sentence that helps, and that tells neither a secret of theirs nor a story of ours."""
    detail = answer.body["detail"]
    assert 10 < len(detail) <= 2_100
    for word in ("Traceback", 'File "', "pydantic", "sqlite", "hr_", SECRET):
        assert word not in detail


def count_rows(folder: Path) -> dict[str, int]:
    """How much lies in each table."""
    with closing(sqlite3.connect(folder / "handrail.db")) as database:
        tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {
            name: database.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]
            for (name,) in tables
        }


@pytest.mark.behaviour("input.bad-body")
async def test_a_body_that_cannot_be_read_is_refused_everywhere(
    caller: Caller, household: Household, tmp_path: Path
) -> None:
    before = count_rows(tmp_path)

    for method, path in operations(caller, JSON):
        for name, (body, kind) in BODIES.items():
            answer = await ask_as_whoever_may(
                caller, household, method, path, data=body, headers={"content-type": kind}
            )
            assert answer.problem == BAD_INPUT, f"{method} {path}: {name}"
            assert_clear(answer)

    assert count_rows(tmp_path) == before


@pytest.mark.behaviour("input.bad-body")
async def test_a_field_of_the_wrong_type_is_named_and_its_value_is_not(
    caller: Caller, household: Household, tmp_path: Path
) -> None:
    before = count_rows(tmp_path)

    for method, path in operations(caller, JSON):
        content = caller.document["paths"][path][method.lower()]["requestBody"]["content"]
        model = content[JSON]["schema"]["$ref"].rpartition("/")[2]
        for field in caller.document["components"]["schemas"][model]["properties"]:
            for value in ([[SECRET]], [{"a": SECRET}], True):
                answer = await ask_as_whoever_may(
                    caller, household, method, path, json={field: value}
                )
                booleans = ("chain", "unmasked", "changes_nothing", "rehearsed")
                if field in booleans and value is True:
                    continue
                assert answer.problem == BAD_INPUT
                assert field in answer.body["detail"]
                assert_clear(answer)

    assert count_rows(tmp_path) == before


async def knock(caller: Caller, head: str, *, more: bytes = b"") -> tuple[int, dict[str, Any]]:
    """Say exactly this; gives the status and the problem."""
    name, _, port = caller.address.removeprefix("http://").partition(":")
    async with asyncio.timeout(10):
        reader, writer = await asyncio.open_connection(name, int(port))
        writer.write(head.encode("latin-1") + more)
        said = await reader.readuntil(b"\r\n\r\n")
        size = int(said.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        body = await reader.readexactly(size)
        writer.close()
    return int(said.split()[1]), json.loads(body)


@pytest.mark.behaviour("input.bad-body")
async def test_who_announces_too_much_is_refused_before_it_is_sent(
    caller: Caller, household: Household
) -> None:
    for kind in (JSON, "application/octet-stream"):
        for method, path in operations(caller, kind):
            told: set[tuple[int, str]] = set()
            for role in Role:
                status, problem = await knock(
                    caller,
                    f"{method} {at(household, path)} HTTP/1.1\r\nHost: localhost\r\n"
                    f"Authorization: Bearer {household.secrets[role]}\r\n"
                    "Content-Length: 999999999999\r\n\r\n",
                )
                told.add((status, problem["type"]))
            assert told - {(403, "urn:handrail:forbidden")} == {TOO_LARGE}, path


@pytest.mark.behaviour("input.bad-body")
async def test_who_announces_nothing_is_refused_when_it_is_too_much(
    caller: Caller, household: Household, tmp_path: Path
) -> None:
    before = count_rows(tmp_path)

    async def spaces() -> AsyncGenerator[bytes]:
        for _ in range(33):
            yield b" " * 1_000_000

    # A connection that is kept: what comes after the answer is taken and thrown away.
    async with aiohttp.ClientSession() as session:
        keeping = Caller(session, caller.address, caller.document)
        for method, path in operations(caller, JSON):
            for role in Role:
                token = household.secrets[role]
                answer = await keeping.ask(method, at(household, path), token, data=spaces())
                if answer.status != 403:
                    assert answer.problem == TOO_LARGE
                    assert_clear(answer)

    assert count_rows(tmp_path) == before


@pytest.mark.behaviour("input.bad-body")
@pytest.mark.parametrize(
    ("field", "route"),
    [
        ("tool_name", "execute"),
        ("call_id", "execute"),
        ("path", "execute"),
        ("path", "batch"),
        ("call_id", "batch"),
    ],
)
async def test_a_key_that_is_sent_twice_in_one_object_is_refused_and_named(
    caller: Caller, household: Household, tmp_path: Path, field: str, route: str
) -> None:
    body = a_body(path="second.md")
    if route == "batch":
        session = body.pop("session_id")
        body = {"session_id": session, "calls": [{**body, "call_id": "one"}, body]}
    twice = json.dumps(body).replace(f'"{field}"', f'"{field}": "read_file", "{field}"')
    before = count_rows(tmp_path)

    for data in (twice, twice.replace(" ", "")):
        answer = await caller.ask(
            "POST", f"{base(household)}/tools/{route}", household.secrets[Role.AGENT],
            data=data, headers={"content-type": JSON},
        )  # fmt: skip
        assert answer.problem == BAD_INPUT
        assert answer.body["detail"] == f"this JSON has the key '{field}' twice in one object"

    assert count_rows(tmp_path) == before


@pytest.mark.parametrize("spaces", [False, True])
async def test_equal_keys_of_different_objects_are_no_mistake(
    caller: Caller, household: Household, spaces: bool
) -> None:
    params = {"path": "a.md", "content": '{"path": 1, "path": 2} \\" \u00e9 \n 1e5'}
    body = {**a_body(), "tool_name": "write_file", "tool_params": params}
    separators = (", ", ": ") if spaces else (",", ":")

    answer = await caller.ask(
        "POST",
        f"{base(household)}/tools/execute",
        household.secrets[Role.AGENT],
        data=json.dumps(body, separators=separators),
        headers={"content-type": JSON},
    )

    assert (answer.status, answer.body["tool_params"]) == (200, params)


@pytest.mark.behaviour("input.bad-body")
async def test_a_body_of_another_type_than_json_is_refused_everywhere(
    caller: Caller, household: Household, tmp_path: Path
) -> None:
    before = count_rows(tmp_path)

    for method, path in operations(caller, JSON):
        for kind in ("text/plain;charset=UTF-8", "application/x-www-form-urlencoded", "json+json"):
            answer = await ask_as_whoever_may(
                caller, household, method, path, data=b"{}", headers={"content-type": kind}
            )
            assert answer.problem == (415, "urn:handrail:unsupported-type"), f"{method} {path}"
            named = kind.partition(";")[0]
            assert answer.body["detail"] == f"send this body as {JSON}, not as {named}"

    assert count_rows(tmp_path) == before


@pytest.mark.parametrize(
    "kind", [None, JSON, "Application/JSON; charset=utf-8", "application/x+json"]
)
async def test_json_is_taken_under_each_of_its_types_and_without_one(
    caller: Caller, household: Household, kind: str | None
) -> None:
    answer = await caller.ask(
        "POST",
        f"{base(household)}/tools/execute",
        household.secrets[Role.AGENT],
        data=json.dumps(a_body()).encode(),
        headers={} if kind is None else {"content-type": kind},
        skip_auto_headers=["content-type"],
    )

    assert answer.status == 200


# What a schema cannot say, or need not: the rule is in the schema or in the words about the 400.
REFUSED: dict[str, tuple[str, str, Any]] = {
    "marks": ("GET", "/activity?before=2026-11-17T25:00:00Z~exe_1", None),
    "no mark": ("GET", "/activity?before=exe_1", None),
    "spans": ("GET", "/analytics?from=2026-01-01T00:00:00Z&to=2026-03-01T00:00:00Z", None),
    "uses with once": ("POST", "/approvals/none/approve", {"decision": "approved", "uses": 2}),
    "tool names": ("POST", "/policy/explain", {"tool_name": "none", "tool_params": {}}),
    "call ids": ("POST", "/tools/batch", "twice"),
    "small blobs": ("PUT", f"/blobs/{'0' * 64}", b"small"),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_every_rule_behind_a_400_is_stated_in_the_description(
    caller: Caller, household: Household, name: str
) -> None:
    method, path, body = REFUSED[name]
    if body == "twice":
        call = {"tool_name": "read_file", "tool_params": {"path": "a"}, "call_id": "same"}
        body = {"session_id": "s", "calls": [call, call]}
    options = {"data": body} if isinstance(body, bytes) else {"json": body}
    address, _, query = path.partition("?")
    template = re.sub(
        r"/(none|0{64})", lambda m: "/{approval_id}" if m[1] == "none" else "/{sha256}", address
    )
    operation = caller.document["paths"][f"/my/projects/{{project_id}}{template}"][method.lower()]

    answer = await ask_as_whoever_may(
        caller, household, method, f"/my/projects/{{project_id}}{path}", **options
    )

    assert answer.problem == BAD_INPUT
    stated = operation["responses"]["400"]["description"] != "Problem"
    assert stated or not fits(caller.document, operation, body, query)


def fits(document: dict[str, Any], operation: dict[str, Any], body: Any, query: str) -> bool:
    """Whether the schemas of the description take this request."""
    if query:
        name, _, value = query.partition("=")
        (schema,) = [one["schema"] for one in operation["parameters"] if one["name"] == name]
        return is_valid(document, schema, value)
    return is_valid(document, operation["requestBody"]["content"][JSON]["schema"], body)


def is_valid(document: dict[str, Any], schema: dict[str, Any], value: Any) -> bool:
    whole = {**schema, "components": document["components"]}
    return jsonschema.Draft202012Validator(whole).is_valid(value)


def test_limits_of_a_yes_go_with_a_wider_scope_in_the_schema_too(caller: Caller) -> None:
    schema = {"$ref": "#/components/schemas/ApproveRequest"}

    def fits_schema(**words: Any) -> bool:
        return is_valid(caller.document, schema, {"decision": "approved", **words})

    assert fits_schema()
    assert fits_schema(scope="once", uses=None)
    assert fits_schema(scope="class", uses=3)
    assert not fits_schema(uses=3)
    assert not fits_schema(scope="once", expires_in_seconds=3)


async def test_what_does_not_exist_is_not_found_by_anybody(
    caller: Caller, household: Household, tmp_path: Path
) -> None:
    bodies = {
        "claim": {"epoch": 1, "key": "this-life"},
        "ask-again": {"epoch": 1, "facts": {}},
        "result": {"status": "failed", "error": "it broke"},
        "approve": {"decision": "approved"},
        "facts": {"facts": {}},
        "revise": {"tool_params": {"content": "x"}, "digest": "none"},
    }
    before = count_rows(tmp_path)

    for method, path in operations(caller):
        if method == "PUT" or "{" not in path.partition("{project_id}")[2]:
            continue
        for identifier in ("none", "exe_" + "0" * 32, "%00", "'; --", "é", "x" * 5_000):
            address = at(household, path).replace("/none", f"/{identifier}")
            body = bodies.get(path.rpartition("/")[2], {}) if method == "POST" else None
            for role in Role:
                answer = await caller.ask(method, address, household.secrets[role], json=body)
                assert answer.problem[0] in {403, 404}, (method, address)

    assert count_rows(tmp_path) == before


async def test_every_address_says_which_methods_it_takes(
    caller: Caller, household: Household
) -> None:
    token = household.secrets[Role.USER]
    for path, described in caller.document["paths"].items():
        answer = await caller.ask("PATCH", at(household, path), token)

        assert answer.problem == (405, "urn:handrail:method-not-allowed"), path
        assert set(answer.headers["allow"].split(", ")) - {"HEAD"} == {m.upper() for m in described}
        assert answer.body["detail"].endswith(", not PATCH")


@pytest.mark.parametrize("path", ["/none", "/health/", "/my/projects", "//", "/health/../health"])
async def test_an_address_that_is_none_is_said_to_be(caller: Caller, path: str) -> None:
    for method in ("GET", "POST", "OPTIONS"):
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"
        status, problem = await knock(caller, head)
        assert (status, problem["type"]) == (404, "urn:handrail:not-found")


@pytest.mark.parametrize(
    "said",
    [
        "hello\r\n\r\n",
        "GET /health HTTP/9\r\n\r\n",
        "GET  HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /health HTTP/1.1\r\nHost localhost\r\n\r\n",
        "GET /h\u00e9alth HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: many\r\n\r\n",
        "CONNECT localhost:1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
)
async def test_what_is_no_http_is_told_in_the_same_form(caller: Caller, said: str) -> None:
    status, problem = await knock(caller, said)

    assert (status, problem["type"]) == BAD_INPUT
    assert set(problem) == {"type", "title", "status", "detail"}


async def test_a_head_without_an_end_is_refused(caller: Caller) -> None:
    start = "GET /health HTTP/1.1\r\nHost: localhost\r\nX-Long: "

    status, problem = await knock(caller, start, more=b"x" * MOST_HEAD_BYTES)
    fine, _ = await knock(caller, start, more=b"x" * (MOST_HEAD_BYTES // 2) + b"\r\n\r\n")

    assert (status, problem["type"]) == (431, "urn:handrail:too-large")
    assert fine == 200

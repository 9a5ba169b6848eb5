"""http_request: one question to the web, asked from the server, and its answer as text."""

import asyncio
import json
from typing import Any, ClassVar, Literal, NamedTuple

from pydantic import Field

from handrail.core.errors import ErrorType
from handrail.core.hands import Hands
from handrail.core.risk import Finding, RiskLevel, forbidden
from handrail.core.tool import Effect, JsonObject, Site, ToolResult
from handrail.core.verdict import Plan
from handrail.core.visible import cut, visible
from handrail.core.web import WebRequest, WebResponse
from handrail.policy.network.urls import read_url
from handrail.policy.network.web_headers import validate_headers
from handrail.policy.security import Scene
from handrail.tools.base import Tool, ToolParams
from handrail.tools.html.readable import readable
from handrail.tools.web_text import Kind, decode, kind_of, media_type

# A page is fetched longer than it is told: most of it is not text.
FETCHED_BYTES = 3_000_000
TEXT_BYTES = 1_000_000
PAGE_BYTES = 200_000
# What a model is shown of either.
SHOWN_BYTES = 200_000

_PREVIEWED_CHARS = 300
_MOST_HEADER_CHARS = 2_000
_ASKS_ONLY = ("GET", "HEAD")

Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]


class HttpRequestParams(ToolParams):
    url: str = Field(min_length=1, description="Whole address, such as `https://example.com/a`.")
    method: Method = Field(default="GET", description="The method of the request.")
    headers: dict[str, str] = Field(
        default={}, description="Further headers, by name; those of the connection are set already."
    )
    body: str | dict[str, Any] | list[Any] | None = Field(
        default=None,
        description="The body: text is sent as it is, anything else as JSON. GET and HEAD have "
        "none.",
    )
    timeout: int = Field(default=30, ge=1, le=60, description="Seconds for all of it.")
    extract: str | None = Field(
        default=None,
        min_length=1,
        max_length=1_000,
        description="What you want to know; asked of a long answer instead of showing it.",
    )


class _Told(NamedTuple):
    """An answer as text, and what is to be said of it in brackets."""

    text: str
    truncated: bool = False
    notes: tuple[str, ...] = ()


class HttpRequest(Tool[HttpRequestParams]):
    name: ClassVar[str] = "http_request"
    description: ClassVar[str] = (
        "Make one HTTP request from the server. GET and HEAD need no approval, the others do. Only "
        "public hosts at ports 80 and 443, or those that the operator lists. Redirects are not "
        "followed: ask for their Location. Pages come as readable text, up to "
        f"{PAGE_BYTES // 1000} kB; JSON and other text as it is, up to {TEXT_BYTES // 1000} kB."
    )
    params = HttpRequestParams
    safety_level: ClassVar[RiskLevel] = RiskLevel.HIGH
    floor: ClassVar[RiskLevel | None] = RiskLevel.LOW
    site: ClassVar[Site] = Site.SERVER
    effect: ClassVar[Effect] = Effect.CHANGE

    def pre_validate(self, params: HttpRequestParams, scene: Scene) -> list[Finding]:
        address = read_url(params.url)
        if isinstance(address, Finding):
            return [address]
        findings = [
            *scene.rules.web.judge(address.host),
            *validate_headers(tuple(params.headers.items())),
            *_judge_body(params),
        ]
        if params.method not in _ASKS_ONLY:
            reason = f"{params.method} can change something at {address.host.name}"
            findings.append(Finding("http.method", reason, RiskLevel.HIGH))
        return findings

    def plan(self, params: HttpRequestParams, scene: Scene) -> Plan:
        address = read_url(params.url)
        return Plan() if isinstance(address, Finding) else Plan(hosts=(str(address.host),))

    def lasts(self, params: HttpRequestParams) -> bool:
        return params.method not in _ASKS_ONLY

    def preview(self, params: HttpRequestParams) -> str:
        sent = _bytes_of(params)
        what = "" if sent is None else f" with {len(sent):,} bytes"
        return f"{params.method} {cut(visible(params.url), _PREVIEWED_CHARS)}{what}"

    async def execute(
        self,
        params: HttpRequestParams,
        scene: Scene,
        hands: Hands,
        facts: JsonObject | None = None,
    ) -> ToolResult:
        if refused := [
            f for f in self.pre_validate(params, scene) if f.risk is RiskLevel.FORBIDDEN
        ]:
            return ToolResult.failed(refused[0].reason, ErrorType.VALIDATION)
        request = WebRequest(
            params.url,
            params.method,
            _headers_of(params),
            _bytes_of(params),
            timeout_seconds=params.timeout,
        )
        response = await hands.web.request(request, max_bytes=FETCHED_BYTES)
        told = await _tell(response, params, hands)
        return _result(response, told)


def _judge_body(params: HttpRequestParams) -> list[Finding]:
    if params.body is None:
        return []
    if params.method in _ASKS_ONLY:
        return [forbidden("http.body", f"{params.method} sends no body; leave it out")]
    if isinstance(params.body, str) and not _is_text(params.body):
        return [forbidden("http.body", "the body contains characters that are not text")]
    return []


def _is_text(body: str) -> bool:
    try:
        body.encode()
    except UnicodeEncodeError:
        return False
    return True


def _bytes_of(params: HttpRequestParams) -> bytes | None:
    if params.body is None:
        return None
    text = params.body if isinstance(params.body, str) else json.dumps(params.body)
    return text.encode(errors="replace")


def _headers_of(params: HttpRequestParams) -> tuple[tuple[str, str], ...]:
    given = tuple(params.headers.items())
    if params.body is None or "content-type" in {name.lower() for name, _ in given}:
        return given
    kind = "application/json" if _is_json(params.body) else "text/plain; charset=utf-8"
    return (*given, ("Content-Type", kind))


def _is_json(body: object) -> bool:
    if not isinstance(body, str):
        return True
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True


async def _tell(response: WebResponse, params: HttpRequestParams, hands: Hands) -> _Told:
    said = dict(response.headers).get("content-type", "")
    kind = kind_of(said, response.body)
    text = None if kind is Kind.BYTES else decode(said, response.body)
    if text is None:
        more = "more than " if response.truncated else ""
        what = media_type(said) or "no text"
        note = f"{what}, {more}{len(response.body):,} bytes; only text is shown"
        return _Told("", response.truncated, (note,) if response.body else ())
    truncated, notes, most = response.truncated, tuple[str, ...](), TEXT_BYTES
    if kind is Kind.PAGE:
        page = await asyncio.to_thread(readable, text, base=params.url)
        text, truncated, most = page.text, truncated or page.cut, PAGE_BYTES
        notes = ("text that a reader of the page does not see was left out",) * page.hidden
    if params.extract is not None and len(text.encode()) > SHOWN_BYTES:
        extract = await hands.reader.extract(text, params.extract)
        note = f"taken out of {len(text):,} characters: {cut(visible(params.extract), 200)}"
        return _Told(extract, truncated, (*notes, note))
    beginning = _beginning(text, most)
    return _Told(beginning, truncated or beginning != text, notes)


def _result(response: WebResponse, told: _Told) -> ToolResult:
    headers: dict[str, str] = {}
    for name, value in response.headers:
        said = f"{headers[name]}, {value}" if name in headers else value
        headers[name] = cut(said, _MOST_HEADER_CHARS)
    shown = _beginning(told.text, SHOWN_BYTES)
    notes = [*told.notes]
    if told.truncated or shown != told.text:
        notes.append("this is the beginning; there is more")
    lines = [f"HTTP {response.status}"]
    lines += [
        f"{name}: {visible(headers[name])}"
        for name in ("content-type", "location")
        if name in headers
    ]
    if "location" in headers:
        notes.append("redirects are not followed; ask for the location yourself")
    output = "\n".join([*lines, "", shown, *(f"[{note}]" for note in notes)]).rstrip("\n")
    fields = {
        "status": response.status,
        "headers": headers,
        "body": told.text,
        "truncated": told.truncated,
    }
    return ToolResult(True, output, fields)


def _beginning(text: str, most: int) -> str:
    # A character is at most four bytes: most texts need not be encoded to know.
    if len(text) * 4 <= most:
        return text
    return text.encode(errors="replace")[:most].decode(errors="ignore")

"""HandrailApi: the REST surface, typed and with errors in words."""

import asyncio
import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Self, cast
from urllib.parse import quote

import aiohttp
import msgspec

from handrail.core.blob import INLINE_BYTES, Blob
from handrail.core.box import Wall
from handrail.core.card import Card, Choice
from handrail.core.errors import HandrailError

_CONNECT_SECONDS = 10.0
_ANSWER_SECONDS = 10.0
_LONGEST_LOOK_SECONDS = 60.0
# Whoever rotates a token makes it count first and saves it then.
_ROTATION_SECONDS = 0.5
# Not now, says whoever stands in between; the server itself says none of them.
_NOT_NOW = (408, 425, 429)


class ApiError(HandrailError):
    """The server answered, and said no."""

    def __init__(self, status: int, detail: str):
        super().__init__(detail)
        self.status = status


class ServerUnreachable(HandrailError):
    """The server did not answer; it may be down, or starting again."""


class ServerUntrusted(ServerUnreachable):
    """Somebody answers, but cannot prove to be the server."""


class ServerTroubled(ServerUnreachable):
    """The server answered that it cannot answer; asking again later may help."""


class Receipt(msgspec.Struct, frozen=True):
    """What the server says to one report."""

    tool_id: str
    success: bool
    status: str
    message: str


class Receipts(msgspec.Struct, frozen=True):
    results: list[Receipt]


class HandrailApi:
    """One token's view of one project on one server."""

    def __init__(
        self,
        server: str,
        project_id: str,
        token: str,
        find_token: Callable[[], str | None] = lambda: None,
    ):
        """`find_token` looks for the token that counts by now, should this one be refused."""
        self._token = token
        self._find_token = find_token
        self.server = server.rstrip("/")
        self._base = f"{self.server}/my/projects/{project_id}"
        self._headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        self._session: aiohttp.ClientSession | None = None
        # How far the server's clock is ahead of ours, as of the last list of questions.
        self.clock_ahead = timedelta()

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            headers=self._headers,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS),
            connector=aiohttp.TCPConnector(limit=0),
            # A proxy from the environment has no business between us and our own server.
            trust_env=False,
        )
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        if self._session is not None:
            await self._session.close()

    async def renew(self) -> bool:
        """Go on with a token that has taken the place of ours; False if there is none."""
        await asyncio.sleep(_ROTATION_SECONDS)
        found = await asyncio.to_thread(self._find_token)
        if found is None or found == self._token:
            return False
        self._token = found
        self._opened.headers["authorization"] = f"Bearer {found}"
        return True

    async def execute(
        self,
        tool_name: str,
        tool_params: dict[str, Any],
        *,
        session_id: str,
        call_id: str,
        reasoning: str | None = None,
        wait: float = 0.0,
    ) -> dict[str, Any]:
        """Ask for a call. Asking again with the same `call_id` gives the same execution."""
        body = {
            "tool_name": tool_name,
            "tool_params": tool_params,
            "session_id": session_id,
            "call_id": call_id,
            "reasoning": reasoning,
            "wait": wait,
        }
        return await self.post("/tools/execute", body)

    async def batch(
        self,
        calls: Sequence[dict[str, Any]],
        *,
        session_id: str,
        chain: bool = False,
        wait: float = 0.0,
    ) -> dict[str, Any]:
        """Ask for several calls, each with `tool_name`, `tool_params` and `call_id`."""
        body = {"session_id": session_id, "calls": list(calls), "chain": chain, "wait": wait}
        return await self.post("/tools/batch", body)

    async def send_results(self, results: Sequence[dict[str, Any]]) -> list[Receipt]:
        answer = await self.post("/tools/results", {"results": list(results)})
        try:
            return msgspec.convert(answer, Receipts).results
        except msgspec.ValidationError as error:
            raise ServerUnreachable(f"{self.server} does not speak like Handrail") from error

    async def claim(self, tool_id: str, epoch: int, key: str) -> None:
        await self._tell(f"/tools/{tool_id}/claim", {"epoch": epoch, "key": key})

    async def send_facts(self, approval_id: str, facts: dict[str, Any]) -> None:
        await self._tell(f"/approvals/{approval_id}/facts", facts)

    async def ask_again(self, tool_id: str, epoch: int, facts: dict[str, Any]) -> None:
        """Report that an approved call would now have other effects."""
        await self._tell(f"/tools/{tool_id}/ask-again", {**facts, "epoch": epoch})

    async def send_policy(self, text: str, walls: Sequence[Wall]) -> None:
        """Tell what this client's policy file says, and what keeps commands in on its machine."""
        await self.put("/policy", {"text": text, "walls": [*walls]})

    async def pending_approvals(self) -> list[Card]:
        """The open questions of the project, most urgent first."""
        answer = await self.get("/approvals", status="pending", limit=1000)
        try:
            cards = msgspec.convert(answer["approvals"], list[Card])
            self._compare_clocks(answer)
        except (msgspec.ValidationError, KeyError, TypeError) as error:
            raise ServerUnreachable(f"{self.server} does not speak like Handrail") from error
        return sorted(cards, key=lambda card: card.expires_at)

    async def unmask(self, card: Card) -> Card:
        """The card in full. Where that cannot be had, the card says why and offers no yes."""
        if not card.masked:
            return card
        try:
            full = await self.get(f"/approvals/{card.approval_id}/unmasked")
            return msgspec.convert(full, Card)
        except (ApiError, ServerUnreachable) as error:
            return replace(card, notes=(*card.notes, f"Its full text is missing: {error.message}."))

    async def read_clock(self) -> None:
        """Learn how far the server's clock is ahead."""
        self._compare_clocks(await self.get("/approvals", limit=1))

    def _compare_clocks(self, answer: dict[str, Any]) -> None:
        self.clock_ahead = msgspec.convert(answer["now"], datetime) - datetime.now(UTC)

    async def approve(
        self,
        approval_id: str,
        *,
        scope: str = "once",
        uses: int | None = None,
        expires_in_seconds: int | None = None,
        digest: str | None = None,
        channel: str = "api",
    ) -> dict[str, Any]:
        body = {
            "decision": "approved",
            "scope": scope,
            "uses": uses,
            "expires_in_seconds": expires_in_seconds,
            "digest": digest,
            "channel": channel,
        }
        return await self._tell(f"/approvals/{approval_id}/approve", body)

    async def reject(
        self, approval_id: str, *, reason: str | None = None, channel: str = "api"
    ) -> dict[str, Any]:
        body = {"reason": reason, "channel": channel}
        return await self._tell(f"/approvals/{approval_id}/reject", body)

    async def cancel(
        self, tool_id: str, *, reason: str | None = None, channel: str = "api"
    ) -> dict[str, Any]:
        """End a call, wherever it is."""
        return await self._tell(f"/tools/{tool_id}/cancel", {"reason": reason, "channel": channel})

    async def stop_session(self, session_id: str, *, channel: str = "api") -> dict[str, Any]:
        """Stop a session and its calls; it can make no more."""
        address = f"/chat/sessions/{quote(session_id, safe='')}/stop"
        return await self._tell(address, {"channel": channel})

    async def trust_session(self, session_id: str, *, channel: str = "api") -> dict[str, Any]:
        """Trust a session again that has read suspicious text."""
        address = f"/chat/sessions/{quote(session_id, safe='')}/trust"
        return await self._tell(address, {"channel": channel})

    async def decide(self, card: Card, choice: Choice, *, channel: str) -> dict[str, Any]:
        """A person's choice on a card, bound to what the card showed."""
        if not choice.approved:
            return await self.reject(card.approval_id, reason=choice.reason, channel=channel)
        return await self.approve(
            card.approval_id,
            scope=choice.scope,
            uses=choice.uses,
            expires_in_seconds=choice.expires_in_seconds,
            digest=card.digest,
            channel=channel,
        )

    async def put_blob(self, blob: Blob, data: bytes) -> None:
        """Upload what is too large for a call or a report; both name it by its hash."""
        headers = {"content-type": "application/octet-stream"}
        await self._request("PUT", f"/blobs/{blob.sha256}", data=io.BytesIO(data), headers=headers)

    async def get_blob(self, blob: Blob) -> bytes:
        return await self._exchange("GET", f"/blobs/{blob.sha256}")

    async def delete(self, path: str) -> Any:
        return await self._request("DELETE", path)

    async def get(self, path: str, **query: Any) -> Any:
        soon = aiohttp.ClientTimeout(total=_LONGEST_LOOK_SECONDS)
        return await self._request("GET", path, params=query, timeout=soon)

    async def post(self, path: str, body: object) -> Any:
        data = _encode(body)
        # A long one is not sent in one piece while everything else waits.
        return await self._request(
            "POST", path, data=data if len(data) <= INLINE_BYTES else io.BytesIO(data)
        )

    async def put(self, path: str, body: object) -> Any:
        soon = aiohttp.ClientTimeout(total=_ANSWER_SECONDS)
        return await self._request("PUT", path, data=_encode(body), timeout=soon)

    async def _tell(self, path: str, body: object) -> Any:
        """Post what is answered at once or not at all; who hears nothing tells it again."""
        soon = aiohttp.ClientTimeout(total=_ANSWER_SECONDS)
        return await self._request("POST", path, data=_encode(body), timeout=soon)

    def stream(
        self, last_event_id: int | None, *, heartbeat: bool = False
    ) -> "aiohttp.client._RequestContextManager":  # pyright: ignore[reportPrivateUsage]
        """Open the event stream, to be read in pieces. A client says that it sends heartbeats."""
        headers = {} if last_event_id is None else {"last-event-id": str(last_event_id)}
        # Pings come every 5 s: nine missed ones mean that nobody is there.
        quiet = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS, sock_read=50)
        address = f"{self._base}/chat/stream"
        query = {"heartbeat": "true"} if heartbeat else {}
        return self._opened.get(address, params=query, headers=headers, timeout=quiet)

    async def send_heartbeat(self, *, seconds: float) -> bool:
        """Renew this client's lease; False if the server no longer counts it as connected."""
        soon = aiohttp.ClientTimeout(total=seconds)
        answer = await self._request("POST", "/clients/heartbeat", timeout=soon)
        try:
            return msgspec.convert(answer["connected"], bool)
        except (msgspec.ValidationError, KeyError, TypeError) as error:
            raise ServerUnreachable(f"{self.server} does not speak like Handrail") from error

    @property
    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise HandrailError("use the API inside `async with`")
        return self._session

    async def _request(self, method: str, path: str, **options: Any) -> Any:
        body = await self._exchange(method, path, **options)
        try:
            return msgspec.json.decode(body)
        except msgspec.DecodeError as error:
            raise ServerUnreachable(f"{self.server} does not speak like Handrail") from error

    async def _exchange(self, method: str, path: str, **options: Any) -> bytes:
        try:
            async with self._opened.request(method, self._base + path, **options) as response:
                body = await response.read()
                if response.status >= 500 or response.status in _NOT_NOW:
                    raise ServerTroubled(problem_detail(body, response.status))
                if response.status >= 400:
                    raise ApiError(response.status, problem_detail(body, response.status))
                return body
        except aiohttp.ClientConnectorCertificateError as error:
            raise self.untrusted(error) from error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise ServerUnreachable(f"{self.server} does not answer: {error}") from error

    def untrusted(self, error: aiohttp.ClientConnectorCertificateError) -> ServerUntrusted:
        why = getattr(error.certificate_error, "verify_message", "") or str(error)
        return ServerUntrusted(
            f"the certificate of {self.server} is not trusted on this machine ({why}); if it "
            "comes from an authority of your own, name that one's file in SSL_CERT_FILE"
        )


def _encode(body: object) -> bytes:
    try:
        return msgspec.json.encode(body)
    except UnicodeEncodeError:
        # A name that is not UTF-8 came from the disk; its bytes are shown as escapes instead.
        return msgspec.json.encode(_speakable(body))


def _speakable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, dict):
        return {key: _speakable(item) for key, item in cast(dict[str, Any], value).items()}
    if isinstance(value, list):
        return [_speakable(item) for item in cast(list[Any], value)]
    return value


def problem_detail(body: bytes, status: int) -> str:
    """The sentence in a problem document, whoever wrote it."""
    try:
        return str(msgspec.json.decode(body)["detail"])
    except (msgspec.DecodeError, KeyError, TypeError):
        return f"the server answered {status}"

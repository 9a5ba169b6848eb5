"""A client that knows no more than the events and the result of a call completes every call.

It does not claim, look beforehand, check digests or send epochs, and it decides by itself.
"""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from handrail.app.home import Credentials, Home
from tests.journeys.conftest import Rig

SECRET = "correct-horse-battery-staple"


class PlainClient:
    """Hears the stream and answers over REST; `decision` is what its person says."""

    def __init__(self, session: aiohttp.ClientSession, base: str, workspace: Path, decision: str):
        self._session = session
        self._base = base
        self._workspace = workspace
        self._decision = decision
        self.heard: list[tuple[str, dict[str, Any]]] = []

    async def listen(self, ready: asyncio.Event) -> None:
        async with self._session.get(f"{self._base}/chat/stream") as response:
            name = ""
            async for line in response.content:
                ready.set()
                field, _, value = line.decode().strip().partition(": ")
                if field == "event":
                    name = value
                elif field == "data":
                    await self._handle(name, json.loads(value))

    async def _handle(self, name: str, data: dict[str, Any]) -> None:
        self.heard.append((name, data))
        if name == "tool.approval_request":
            body = {"decision": "approved"} if self._decision == "approve" else {"reason": "no"}
            await self.post(f"/approvals/{data['approval_id']}/{self._decision}", body)
        elif name == "tool.execution_signal":
            result = self._execute(data["tool_name"], data["tool_params"])
            await self.post(
                f"/tools/{data['tool_id']}/result", {"status": "completed", "result": result}
            )

    def _execute(self, name: str, params: dict[str, Any]) -> dict[str, Any]:
        if name == "execute_command":
            return {"success": True, "stdout": "passed", "stderr": None, "exit_code": 0}
        path = self._workspace / params["path"]
        if name == "write_file":
            # Appending shows whether it was done once.
            with path.open("a") as file:
                file.write(params["content"])
            return {"success": True, "path": params["path"], "size": len(params["content"])}
        return {"success": True, "content": path.read_text()}

    async def post(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        data = json.dumps(body).encode()
        async with self._session.post(
            self._base + path, data=data, skip_auto_headers=["content-type"]
        ) as response:
            return response.status, await response.json(content_type=None)

    def receipts(self) -> list[str]:
        return [data["receipt_status"] for name, data in self.heard if name == "tool.result_ack"]


@asynccontextmanager
async def connected(rig: Rig, decision: str = "approve") -> AsyncGenerator[PlainClient]:
    known = credentials(rig)
    base = f"{known.server}/my/projects/{known.project_id}"
    headers = {"authorization": f"Bearer {known.client_token}"}
    async with aiohttp.ClientSession(headers=headers) as session:
        client, ready = PlainClient(session, base, rig.workspace, decision), asyncio.Event()
        listening = asyncio.create_task(client.listen(ready))
        try:
            async with asyncio.timeout(30):
                await ready.wait()
            yield client
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)


def credentials(rig: Rig) -> Credentials:
    return Home(rig.home).get_credentials(rig.workspace)


async def ask(rig: Rig, call_id: str, tool: str, **params: Any) -> dict[str, Any]:
    known = credentials(rig)
    address = f"{known.server}/my/projects/{known.project_id}/tools/execute"
    headers = {"authorization": f"Bearer {known.agent_token}"}
    body = {
        "tool_name": tool, "tool_params": params, "session_id": "s", "call_id": call_id, "wait": 30,
    }  # fmt: skip
    async with aiohttp.ClientSession(headers=headers) as session:
        answer = await session.post(address, json=body)
        return await answer.json()


@pytest.mark.behaviour("wire.plain-client")
async def test_a_client_that_does_not_claim_completes_calls_of_every_risk(rig: Rig) -> None:
    rig.start_server()
    (rig.workspace / "README.md").write_text("hello")
    async with connected(rig) as client:
        calls = [
            await ask(rig, "low", "read_file", path="README.md"),
            await ask(rig, "medium", "write_file", path="notes.md", content="once\n"),
            await ask(rig, "high", "write_file", path="run.sh", content="echo hello\n"),
            await ask(rig, "command", "execute_command", command="npm", args=["test"]),
        ]
        # Reported again otherwise, it is turned away; the call has ended once.
        again = {"status": "completed", "result": {"success": True, "size": 0}}
        refused, _ = await client.post(f"/tools/{calls[1]['tool_id']}/result", again)
        async with asyncio.timeout(30):
            while "rejected" not in client.receipts():
                await asyncio.sleep(0.01)

    assert [call["status"] for call in calls] == ["completed"] * 4
    assert [call["risk_level"] for call in calls[:3]] == ["LOW", "MEDIUM", "HIGH"]
    assert (rig.workspace / "notes.md").read_text() == "once\n"
    assert refused == 409
    assert client.receipts() == ["processed"] * 4 + ["rejected"]
    assert all(data["timestamp"].endswith("Z") for _, data in client.heard)
    assert rig.run("audit", "verify", "--workspace", str(rig.workspace)).returncode == 0
    assert_logged(rig, [call["tool_id"] for call in calls])


def assert_logged(rig: Rig, calls: list[str]) -> None:
    """What happened to each call can be read in a file of its owner, without what it held."""
    file = rig.home / "handrail.log"
    text = file.read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    told = {(line["event"], line["subject"]) for line in lines if "subject" in line}
    assert {("call.proposed", call) for call in calls} <= told
    assert {("call.ended", call) for call in calls} <= told
    events = [line["event"] for line in lines]
    assert events.count("approval.requested") == events.count("approval.approved") == 3
    assert any(line.get("reasons") for line in lines if line["event"] == "call.surveyed")
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.behaviour("log.calls")
async def test_a_refusal_and_a_block_are_logged_with_their_reasons(rig: Rig) -> None:
    rig.start_server()
    async with connected(rig, "reject") as client:
        refused = await ask(rig, "no", "write_file", path="notes.md", content=f"TOKEN={SECRET}")
        blocked = await ask(rig, "never", "run_bash", command=":(){ :|:& };:")

    assert (refused["status"], blocked["error_type"]) == ("rejected", "denied")
    assert "tool.execution_signal" not in [name for name, _ in client.heard]
    text = (rig.home / "handrail.log").read_text()
    assert SECRET not in text
    lines = [json.loads(line) for line in text.splitlines()]
    (rejected,) = [line for line in lines if line["event"] == "approval.rejected"]
    (warned,) = [line for line in lines if line["event"] == "call.denied"]
    assert rejected["reason"] == "no"
    assert warned["level"] == "warning"
    assert warned["execution"] == blocked["tool_id"]
    assert "fork bomb" in warned["reason"]

"""Whatever is sent to the server, it answers as its own description says, and never breaks."""

import asyncio
import hashlib
import json
import random
import secrets
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from handrail.core.access import Role
from tests.conftest import Household
from tests.server.conftest import (
    Caller,
    approve,
    ask_to_read,
    ask_to_write,
    ask_with_a_look,
    base,
    show,
)

LARGE = b"x" * 1_100_000
SETTINGS = f"""
hooks = "{Path(__file__).with_name("hasten.py")}"
max-stream-events = 1
request-timeout = 20
[generation]
deterministic = true
# A yes that fits the words may still be refused: whether these bytes have that hash, which tool
# there is and which fields go together is more than a schema says.
[checks.positive_data_acceptance]
enabled = false
"""


async def settle_in(caller: Caller, home: Household) -> dict[str, list[Any]]:
    """Have one of everything; gives them by the names that requests call them by."""
    sha256 = hashlib.sha256(LARGE).hexdigest()
    large = {"blob": sha256, "size": len(LARGE)}
    place = f"{base(home)}/blobs/{sha256}"
    await caller.ask("PUT", place, home.secrets[Role.AGENT], data=BytesIO(LARGE))
    async with caller.listen(home, home.secrets[Role.CLIENT]):
        handed_out = [await ask_to_read(caller, home, f"read-{n}") for n in range(5)]
    calls = {
        name: await ask_with_a_look(caller, home, name, session_id=name, content=large)
        for name in ("asked", "approved", "granted", "trusted")
    }
    unseen = await ask_to_write(caller, home, "unseen", session_id="unseen")
    for name, scope in (("approved", "once"), ("granted", "class"), ("trusted", "session")):
        await approve(caller, home, calls[name]["approval_id"], scope=scope)
    grants = (await show(caller, home, "/grants"))["grants"]
    asked = [*calls.values(), unseen]
    return {
        "project_id": [home.project.id],
        "workspace_id": [home.workspace.id],
        "session_id": ["session-1", *calls],
        "sha256": [sha256],
        "tool_id": [*handed_out, *(one["tool_id"] for one in asked)],
        "approval_id": [one["approval_id"] for one in asked],
        "grant_id": [one["grant_id"] for one in grants],
        "epoch": [1],
        "tool_name": ["read_file", "write_file", "execute_command", "search_code"],
        "tool_params": [
            {"path": "README.md"},
            {"path": "notes.md", "content": "hello"},
            {"path": "notes.md", "content": large},
            {"command": "ls"},
            {"pattern": "hello"},
        ],
    }


def introduce(node: Any, names: dict[str, list[Any]]) -> None:
    """Beside all that is called by one of these names, say what there really is."""
    if isinstance(node, list):
        for one in node:
            introduce(one, names)
    if not isinstance(node, dict):
        return
    if node.get("in") == "path" and node["name"] in names:
        node["schema"] = {"enum": names[node["name"]]}
    for name in names.keys() & node.get("properties", {}).keys():
        known = {"enum": names[name]}
        node["properties"][name] = {"anyOf": [known, node["properties"][name]]}
    for one in node.values():
        introduce(one, names)


@pytest.fixture(autouse=True)
def the_same_ids_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are among what is sent, and the same shall be sent whenever this runs."""
    chance = random.Random(0)
    monkeypatch.setattr(secrets, "token_hex", lambda size: chance.randbytes(size).hex())


# A client may do all but ask for calls, so it tries every border of every schema.
@pytest.mark.slow
@pytest.mark.behaviour("input.any-request")
@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    ("role", "phases", "paths", "most"),
    [
        (Role.CLIENT, "coverage,fuzzing", "", 10),
        (Role.AGENT, "coverage", "tools/(execute|batch)$", 1),
        (Role.AGENT, "fuzzing", "", 4),
        (Role.USER, "fuzzing", "", 4),
    ],
    ids=["client", "agent-asks", "agent", "user"],
)
async def test_any_request_is_answered_as_described(
    caller: Caller,
    household: Household,
    tmp_path: Path,
    role: Role,
    phases: str,
    paths: str,
    most: int,
) -> None:
    document = json.loads(json.dumps(caller.document))
    introduce(document, await settle_in(caller, household))
    (tmp_path / "openapi.json").write_text(json.dumps(document))
    (tmp_path / "schemathesis.toml").write_text(SETTINGS)

    with capture_logs() as lines:
        process = await asyncio.create_subprocess_exec(
            *(Path(sys.executable).with_name("schemathesis"), "run", "openapi.json"),
            *("--url", caller.address, "--phases", phases, "--include-path-regex", paths),
            *("--max-examples", str(most)),
            *("--header", f"Authorization: Bearer {household.secrets[role]}"),
            cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        said, _ = await process.communicate()

    assert process.returncode == 0, said.decode()
    assert [line for line in lines if line["log_level"] == "error"] == []

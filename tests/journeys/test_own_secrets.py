"""Whatever an agent runs: our tokens, our database and our API are out of its reach."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from handrail.core.card import Choice
from tests.journeys.conftest import Rig

pytestmark = pytest.mark.usefixtures("needs_box")

# Looks for our home, also by the way of our process, and for our API behind every door. It says
# what it has found, and never a token.
SEARCH = """
import os, socket
home, port, process = WORDS
words = [b"hr_" + kind + b"_" for kind in (b"user", b"client", b"agent")]
def look(name, path):
    try: text = open(path, "rb").read(1 << 22)
    except OSError: return
    if any(word in text for word in words): print("token in", name)
    if text.startswith(b"SQLite format 3"): print("database")
for place in (home, f"/proc/{process}/root{home}"):
    for folder, _, names in os.walk(place):
        for name in names: look("home", os.path.join(folder, name))
if os.path.exists(f"/proc/{process}"): print("process")
for name in ("environ", "cmdline"): look("process", f"/proc/{process}/{name}")
for name in ("127.0.0.1", "localhost", "0.0.0.0", socket.gethostname()):
    try: socket.create_connection((name, port), 2)
    except OSError: continue
    print("API")
try: doors = open("/proc/net/unix").read()
except OSError: doors = ""
if "handrail" in doors: print("door")
"""


def found_by(output: str) -> set[str]:
    return {*output.splitlines()}


async def search_approved(rig: Rig) -> dict[str, Any]:
    params = {"command": "python3", "args": ["search.py"]}
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.call("execute_command", params))
        await rig.answer(Choice(approved=True))
    return asking.result()


@pytest.mark.usefixtures("asks_beforehand")
@pytest.mark.behaviour("box.own_secrets")
async def test_no_command_finds_our_tokens_database_or_api(rig: Rig) -> None:
    server = rig.start_server()
    rig.start_client()
    words = (str(rig.home), rig.port, server.pid)
    search = rig.workspace / "search.py"
    search.write_text(SEARCH.replace("WORDS", repr(words)))

    plain = subprocess.run(
        [sys.executable, search], cwd=rig.workspace, capture_output=True, text=True, check=True
    )
    answer = await search_approved(rig)

    assert {"token in home", "database", "process", "API"} <= found_by(plain.stdout)
    assert answer["status"] == "completed", answer
    assert found_by(answer["result"]["stdout"]) == set()
    ((details,),) = rig.rows("SELECT details FROM audit WHERE action = 'call.ended'")
    walls = ["namespaces", "seccomp", "limits"]
    assert json.loads(details)["box"] == {"profile": "write", "walls": walls}


@pytest.mark.usefixtures("asks_beforehand")
@pytest.mark.behaviour("box.own_secrets")
async def test_no_second_name_in_the_workspace_leads_to_our_tokens(rig: Rig) -> None:
    rig.start_server()
    rig.start_client()
    stolen = [
        rig.workspace / f"copy-{number}"
        for number, path in enumerate(sorted(rig.home.rglob("*")))
        if path.is_file() and not (rig.workspace / f"copy-{number}").hardlink_to(path)
    ]
    names = [path.name for path in stolen]
    assert names

    looked = await rig.call("execute_command", {"command": "cat", "args": ["-A", *names]})
    line = "cat copy-* | head -c 100000"
    piped = await rig.call("run_bash", {"command": line}, "call-2")

    for answer in (looked, piped):
        told = json.dumps(answer)
        assert "hr_user_" not in told
        assert "SQLite format" not in told
    assert any("hr_user_" in Path(path).read_text(errors="replace") for path in stolen)

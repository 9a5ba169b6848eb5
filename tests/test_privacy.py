"""What leaves the machine is what the page on privacy says, and nothing else."""

import ast
import json
import os
import subprocess
import sys
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from tests.test_architecture import FILES, imports_of, name_of

# All by which Python and the packages here can reach another machine.
NETWORKING = {
    "aiohttp", "anthropic", "ftplib", "grpc", "http.client", "httpcore", "httpcore2", "httpx",
    "httpx2", "imaplib", "openai", "poplib", "requests", "smtplib", "socket", "socketserver", "ssl",
    "telnetlib", "urllib.request", "urllib3", "websockets", "xmlrpc.client",
}  # fmt: skip
LOOP_CALLS = {"open_connection", "create_connection", "create_datagram_endpoint", "sock_connect"}

# Who may, and whom they reach with it.
REACHES = {
    "agent/providers/anthropic.py": "the model provider",
    "agent/providers/connection.py": "the model provider",
    "agent/providers/openai.py": "the model provider",
    "app/agent_line.py": "nobody: a socket in Handrail's folder",
    "app/agent_service.py": "nobody: a socket in Handrail's folder",
    "app/doctor/home.py": "our own server",
    "app/doctor/model.py": "a model server of your own, to see whether it is there",
    "app/enrol.py": "nobody: the name of this machine",
    "client/api.py": "our own server",
    "client/heartbeat.py": "our own server",
    "client/listening.py": "our own server",
    "executors/git/outside.py": "the remote on the card",
    "executors/network/dialing.py": "the hosts on the card",
    "executors/network/forward.py": "a port of this machine that the person has allowed",
    "executors/network/interfaces.py": "nobody: the numbers of address families",
    "executors/network/listener.py": "nobody: it hands sockets on",
    "executors/network/listener_program.py": "nobody: it listens in a box",
    "executors/network/proxy.py": "the hosts on the card",
    "executors/network/routes.py": "nobody: the kernel",
    "executors/network/serving.py": "nobody: it accepts connections",
    "executors/network/way_out.py": "nobody: it hands sockets on",
    "executors/rehearsal/names.py": "nobody: it answers in a box that a name is not known",
    "executors/rehearsal/overlay.py": "nobody: it hands descriptors on",
    "executors/rehearsal/overlay_program.py": "nobody: it takes descriptors",
    "executors/web/guarded.py": "the host of an http_request",
    "executors/web/pinned.py": "the host of an http_request",
    "server/serving.py": "nobody: it listens",
    "server/tls.py": "nobody: certificates",
}

# A command under watch: each look-up and each connection of the process is written down. The
# quicker loop is not used, because it goes by where nobody can watch.
WATCHED = """
import asyncio, json, sys, types
sys.modules["uvloop"] = types.SimpleNamespace(run=asyncio.run)
log, arguments = open(sys.argv[1], "a", buffering=1), sys.argv[2:]
def watch(event, args):
    if event == "socket.getaddrinfo":
        log.write(json.dumps(["look-up", str(args[0]), str(args[1])]) + "\\n")
    elif event in ("socket.connect", "socket.sendto"):
        where = args[1]
        if isinstance(where, tuple):
            log.write(json.dumps(["connection", *where[:2]]) + "\\n")
sys.addaudithook(watch)
from handrail.cli.main import main
sys.argv = ["handrail", *arguments]
main()
"""


def can_reach_out(path: Path) -> bool:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    # A part of a package is the package; `http` and `urllib` have harmless parts as well.
    names = {part for name in imports_of(tree) for part in (name, name.split(".")[0])}
    return bool(names & NETWORKING or calls & LOOP_CALLS)


def test_only_these_files_can_reach_another_machine() -> None:
    assert {name_of(path) for path in FILES if can_reach_out(path)} == set(REACHES)


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    unwanted = ("HANDRAIL", "ANTHROPIC", "OPENAI", "DAILY_TOKEN", "PYTHONDONTWRITEBYTECODE")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(unwanted)}
    own = {
        "HANDRAIL_HOME": str(folder / "home"),
        "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
    }
    return subprocess.Popen(
        [sys.executable, "-c", WATCHED, str(folder / "watched"), *words],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env=kept | own | {"PYTHONUNBUFFERED": "1"}, cwd=folder / "project",
    )  # fmt: skip


def watched_in(folder: Path) -> list[list[Any]]:
    return [json.loads(line) for line in (folder / "watched").read_text().splitlines()]


def is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


@pytest.mark.slow
def test_server_client_and_tour_talk_to_each_other_and_to_nobody_else(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    serving = start(tmp_path, "up", "--port", "0")
    try:
        assert serving.stdout is not None
        first = serving.stdout.readline()
        port = int(first.rstrip().rpartition(":")[2])
        touring = start(tmp_path, "tour", "--auto")
        said, _ = touring.communicate(timeout=120)
        assert touring.returncode == 0, said
    finally:
        serving.terminate()
        serving.communicate(timeout=30)

    watched = watched_in(tmp_path)
    assert ["connection", "127.0.0.1", port] in watched
    assert [one for one in watched if not is_here(one[1])] == []

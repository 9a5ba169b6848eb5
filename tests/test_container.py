"""The container's files agree with the repository, and its health check with the server."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from handrail.app import settings
from handrail.app.settings import Variable

ROOT = Path(__file__).parent.parent
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = (ROOT / "compose.yaml").read_text(encoding="utf-8")
HEALTH = ROOT / "scripts" / "container_health.py"


def test_everything_that_is_copied_is_here_and_not_ignored() -> None:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    sent = {line[1:] for line in lines if line.startswith("!")}
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.M)
    sources = {source for line in copied for source in line.split()}

    assert [source for source in sources if not (ROOT / source).exists()] == []
    assert {Path(source).parts[0] for source in sources} == sent


def test_every_setting_is_one_of_handrails() -> None:
    known = {one.name for one in vars(settings).values() if isinstance(one, Variable)}
    used = set(re.findall(r"HANDRAIL_[A-Z_]+", DOCKERFILE + COMPOSE))
    assert used
    assert used <= known


def test_it_does_not_run_as_root() -> None:
    last_stage = DOCKERFILE.rpartition("\nFROM ")[2]
    assert re.findall(r"^USER (\w+)$", last_stage, re.M) == ["handrail"]
    assert last_stage.index("USER handrail") < last_stage.index("CMD")


@contextmanager
def answering(status: int) -> Generator[str]:
    """The port of a server that answers /health with this status."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/health" else 404)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield str(server.server_port)
        finally:
            server.shutdown()
            thread.join()


def exit_code(port: str, **environment: str) -> int:
    kept = {name: value for name, value in os.environ.items() if "HANDRAIL" not in name}
    return subprocess.run(
        [sys.executable, str(HEALTH)],
        env={**kept, "HANDRAIL_PORT": port, **environment},
        capture_output=True,
        timeout=30,
    ).returncode


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1)])
def test_the_health_check_says_whether_the_server_answers(status: int, code: int) -> None:
    with answering(status) as port:
        assert exit_code(port) == code
        assert exit_code(port, HANDRAIL_TLS_CERT="/tls/handrail.pem") == 1
    assert exit_code(port) == 1

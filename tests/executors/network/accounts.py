"""A stand-in for `gh`, and a server that it talks to."""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.executors.conftest import PYTHON

TOKEN = "gho_" + "aB3" * 12

# As the real one, it takes a token from its variable, else from a file of its own in the home.
_GH = """#!{python} -I
import os, subprocess, sys, urllib.request
from pathlib import Path

token = os.environ.get("GH_TOKEN", "")
hosts = Path.home() / ".config/gh/hosts.yml"
if not token and hosts.exists():
    token = hosts.read_text().partition("oauth_token: ")[2].partition("\\n")[0]
if not token:
    sys.exit("To get started with GitHub CLI, please run:  gh auth login")
if sys.argv[1:3] == ["auth", "token"]:
    sys.exit(print(token))
print(subprocess.run(["git", "remote", "-v"], capture_output=True, text=True).stdout)
request = urllib.request.Request("{address}" + "/".join(sys.argv[1:]))
request.add_header("Authorization", "token " + token)
print(urllib.request.urlopen(request, timeout=20).read().decode(), "for", token)
"""


@dataclass
class Hub:
    address: str
    asked: list[tuple[str, str]] = field(default_factory=list)

    @property
    def place(self) -> str:
        return self.address.removeprefix("http://").rstrip("/")

    @property
    def rules(self) -> str:
        return (
            f'[[network]]\nname = "gh"\nhosts = ["{self.place}"]\n'
            'credential = { ask = [["gh", "auth", "token"]], tell = "GH_TOKEN" }\n'
        )

    def install(self, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        program = folder / "gh"
        program.write_text(_GH.format(python=PYTHON, address=self.address))
        program.chmod(0o755)
        return program


@contextmanager
def serving_hub() -> Generator[Hub]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hub.asked.append((self.path, self.headers["Authorization"]))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"pull request 5")

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        hub = Hub(f"http://127.0.0.1:{server.server_port}/")
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield hub
        finally:
            server.shutdown()
            thread.join()


def sign_in(home: Path, token: str = TOKEN) -> None:
    hosts = home / ".config/gh/hosts.yml"
    hosts.parent.mkdir(parents=True, exist_ok=True)
    hosts.write_text(f"github.com:\n    oauth_token: {token}\n    user: ada\n")


def sign_out(home: Path) -> None:
    (home / ".config/gh/hosts.yml").unlink()

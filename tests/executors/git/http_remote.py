"""A remote that git reaches by HTTP, with a name and a password: git's own server behind a door."""

import os
import subprocess
import threading
from base64 import b64encode
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

USERNAME, PASSWORD = "ada", "correct horse/battery"
_BACKEND = "http-backend"


class HttpRemote:
    """Bare repositories in a folder; who came, and whether with the right words, is kept."""

    def __init__(self, folder: Path, port: int, *, is_open: bool, is_read_by_all: bool):
        self.folder = folder
        self.is_open = is_open
        self.is_read_by_all = is_read_by_all
        self.address = f"http://127.0.0.1:{port}"
        self.visits: list[tuple[str, str | None]] = []

    def url(self, name: str) -> str:
        return f"{self.address}/{name}"

    def make(self, name: str) -> Path:
        """A new repository that can be pushed to."""
        path = self.folder / name
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(path)], check=True)
        subprocess.run(["git", "config", "http.receivepack", "true"], cwd=path, check=True)
        return path


@contextmanager
def http_remote(
    folder: Path, *, is_open: bool = False, is_read_by_all: bool = False
) -> Generator[HttpRemote]:
    """Serve a folder as long as the block runs, to everybody if it `is_open`."""
    server = _Server(("127.0.0.1", 0), _Door)
    server.remote = HttpRemote(
        folder, server.server_port, is_open=is_open, is_read_by_all=is_read_by_all
    )
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server.remote
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Server(ThreadingHTTPServer):
    remote: HttpRemote


class _Door(BaseHTTPRequestHandler):
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: object) -> None:
        pass

    def _serve(self) -> None:
        body = self._body()
        words = self.headers.get("Authorization")
        self.server.remote.visits.append((self.path, words))
        right = b64encode(f"{USERNAME}:{PASSWORD}".encode()).decode()
        if words != f"Basic {right}" and not self._is_for_all():
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self._answer(self._ask_git(body))

    def _is_for_all(self) -> bool:
        remote = self.server.remote
        return remote.is_open or (remote.is_read_by_all and "receive-pack" not in self.path)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        whole = b""
        while size := int(self.rfile.readline(), 16):
            whole += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return whole

    def _ask_git(self, body: bytes) -> bytes:
        path, _, query = self.path.partition("?")
        asked = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.server.remote.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "REMOTE_USER": USERNAME,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
        }
        ran = subprocess.run(
            ["git", _BACKEND], input=body, env=asked, capture_output=True, check=True
        )
        return ran.stdout

    def _answer(self, told: bytes) -> None:
        head, _, body = told.partition(b"\r\n\r\n")
        rows = dict(row.split(": ", 1) for row in head.decode().split("\r\n"))
        self.send_response(int(rows.pop("Status", "200").split()[0]))
        for name, value in rows.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

"""A registry of packages on this machine, as small as npm and pip will take one."""

import base64
import hashlib
import io
import json
import tarfile
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

NAME = "express"
VERSION = "1.2.3"
_INDEX_JS = b"module.exports = () => 'expressed';\n"


@dataclass
class Registry:
    address: str
    asked: list[str] = field(default_factory=list)

    @property
    def place(self) -> str:
        return self.address.removeprefix("http://").rstrip("/")


def _tarball() -> bytes:
    package = json.dumps({"name": NAME, "version": VERSION, "main": "index.js"}).encode()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, content in (("package.json", package), ("index.js", _INDEX_JS)):
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def _metadata(address: str, tarball: bytes) -> bytes:
    integrity = base64.b64encode(hashlib.sha512(tarball).digest()).decode()
    dist = {
        "tarball": f"{address}{NAME}/-/{NAME}-{VERSION}.tgz",
        "integrity": f"sha512-{integrity}",
        "shasum": hashlib.sha1(tarball, usedforsecurity=False).hexdigest(),
    }
    version = {"name": NAME, "version": VERSION, "main": "index.js", "dist": dist}
    told = {"name": NAME, "dist-tags": {"latest": VERSION}, "versions": {VERSION: version}}
    return json.dumps(told).encode()


@contextmanager
def serving_packages() -> Generator[Registry]:
    """A registry for as long as the block runs."""
    tarball = _tarball()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            registry.asked.append(self.path)
            if self.path == f"/{NAME}":
                self._answer(_metadata(registry.address, tarball), "application/json")
            elif self.path.endswith(".tgz"):
                self._answer(tarball, "application/octet-stream")
            else:
                self.send_error(404)

        def _answer(self, content: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        registry = Registry(f"http://127.0.0.1:{server.server_port}/")
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield registry
        finally:
            server.shutdown()
            thread.join()

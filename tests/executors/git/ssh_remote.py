"""A remote that git reaches by ssh: a real server on this machine, and a key that it lets in."""

import getpass
import os
import socket
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.ports import free_port

_SERVER = "/usr/sbin/sshd"
_SECONDS = 20.0
_PRIVILEGES = Path("/run/sshd")


@dataclass(frozen=True)
class SshRemote:
    """Bare repositories in a folder. `command` is ssh with the right key, for `core.sshCommand`."""

    folder: Path
    port: int
    command: str

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.port}"

    def url(self, name: str) -> str:
        return f"ssh://{getpass.getuser()}@{self.place}{self.folder}/{name}"

    def make(self, name: str) -> Path:
        """A new repository that can be pushed to."""
        path = self.folder / name
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(path)], check=True)
        return path


@contextmanager
def ssh_remote(folder: Path) -> Generator[SshRemote]:
    """Serve the repositories below a folder as long as the block runs."""
    for name in ("host", "key"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(words, check=True)
    port = free_port()
    (folder / "sshd_config").write_text(
        f"ListenAddress 127.0.0.1:{port}\nHostKey {folder}/host\nPidFile none\nUsePAM no\n"
        f"StrictModes no\nAuthorizedKeysFile {folder}/key.pub\nPasswordAuthentication no\n"
    )
    kind, public = (folder / "host.pub").read_text().split()[:2]
    (folder / "known").write_text(f"[127.0.0.1]:{port} {kind} {public}\n")
    (folder / "ssh_config").write_text(
        f"IdentityFile {folder}/key\nIdentitiesOnly yes\nUserKnownHostsFile {folder}/known\n"
    )
    if os.geteuid() == 0:
        _PRIVILEGES.mkdir(exist_ok=True)
    words = [_SERVER, "-D", "-e", "-f", str(folder / "sshd_config")]
    server = subprocess.Popen(words, stderr=subprocess.DEVNULL)
    try:
        _wait_for(port)
        yield SshRemote(folder, port, f"ssh -F {folder}/ssh_config")
    finally:
        server.terminate()
        server.wait()


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + _SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            assert time.monotonic() < deadline, "the ssh server does not answer"
            time.sleep(0.05)
        else:
            return

"""One credential for one remote: asked for outside the box, and handed in once.

The person's own helpers are asked, as their own git would ask them, for exactly the host that was
approved. In the box git is told of a helper for that host alone, which is handed what they say when
git asks for it. So the secret is in no word, no variable and no file, and nothing in the box can
come by another one.
"""

import asyncio
import os
import re
import signal
import subprocess
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import quote, unquote, urlsplit

from handrail.core.errors import CommandExecutionError
from handrail.executors.processes.output import Output
from handrail.executors.processes.pipes import Streams
from handrail.executors.processes.start import Process, start_process

_SECONDS = 15.0
# A pipe takes this much without anybody reading.
_MOST_BYTES = 4_096
_MOST_ANSWER_BYTES = 65_536
_MASK = b"****"
_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(
    r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[0-9]{1,5})?|\[[0-9a-f:.]+\](?::[0-9]{1,5})?"
)
_UNPRINTABLE = re.compile(r"[\x00-\x20\x7f]")
# Of git's own variables, those that say where the person's settings are.
_WHERE = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH")


@dataclass(frozen=True, slots=True)
class Remote:
    """Where a credential is for: nothing of it can end a line or lead elsewhere."""

    protocol: str
    host: str
    path: str
    username: str | None = None
    # As it was given, but for who goes there.
    address: str = ""

    @classmethod
    def of(cls, url: str) -> "Remote":
        """Read an address as git would.

        Raises:
            CommandExecutionError: It is none that a credential can be sent to.
        """
        try:
            parts = urlsplit(url)
            username = None if parts.username is None else unquote(parts.username)
            path = unquote(parts.path, errors="strict").lstrip("/")
        except ValueError:
            raise _unfit("this address cannot be read") from None
        host = parts.netloc.rpartition("@")[2].lower()
        written = "".join((url, username or "", path))
        if _UNPRINTABLE.search(written) or "\\" in url or not _HOST.fullmatch(host):
            raise _unfit("this address has characters that could mislead")
        if parts.scheme != "https" and not (parts.scheme == "http" and _is_own(parts.hostname)):
            raise _unfit(f"{parts.scheme or 'this'} would send it where others can read it")
        address = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        return cls(parts.scheme, host, path, username, address)

    @property
    def url(self) -> str:
        """The host alone: for every repository there, and for no other host."""
        return f"{self.protocol}://{self.host}"

    @property
    def place(self) -> str:
        """The host with its port, also where that goes without saying."""
        has_port = re.search(r":[0-9]+\Z", self.host.rpartition("]")[2])
        return self.host if has_port else f"{self.host}:{_PORTS[self.protocol]}"


@dataclass(frozen=True, slots=True)
class Credential:
    """What a helper has said; it shows nowhere by accident."""

    username: str = field(repr=False)
    password: str = field(repr=False)

    @property
    def lines(self) -> bytes:
        """As a helper tells it."""
        return f"username={self.username}\npassword={self.password}\n".encode()

    def mask(self, words: bytes) -> bytes:
        """Take the secret out of what was printed, however it is written there."""
        both = f"{self.username}:{self.password}".encode()
        secret = self.password.encode()
        quoted = re.escape(quote(secret, safe="").encode())
        for shape in (re.escape(b64encode(both)), re.escape(secret), b"(?i:" + quoted + b")"):
            words = re.sub(shape, _MASK, words)
        return words


async def ask_helpers(remote: Remote, environment: Mapping[str, str]) -> Credential | None:
    """What the person's own helpers know of a remote, without asking the person; None if nothing.

    `environment` is the person's own.
    """
    question = _question(remote)
    if len(question) > _MOST_BYTES:
        return None
    with Output(_MOST_ANSWER_BYTES) as told:
        process = _start_git(question, told.writer, environment)
        told.close_writer()
        try:
            async with asyncio.timeout(_SECONDS):
                await told.ended.wait()
                await process.wait()
        except TimeoutError:
            return None
        finally:
            # Helpers may have started others, in the same group.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        if process.returncode != 0 or told.lost:
            return None
        return _answer(bytes(told.kept), remote)


def _start_git(question: bytes, told: int, environment: Mapping[str, str]) -> Process:
    reading, writing = os.pipe()
    try:
        try:
            os.write(writing, question)
        finally:
            os.close(writing)
        argv = ("git", "-c", "credential.interactive=false", "credential", "fill")
        streams = Streams(reading, told, subprocess.DEVNULL)
        return start_process(argv, streams, "/", _asking(environment))
    finally:
        os.close(reading)


def _unfit(why: str) -> CommandExecutionError:
    return CommandExecutionError(f"no credential is given out: {why}; use https://HOST/PATH")


def _is_own(host: str | None) -> bool:
    """Whether what is sent there stays on this machine."""
    try:
        return host == "localhost" or ip_address(host or "").is_loopback
    except ValueError:
        return False


def _asking(environment: Mapping[str, str]) -> dict[str, str]:
    """The person's environment, but for what would lead git elsewhere or have it ask somebody."""
    own = {
        name: value
        for name, value in environment.items()
        if name in _WHERE or not name.startswith(("GIT_", "SSH_ASKPASS"))
    }
    return own | {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "", "GCM_INTERACTIVE": "never"}


def _question(remote: Remote) -> bytes:
    rows = {"protocol": remote.protocol, "host": remote.host, "path": remote.path}
    if remote.username:
        rows["username"] = remote.username
    return "".join(f"{name}={value}\n" for name, value in rows.items() if value).encode()


def _answer(told: bytes, remote: Remote) -> Credential | None:
    rows: dict[str, str] = {}
    for row in told.decode(errors="replace").split("\n"):
        name, _, value = row.partition("=")
        rows[name] = value
    if (rows.get("protocol"), rows.get("host")) != (remote.protocol, remote.host):
        return None
    username, password = rows.get("username"), rows.get("password")
    if not username or not password:
        return None
    credential = Credential(username, password)
    return credential if len(credential.lines) <= _MOST_BYTES else None

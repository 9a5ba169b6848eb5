"""git outside the box, with the settings of the user of this machine.

It runs in a folder of ours, with their credential helpers, proxies, certificates and ssh keys. It
reads no settings of a workspace.
"""

import asyncio
import os
import re
import signal
import socket
import subprocess
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from handrail.core.errors import CommandExecutionError
from handrail.core.traffic import NO_TRAFFIC, Traffic
from handrail.core.visible import cut, visible
from handrail.executors.git.address import Address, check_plain, without_login
from handrail.executors.git.settings import Pairs, as_variables
from handrail.executors.network.dialing import addresses_of, look_up, why_not_to
from handrail.executors.network.hosts import Withdrawn, nothing_withdrawn
from handrail.executors.network.proxy import PolicyProxy
from handrail.executors.processes.output import Output
from handrail.executors.processes.pipes import Streams
from handrail.executors.processes.start import start_process
from handrail.policy.network.hosts import Host, HostList

# The name of the remote in a folder of ours.
REMOTE = "handrail"
_FETCHED, _PUSHED = " (fetch)", " (push)"
_MOST_BYTES = 8 << 20
_MOST_CHARS = 600
_LINGER_SECONDS = 0.5
_PROXIES = ("http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
_BYPASSES = ("no_proxy", "NO_PROXY")
# Of git's own variables, those that say where the person's settings are and how they connect.
_KEPT = (
    *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"),
    *("GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH"),
)
_QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "GCM_INTERACTIVE": "never",
    "SSH_ASKPASS_REQUIRE": "never",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "LC_ALL": "C.UTF-8",
}
_SETTINGS: Pairs = [
    ("core.hooksPath", os.devnull),
    ("core.fsmonitor", "false"),
    ("credential.interactive", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("gc.autoDetach", "false"),
    ("maintenance.autoDetach", "false"),
    ("protocol.allow", "never"),
    ("protocol.http.allow", "always"),
    ("protocol.https.allow", "always"),
    ("protocol.ssh.allow", "always"),
    ("push.followTags", "false"),
    ("push.gpgSign", "false"),
    ("push.recurseSubmodules", "no"),
    ("transfer.bundleURI", "false"),
]
# The person's own settings can put a token into an address.
_LOGIN = re.compile(rb"://[^/\s'\"]*@")
_SSH_ROW = re.compile(r"^(?P<name>hostname|port|proxyjump|proxycommand) (?P<value>.+)$", re.M)


class RemoteError(CommandExecutionError):
    """git could not reach a remote, or the remote has refused."""


@dataclass(frozen=True, slots=True)
class NetworkAccess:
    """The local hosts that may be reached, and the check for hosts that no longer may be."""

    local_hosts: tuple[str, ...] = ()
    withdrawn: Withdrawn = nothing_withdrawn


@dataclass(frozen=True, slots=True)
class Target:
    """The `url` of a remote in the workspace, and the addresses it resolves to.

    The user's own settings (`url.*.insteadOf`, `pushInsteadOf`) can replace it, and a push can get
    another address than a fetch.
    """

    url: str
    leads_to: tuple[Address, ...]

    @property
    def shown(self) -> tuple[str, ...]:
        return tuple(address.shown for address in self.leads_to)


class GitOutput(NamedTuple):
    out: bytes
    err: bytes


@dataclass(slots=True)
class OutsideGit:
    """git in a `folder` of ours, in which the one remote is named REMOTE."""

    folder: str
    url: str
    # Where new objects go for now; those of the folder are found as well.
    quarantine: str | None = None
    traffic: Traffic = NO_TRAFFIC
    _connecting: Pairs = field(default_factory=Pairs)

    @asynccontextmanager
    async def connected(self, target: Target, access: NetworkAccess) -> AsyncGenerator[None]:
        """Allow connections to the target, and to no other host, until the block ends.

        Raises:
            RemoteError: The target is where no command may go.
        """
        for address in target.leads_to:
            if address.scheme == "ssh":
                await _check_ssh(address, access)
        web = [address for address in target.leads_to if address.scheme != "ssh"]
        if not web or await self._has_own_proxy(web[0]):
            yield
            return
        listening = socket.create_server(("127.0.0.1", 0))
        self._connecting = [("http.proxy", f"http://127.0.0.1:{listening.getsockname()[1]}")]
        proxy = PolicyProxy(
            listening,
            hosts=HostList.read([address.place for address in web]),
            local_hosts=HostList.read(access.local_hosts, exact=True),
            withdrawn=access.withdrawn,
        )
        try:
            async with proxy:
                yield
        finally:
            self._connecting = []
            self.traffic += proxy.traffic

    async def run(
        self, *words: str, stdin: int = subprocess.DEVNULL, fails: Sequence[int] = ()
    ) -> GitOutput:
        """Run git and return its output. An exit code in `fails` is not an error.

        Raises:
            RemoteError: git fails; with its error output.
        """
        code, out, err = await _run(("git", *words), self.folder, self._environment(), stdin)
        err = _LOGIN.sub(b"://", err)
        if code and code not in fails:
            lines = err.decode(errors="replace").strip().splitlines()
            said = cut("\n".join(map(visible, lines)), _MOST_CHARS) or f"exit code {code}"
            raise RemoteError(f"git {words[0]} for {without_login(self.url)} failed: {said}")
        return GitOutput(out, err)

    async def succeeds(self, *words: str) -> bool:
        """Run git; True if it exits with 0."""
        code, _, _ = await _run(("git", *words), self.folder, self._environment())
        return code == 0

    def _environment(self) -> dict[str, str]:
        own = [*_SETTINGS, (f"remote.{REMOTE}.url", self.url), *self._connecting]
        dropped = _BYPASSES if self._connecting else ()
        kept = {
            name: value
            for name, value in os.environ.items()
            if name not in dropped
            and (name in _KEPT or not name.startswith(("GIT_", "SSH_ASKPASS")))
        }
        place = {"GIT_DIR": self.folder}
        if self.quarantine is not None:
            place["GIT_OBJECT_DIRECTORY"] = self.quarantine
            place["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = f"{self.folder}/objects"
        return kept | _QUIET | place | dict(as_variables(own))

    async def _has_own_proxy(self, address: Address) -> bool:
        """True if the user has configured a proxy, which then replaces ours."""
        if any(os.environ.get(name) for name in _PROXIES):
            return True
        words = ("config", "--get-urlmatch", "http.proxy", address.shown)
        return bool((await self.run(*words, fails=(1,))).out.strip())


async def target_of(url: str, *, pushes: bool) -> Target:
    """Resolve an address with the user's own settings, in an empty repository.

    Raises:
        CommandExecutionError: Remotes at this kind of address are not supported.
    """
    check_plain(url)
    with tempfile.TemporaryDirectory(prefix="handrail-git-") as folder:
        make_bare(Path(folder))
        git = OutsideGit(folder, url)
        rows = os.fsdecode((await git.run("remote", "-v")).out).split("\n")
    told = [row.removeprefix(f"{REMOTE}\t") for row in rows if row.startswith(f"{REMOTE}\t")]
    fetched = [row.removesuffix(_FETCHED) for row in told if row.endswith(_FETCHED)]
    pushed = [row.removesuffix(_PUSHED) for row in told if row.endswith(_PUSHED)]
    if (len(fetched), len(pushed)) != (1, 1):
        raise CommandExecutionError(f"git names no single address for {without_login(url)}")
    found = (*fetched, *pushed) if pushes else fetched
    return Target(url, tuple(Address.of(one) for one in dict.fromkeys(found)))


def make_bare(folder: Path) -> None:
    """Make an empty repository without templates, if there is none yet."""
    for name in ("objects/info", "objects/pack", "refs"):
        (folder / name).mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, text in (
        ("config", "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"),
        ("HEAD", "ref: refs/heads/none\n"),
    ):
        if not (folder / name).exists():
            (folder / name).write_text(text, encoding="utf-8")


async def _check_ssh(address: Address, access: NetworkAccess) -> None:
    """Check the host before ssh connects. A jump host or proxy command is the user's own choice."""
    meant = Host(address.host.lower(), address.port)
    if why := await access.withdrawn(meant):
        raise RemoteError(why)
    _, out, _ = await _run(("ssh", "-G", address.host), "/", dict(os.environ))
    rows = _SSH_ROW.finditer(out.decode(errors="replace"))
    told = {row["name"]: row["value"] for row in rows}
    if any(told.get(name, "none") != "none" for name in ("proxyjump", "proxycommand")):
        return
    try:
        found = await addresses_of(told.get("hostname", meant.name), address.port, look_up)
    except OSError:
        # ssh itself prints a better message.
        return
    may_be_local = HostList.read(access.local_hosts, exact=True).names(meant)
    if why := why_not_to(meant, found, may_be_local=may_be_local):
        raise RemoteError(why)


async def _run(
    argv: Sequence[str], cwd: str, env: Mapping[str, str], stdin: int = subprocess.DEVNULL
) -> tuple[int, bytes, bytes]:
    """Run a program and kill its process group at the end; exit code, stdout and stderr."""
    with Output(_MOST_BYTES) as out, Output(_MOST_BYTES) as err:
        process = start_process(argv, Streams(stdin, out.writer, err.writer), cwd, env)
        out.close_writer()
        err.close_writer()
        try:
            await process.wait()
        finally:
            # Helpers may have started others, in the same group.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        # A shared ssh connection stays open behind it, with the other ends of the pipes.
        with suppress(TimeoutError):
            async with asyncio.timeout(_LINGER_SECONDS):
                await asyncio.gather(out.ended.wait(), err.ended.wait())
        return process.returncode or 0, bytes(out.kept), bytes(err.kept)

"""A workspace to attack from, what lies around it, and what can be seen of an attack afterwards.

Only the standard library is used: it runs as an ordinary user as well, with any Python.
"""

import base64
import binascii
import bz2
import gzip
import hashlib
import io
import lzma
import os
import shutil
import signal
import socket
import stat
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

OUTSIDE_SECRET = b"TOPSECRET-4711"
INSIDE_SECRET = b"HUSHHUSH-4712"
GIT_SECRET = b"PASSWORD-4713"
_SECRETS = {OUTSIDE_SECRET: "stole", INSIDE_SECRET: "peeked", GIT_SECRET: "read git"}

# What no command may change or see, wherever it may write.
_GUARDED = (".env", "keys", ".handrail")

_SCRIPT = "#!/bin/sh\n: > '{ws}/ran'\nexec cat\n"
_PATCH = "--- /dev/null\n+++ b/patched\n@@ -0,0 +1 @@\n+x\n"
_AUTHOR = ["-c", "user.name=a", "-c", "user.email=a@b"]


@dataclass(frozen=True)
class Technique:
    """One row of the tables of attacks, which say what its fields mean."""

    name: str
    argv: tuple[str, ...]
    does: frozenset[str]
    plant: tuple[tuple[str, str], ...] = ()
    tools: tuple[str, ...] = ()
    says: str = ""
    may: frozenset[str] = frozenset()
    only: str = ""
    maybe: bool = False
    in_box: str = ""
    first: tuple[str, ...] = ()

    @property
    def connects(self) -> bool:
        return "connected" in self.does


Tree = dict[str, tuple[int, str]]


class Arena:
    """Made anew for every single run, so that nobody finds what another has left."""

    def __init__(self, folder: Path, technique: Technique, tools: Path, mark: str):
        self.ws, self.outside = folder / "ws", folder / "outside"
        self._technique = technique
        self._mark = mark
        self._stack = ExitStack()
        shutil.copytree(folder.parent / "template", folder, symlinks=True)
        for tool in technique.tools:
            shutil.copy(tools / tool, self.ws / tool)
        self._listen()
        self._fill(self.ws / "s.sh", _SCRIPT)
        for name, text in technique.plant:
            self._fill(self.ws / name, text)
        with tarfile.open(self.ws / "slip.tar", "w") as archive:
            archive.addfile(tarfile.TarInfo(f"{self.outside}/slipped"), io.BytesIO())
        self.first = [self.fill_in(word) for word in technique.first]
        self.argv = [self.fill_in(word) for word in technique.argv]
        self._before = tree_of(self.ws), tree_of(self.outside)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._stack.close()
        shutil.rmtree(self.ws.parent, ignore_errors=True)

    def seen(self, output: bytes) -> list[str]:
        """What has come of a run that said this."""
        effects: set[str] = set()
        changed = _difference(self._before[0], tree_of(self.ws))
        effects |= {_kind_of(name, mode) for name, mode in changed.items()}
        if _difference(self._before[1], tree_of(self.outside)):
            effects.add("escaped")
        texts = [output, *(_content(f"{self.ws}/{name}", mode) for name, mode in changed.items())]
        readings = [reading for text in texts for reading in _readings(text)]
        for secret, effect in _SECRETS.items():
            if any(secret in reading for reading in readings):
                effects.add(effect)
        if self._technique.says and self._technique.says.encode() in output:
            effects.add("says")
        if any(self._was_met(line) for line in self._lines) or self._was_written_to():
            effects.add("connected")
        if "{mark}" in str(self._technique.argv) and self.end_survivors():
            effects.add("survived")
        return sorted(effects)

    def fill_in(self, text: str) -> str:
        ports = [line.getsockname()[1] for line in self._lines[:2]]
        words = {"ws": self.ws, "outside": self.outside, "secret": self.outside / "secret"}
        for name, word in {**words, "tcp": ports[0], "udp": ports[1], "mark": self._mark}.items():
            text = text.replace(f"{{{name}}}", str(word))
        return text

    def _fill(self, path: Path, text: str) -> None:
        """A file, a link (`-> there`) or a second name (`= of this`)."""
        kind, _, rest = self.fill_in(text).partition(" ")
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        if kind == "->":
            path.symlink_to(rest)
        elif kind == "=":
            path.hardlink_to(self.ws / rest)
        else:
            path.write_text(self.fill_in(text))
            path.chmod(0o755)

    def _listen(self) -> None:
        """A host's services: by its loopback, and by doors inside and outside of the workspace."""
        tcp, udp = socket.create_server(("127.0.0.1", 0)), socket.socket(type=socket.SOCK_DGRAM)
        udp.bind(("127.0.0.1", 0))
        self._lines = [tcp, udp]
        for folder in (self.ws, self.outside):
            door = socket.socket(socket.AF_UNIX)
            here = os.open(folder, os.O_RDONLY)
            # By this way the name is never too long.
            door.bind(f"/proc/self/fd/{here}/door.sock")
            os.close(here)
            self._lines.append(door)
        nameless = socket.socket(socket.AF_UNIX)
        nameless.bind(f"\0handrail-{self._mark}")
        self._lines.append(nameless)
        os.mkfifo(self.ws / "door.fifo")
        self._pipe = os.open(self.ws / "door.fifo", os.O_RDONLY | os.O_NONBLOCK)
        self._stack.callback(os.close, self._pipe)
        for line in self._lines:
            if line.type == socket.SOCK_STREAM:
                line.listen()
            line.setblocking(False)
            self._stack.enter_context(line)

    def _was_met(self, line: socket.socket) -> bool:
        try:
            if line.type == socket.SOCK_DGRAM:
                line.recv(100)
            else:
                line.accept()[0].close()
        except BlockingIOError:
            return False
        return True

    def _was_written_to(self) -> bool:
        try:
            return bool(os.read(self._pipe, 100))
        except BlockingIOError:
            return False

    def end_survivors(self) -> bool:
        found = [pid for pid in _processes() if self._mark.encode() in _words_of(pid)]
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return bool(found)


def make_template(folder: Path) -> None:
    """What every arena is a copy of."""
    ws, outside = folder / "ws", folder / "outside"
    (ws / "keys").mkdir(parents=True)
    (outside / "folder").mkdir(parents=True)
    (outside / "secret").write_bytes(OUTSIDE_SECRET + b"\n")
    (ws / ".env").write_bytes(INSIDE_SECRET + b"\n")
    (ws / "keys" / "id_rsa").write_bytes(INSIDE_SECRET + b"\n")
    (ws / "f.txt").write_text("a\nb\n")
    (ws / "x.c").write_text("int x;\n")
    (ws / "x.py").write_text("x   =  1\n")
    (ws / "big.txt").write_text("".join(f"{number * 7919 % 10007}\n" for number in range(3_000)))
    (ws / "magic.txt").write_text("0\tstring\tx\tan x\n")
    (ws / "new.patch").write_text(_PATCH)
    (ws / "Makefile").write_text("all:\n\t./s.sh\n")
    (ws / "package.json").write_text('{"scripts": {"xxx": "./s.sh"}}')
    (ws / "p.gz").write_bytes(gzip.compress(b"packed\n"))
    with tarfile.open(ws / "t.tar", "w") as archive:
        archive.add(ws / "f.txt", "f.txt")
    with zipfile.ZipFile(ws / "z.zip", "w") as packed:
        packed.write(ws / "f.txt", "f.txt")
    with zipfile.ZipFile(ws / "slip.zip", "w") as packed:
        packed.writestr("../outside/slipped", "x")
    _make_repository(ws)
    (ws / ".git" / "hooks").mkdir()
    (ws / "f.txt").write_text("a\nb\nc\n")


def _make_repository(ws: Path) -> None:
    lines = (
        ["init", "-q", "--template="],
        ["add", "f.txt", "x.c"],
        [*_AUTHOR, "commit", "-qm", "x"],
    )
    for line in (*lines, ["repack", "-adq"], ["prune-packed", "-q"]):
        subprocess.run(["git", *line], cwd=ws, check=True, env={"PATH": os.defpath, "HOME": "/"})
    with (ws / ".git" / "config").open("ab") as config:
        config.write(b'[remote "x"]\n\turl = https://a:' + GIT_SECRET + b"@nowhere/\n")
        config.write(b"[user]\n\tname = a\n\temail = a@b\n")


def tree_of(folder: Path) -> Tree:
    """The mode and content of everything in a folder."""
    found: Tree = {}
    for where, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = f"{where}/{name}"
            mode = os.lstat(path).st_mode
            text = os.readlink(path).encode() if stat.S_ISLNK(mode) else _content(path, mode)
            found[path.removeprefix(f"{folder}/")] = mode, hashlib.sha256(text).hexdigest()
    return found


def _difference(before: Tree, after: Tree) -> dict[str, int]:
    """The names of what was changed, made or removed, and their modes."""
    names = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    return {name: after.get(name, (0, ""))[0] for name in names}


def _kind_of(name: str, mode: int) -> str:
    """What it means that this was changed."""
    top = name.split("/")[0]
    if top in _GUARDED or mode & (stat.S_ISUID | stat.S_ISGID):
        return "tampered"
    return {"ran": "ran", ".git": "changed git"}.get(top, "wrote")


def _content(path: str, mode: int) -> bytes:
    if not stat.S_ISREG(mode):
        return b""
    with open(path, "rb") as file:
        return file.read()


def _readings(text: bytes) -> Iterator[bytes]:
    """What somebody who was told this can make of it."""
    yield text
    yield text[::-1]
    with suppress(binascii.Error, ValueError):
        yield base64.b64decode(b"".join(text.split()), validate=True)
    for unpack in (gzip.decompress, bz2.decompress, lzma.decompress):
        with suppress(OSError, EOFError, ValueError, lzma.LZMAError):
            yield unpack(text)


def _processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def _words_of(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []

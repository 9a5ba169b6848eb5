"""What the machine, the terminal and the kernel can do for Handrail."""

import functools
import platform
import shutil
import sys
from pathlib import Path
from urllib.parse import urlsplit

from rich.console import Console

from handrail.app.doctor.finding import Finding, Health, Patient
from handrail.channels.terminal import has_terminal
from handrail.core.address import is_loopback
from handrail.executors.files.beneath import has_openat2

_OLDEST_PYTHON = (3, 11)
_MOUNTS = Path("/proc/self/mountinfo")
# There is no way to ask for this without renaming something, so we go by the name.
_EXCHANGES = {"ext4", "xfs", "btrfs", "tmpfs", "f2fs", "overlay", "bcachefs", "zfs", "ext2", "ext3"}


def check_python(_: Patient) -> Finding:
    words = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    if sys.version_info < _OLDEST_PYTHON:
        return Finding("python", Health.BROKEN, words, "Handrail needs Python 3.11 or newer")
    return Finding("python", Health.FINE, words)


def check_address(patient: Patient) -> Finding:
    hosts = {patient.settings.host}
    if patient.credentials is not None:
        hosts.add(urlsplit(patient.credentials.server).hostname or "")
    if open_to_others := sorted(host for host in hosts if not is_loopback(host)):
        words = f"{', '.join(open_to_others)} can be reached from other machines"
        remedy = "listen on 127.0.0.1, or make sure that the connection is encrypted"
        return Finding("address", Health.NOTE, words, remedy)
    if patient.credentials is not None and patient.credentials.server.startswith("https:"):
        words = "other machines can reach the server, with TLS"
        return Finding("address", Health.NOTE, words, "make sure that this is intended")
    return Finding("address", Health.FINE, "only this machine can reach the server")


def check_paths(_: Patient) -> Finding:
    if has_openat2():
        words = "the kernel keeps every path inside the workspace (openat2)"
        return Finding("paths", Health.FINE, words)
    words = "this kernel has no openat2; paths are checked part by part, which is safe but slow"
    return Finding("paths", Health.NOTE, words)


def check_writes(patient: Patient) -> Finding:
    kind = filesystem_of(patient.workspace.resolve())
    if kind in _EXCHANGES and sys.platform == "linux":
        words = f"the workspace is on {kind}, which replaces files atomically"
        return Finding("writes", Health.FINE, words)
    words = (
        f"the workspace is on {kind or 'an unknown file system'}, which may not replace"
        " files atomically; a change that another program makes at that moment can be lost"
    )
    return Finding("writes", Health.NOTE, words, "keep workspaces on a local disk")


def check_search(_: Patient) -> Finding:
    found = find_ripgrep()
    if found is None:
        return Finding("search", Health.NOTE, "ripgrep is not installed", "install ripgrep")
    return Finding("search", Health.FINE, f"ripgrep is at {found}")


def check_terminal(_: Patient) -> Finding:
    if not has_terminal():
        words = "there is no terminal to ask you at"
        remedy = "answer with `handrail approvals`, or start Handrail in a terminal"
        return Finding("terminal", Health.NOTE, words, remedy)
    console = Console()
    colours = console.color_system or "no"
    size = f"{console.width} by {console.height}"
    words = f"{size}, {colours} colours, {console.encoding}"
    if console.width < 60:
        return Finding("terminal", Health.NOTE, words, "make the window wider to see cards in full")
    return Finding("terminal", Health.FINE, words)


def check_limits(_: Patient) -> Finding:
    words = (
        "programs that you run outside Handrail, such as an agent's own shell, can bypass it and"
        " read its files; Handrail cannot prevent that"
    )
    remedy = (
        "start such an agent with `handrail draft -- AGENT`, or give it no way to run anything but"
        " through Handrail"
    )
    return Finding("limits", Health.NOTE, words, remedy)


def find_ripgrep() -> str | None:
    """Where ripgrep is: installed beside this Python, or anywhere on the way."""
    beside = str(Path(sys.executable).parent)
    return shutil.which("rg", path=beside) or shutil.which("rg")


def filesystem_of(path: Path) -> str | None:
    """The kind of file system that a path lies on, where the kernel tells."""
    return max(
        ((len(point.parts), kind) for point, kind in _mounts() if path.is_relative_to(point)),
        default=(0, None),
        key=lambda found: found[0],
    )[1]


@functools.cache
def _mounts() -> list[tuple[Path, str]]:
    try:
        lines = _MOUNTS.read_text(errors="surrogateescape").splitlines()
    except OSError:
        return []
    found: list[tuple[Path, str]] = []
    for line in lines:
        before, _, behind = line.partition(" - ")
        point = before.split(" ")[4].replace("\\040", " ")
        found.append((Path(point), behind.split(" ")[0]))
    return found

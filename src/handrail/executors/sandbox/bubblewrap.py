"""What bubblewrap is told: which parts of the machine a box has, and how.

A box begins empty. It gets the system's programs to read, folders of its own for what is passing,
and the workspace, read-only or not. Nothing else of the machine has a name in it.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from glob import glob

from handrail.core.box import Profile

# Folders of the box, not of the machine.
TEMPORARY = "/tmp"  # noqa: S108
HOME = f"{TEMPORARY}/home"
MOST_TEMPORARY_BYTES = 1 << 30

_USER_PROGRAMS = "/usr"
_SYSTEM_FOLDERS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
SYSTEM = ("/usr", *(f"/{name}" for name in _SYSTEM_FOLDERS))
# What programs look up to start, to tell names and times, and to know whom to trust; no secrets.
_SETTINGS = (
    *(
        "ld.so.cache",
        "ld.so.conf",
        "ld.so.conf.d",
        "alternatives",
        "passwd",
        "group",
        "nsswitch.conf",
    ),
    *("localtime", "timezone", "mime.types", "magic", "ssl/certs", "ssl/openssl.cnf"),
    *("pki/tls/certs", "ca-certificates", "ca-certificates.conf", "crypto-policies"),
    *("services", "protocols", "os-release", "lsb-release", "debian_version", "fonts"),
)
# Debian's Java keeps half of itself there.
_SETTINGS_BY_KIND = "/etc/java-*"

# The machine's own would tell which others it knows.
HOSTS = "/etc/hosts"
HOSTS_OF_BOX = b"127.0.0.1 localhost box\n::1 localhost box\n"

# Our folder in a workspace, and the files that a box shows in there.
OWN = ".handrail"
IN_OWN = (".gitignore", "hidden-names")


class GitAccess(Enum):
    """What a command may change of repositories; their CONTENT is all but settings and hooks."""

    NONE = auto()
    CONTENT = auto()
    ALL = auto()


@dataclass(frozen=True, slots=True)
class View:
    """A workspace as a box shows it. Paths are absolute and lead through no link.

    Hidden names can be neither read nor changed; frozen ones can be read. Folders on the way to
    either are pinned: who could rename them would carry the secret out from under its cover.
    `missing` folders do not exist and shall not: they are covered all the same. `loose` names are
    links, which nothing can hold in place: whoever may write could put something else there. Of
    some files, `copies` are shown that hold no passwords. `gits` are repositories of which the
    content can be changed. Folders `beside` the workspace can be read.
    """

    root: str
    hidden_files: tuple[str, ...] = ()
    hidden_folders: tuple[str, ...] = ()
    frozen: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    loose: tuple[str, ...] = ()
    copies: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    gits: tuple[str, ...] = ()
    beside: "tuple[View, ...]" = ()

    @property
    def hidden(self) -> tuple[str, ...]:
        return (*self.hidden_files, *self.hidden_folders)

    @property
    def covered(self) -> tuple[str, ...]:
        """Every name that a box must hold in place."""
        return (*self.hidden_files, *self.hidden_folders, *self.frozen)

    def hidden_in(self, folder: str) -> tuple[str, ...]:
        """What is hidden below a folder of the workspace, by paths from its root."""
        above = f"{os.path.normpath(os.path.join(self.root, folder))}/"
        found = [os.path.relpath(path, self.root) for path in self.hidden if path.startswith(above)]
        return tuple(sorted(found))

    def bound(self, *, writable: bool) -> list[str]:
        """What a box gets of the workspace itself."""
        pinned = [path for path in self.pinned if path not in self.frozen]
        return [self.root, *pinned, *self.frozen] if writable else [self.root]

    def emptied(self, *, writable: bool) -> tuple[str, ...]:
        """Folders that a box shows empty."""
        return (*self.hidden_folders, *(self.missing if writable else ()))

    @property
    def pinned(self) -> list[str]:
        """Every folder between the root and what is covered, from the outside in."""
        found: set[str] = set()
        for path in (*self.covered, *self.missing):
            while (path := os.path.dirname(path)).startswith(f"{self.root}/"):
                found.add(path)
        return sorted(found)


@dataclass(frozen=True, slots=True)
class Lent:
    """Folders that a box is lent instead of its own; its network is made for it beforehand.

    Whatever ran with them before may have left links in them, and bubblewrap follows links where it
    makes a name. So every name that it needs in `temporary` exists, and has something mounted on it
    in each box: the `home`, and the `ways` to what else is shown below.
    """

    temporary: str
    home: str
    ways: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mount:
    """A folder of ours that a box shows at `target`; no program in a box can move it."""

    source: str
    target: str
    writable: bool = False


def is_among(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def is_of_the_system(path: str) -> bool:
    """Whether a path lies where every box can look."""
    folders = (_USER_PROGRAMS, *[f"/{name}" for name in _SYSTEM_FOLDERS])
    return path.startswith(tuple(f"{folder}/" for folder in folders))


def arguments(
    profile: Profile,
    view: View,
    held: Mapping[str, int],
    copies: Mapping[str, int],
    environment: Iterable[tuple[str, str]],
    toolchains: Sequence[str] = (),
    lent: Lent | None = None,
    mounts: Sequence[Mount] = (),
) -> list[str]:
    """Everything bubblewrap is told but the command and its folder.

    What it binds of the workspace is `held`, and so is what it reads as the list of hosts; of some
    files it shows `copies` instead.
    """
    reads = profile is Profile.READ
    told = ["--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--clearenv"]
    told += ["--cap-drop", "ALL", "--hostname", "box"]
    told += [] if lent is None else ["--share-net"]
    for name, value in environment:
        told += ["--setenv", name, value]
    told += _system()
    # Where we are root, so is what runs in a box to the files of the kernel's settings.
    told += ["--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev"]
    told += [*_passing("/dev/shm"), "--remount-ro", "/dev"]  # noqa: S108
    told += [*_temporary(lent), "--symlink", TEMPORARY, "/var/tmp"]  # noqa: S108
    told += ["--ro-bind-data", str(held[HOSTS]), HOSTS]
    # A toolchain may lie in a folder that is mounted.
    for mount in mounts:
        told += ["--bind" if mount.writable else "--ro-bind", mount.source, mount.target]
    for folder in toolchains:
        told += ["--ro-bind", folder, folder]
    for other in view.beside:
        told += ["--ro-bind", other.root, other.root, *_covers(other, held, writable=False)]
    told += _workspace(view, held, copies, writable=not reads)
    if reads:
        told += ["--remount-ro", TEMPORARY, "--remount-ro", "/dev/shm"]  # noqa: S108
        told += [] if lent is None else ["--remount-ro", HOME]
    return [*told, "--remount-ro", "/"]


def settings() -> list[str]:
    """What of the system's settings everybody may read."""
    return [*(f"/etc/{name}" for name in _SETTINGS), *sorted(glob(_SETTINGS_BY_KIND))]


def _passing(folder: str) -> list[str]:
    """A folder of the box's own, in memory, which it cannot fill for good."""
    return ["--size", str(MOST_TEMPORARY_BYTES), "--tmpfs", folder]


def _temporary(lent: Lent | None) -> list[str]:
    if lent is None:
        return [*_passing(TEMPORARY), "--dir", HOME]
    told = ["--bind", lent.temporary, TEMPORARY, "--bind", lent.home, HOME]
    return told + [word for way in lent.ways for word in _passing(way)]


def _system() -> Iterator[str]:
    yield from ("--ro-bind", _USER_PROGRAMS, _USER_PROGRAMS)
    for name in _SYSTEM_FOLDERS:
        folder = f"/{name}"
        if os.path.islink(folder):
            yield from ("--symlink", os.readlink(folder), folder)
        elif os.path.isdir(folder):
            yield from ("--ro-bind", folder, folder)
    for path in settings():
        yield from ("--ro-bind-try", path, path)


def _workspace(
    view: View, held: Mapping[str, int], copies: Mapping[str, int], *, writable: bool
) -> Iterator[str]:
    for path in view.bound(writable=writable):
        is_open = writable and path not in view.frozen
        yield from ("--bind-fd" if is_open else "--ro-bind-fd", str(held[path]), path)
    for path, fd in copies.items():
        yield from ("--ro-bind-data", str(fd), path)
    yield from _covers(view, held, writable=writable)


def _covers(view: View, held: Mapping[str, int], *, writable: bool) -> Iterator[str]:
    for path in view.hidden_files:
        yield from ("--ro-bind", "/dev/null", path)
    for folder in view.emptied(writable=writable):
        yield from ("--tmpfs", folder)
        if folder == os.path.join(view.root, OWN):
            for name in IN_OWN:
                if name in held:
                    yield from ("--ro-bind-data", str(held[name]), f"{folder}/{name}")
        yield from ("--remount-ro", folder)

"""What a toolchain may not be: too much, somebody else's, or a place where secrets are."""

import grp
import os
import pwd
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from handrail.executors.toolchains.toolchain import Toolchain, is_in
from handrail.policy.rulebook.paths import Access, PathRule
from handrail.policy.rulebook.rules import default_rules

_NO_PLACES = ("/etc", "/proc", "/sys", "/dev", "/run", "/boot", "/var/run")
# Whole branches of a machine, of which a toolchain may be a part.
_FEWEST_PARTS = 2
# Keys and certificates come with every Python, for its tests; these never do.
_TELLING_RULES = {"credential-store", "dotenv", "handrail-own"}
_PERSONAL = (".config", ".mozilla", ".thunderbird", ".local/share/keyrings", ".password-store")
# Settings that most people keep free of secrets, so that it matters what they say.
_SETTINGS = {"npmrc", "pip.conf", ".condarc", ".npmrc"}
_SECRET = re.compile(r"_auth|_password|token|://[^/\s]+@|/t/", re.I)
_DEPTH = 3
_MOST_NAMES = 20_000
_MOST_SETTINGS = 100_000


@dataclass(frozen=True, slots=True)
class Soundness:
    """Knows what must not be in a box: the `private` folders, and each workspace."""

    private: Sequence[str] = ()
    workspaces: Sequence[str] = ()
    home: str = field(default_factory=lambda: os.path.expanduser("~"))

    def why_not(self, toolchain: Toolchain) -> str | None:
        """Why boxes do not get it, if they do not."""
        path = os.path.realpath(toolchain.path)
        if not os.path.isdir(path):
            return f"{toolchain.path} is not a folder"
        places = [path, *map(os.path.realpath, (*toolchain.mounts, *toolchain.folders))]
        for place in dict.fromkeys(places):
            if why := self._is_too_much(place) or self._is_personal(place) or _others_write(place):
                return why
        if not toolchain.folders:
            return f"{toolchain.path} contains no programs, neither itself nor in a `bin`"
        for mount in toolchain.mounts:
            for secret in _secrets_in(mount):
                return f"{secret} may hold credentials; name a folder that does not hold it"
        return None

    def _is_too_much(self, path: str) -> str | None:
        if len([part for part in path.split("/") if part]) < _FEWEST_PARTS:
            return f"{path} covers too much of the machine; name only the folder that is needed"
        if is_in(os.path.realpath(self.home), path):
            return f"{path} contains your home folder; name only the folder that is needed"
        if any(is_in(path, place) for place in _NO_PLACES):
            return f"{path} belongs to the system's own settings and devices"
        for folder in map(os.path.realpath, self.private):
            if is_in(folder, path) or is_in(path, folder):
                return f"{path} overlaps Handrail's own folder {folder}"
        for root in map(os.path.realpath, self.workspaces):
            if is_in(root, path) or is_in(path, root):
                return f"{path} overlaps the workspace {root}, which agents can change"
        return None

    def _is_personal(self, path: str) -> str | None:
        home = os.path.realpath(self.home)
        name = os.path.relpath(path, home if is_in(path, home) else "/")
        is_kept = any(rule.covers(name) for rule in _telling_rules())
        if is_kept or any(is_in(name, place) for place in _PERSONAL):
            return f"{path} is where credentials or personal settings are kept"
        return None


def _telling_rules() -> list[PathRule]:
    rules = [rule for rule in default_rules().paths if rule.access is Access.ANY]
    return [rule for rule in rules if rule.name in _TELLING_RULES]


def _secrets_in(mount: str) -> Iterator[str]:
    """Files not far below whose names, or words, tell of credentials."""
    rules = _telling_rules()
    count = 0
    for folder, folders, files in os.walk(mount):
        depth = os.path.relpath(folder, mount).count("/") + (folder != mount)
        if depth >= _DEPTH - 1:
            folders.clear()
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            # The last parts: some rules know a file by the folder it is in.
            end = "/".join(path.split("/")[-2:])
            if name in _SETTINGS:
                if _holds_secret(path):
                    yield path
            elif any(rule.covers(end) for rule in rules):
                yield path
        count += len(files)
        if count > _MOST_NAMES:
            return


def _holds_secret(file: str) -> bool:
    """Whether a file of settings has secrets in it; so has one that cannot be read."""
    try:
        if not stat.S_ISREG(os.stat(file).st_mode):
            return True
        with open(file, encoding="utf-8", errors="replace") as stream:
            return _SECRET.search(stream.read(_MOST_SETTINGS)) is not None
    except OSError:
        return True


def _others_write(path: str) -> str | None:
    """Whoever can write it, or rename a folder on the way, chooses what runs."""
    place = path
    while True:
        found = os.stat(place)
        is_sticky = place != path and found.st_mode & stat.S_ISVTX
        if found.st_uid not in (0, os.geteuid()):
            return f"{place} belongs to another user"
        if not is_sticky and (found.st_mode & stat.S_IWOTH or _is_open_to_group(found)):
            return f"other users can write to {place}; to prevent that: chmod go-w {place}"
        if place == "/":
            return None
        place = os.path.dirname(place)


def _is_open_to_group(found: os.stat_result) -> bool:
    """Many systems give each person a group of their own, in which is nobody else."""
    if not found.st_mode & stat.S_IWGRP or found.st_gid == 0:
        return False
    try:
        group, me = grp.getgrgid(found.st_gid), pwd.getpwuid(os.geteuid())
    except KeyError:
        return True
    is_own = group.gr_name == me.pw_name and found.st_gid == me.pw_gid
    return not is_own or any(member != me.pw_name for member in group.gr_mem)

"""A stand-in for a remote: a bare repository that git in the box uses in place of the remote.

It has the current refs of the remote. Any program in the box can write to it, so it is not trusted.
git outside the box never runs in it, its refs are read as plain files, and the hashes of its
objects are computed again.
"""

import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from handrail.core.errors import CommandExecutionError

_CONFIG = """\
[core]
	repositoryformatversion = 0
	bare = true
	alternateRefsCommand = /bin/true
[gc]
	auto = 0
[maintenance]
	auto = false
[receive]
	advertisePushOptions = true
	denyDeleteCurrent = ignore
	shallowUpdate = true
	unpackLimit = 1
[uploadpack]
	allowAnySHA1InWant = true
	allowFilter = true
"""
_PUSH_OPTIONS = "push-options"
# Push options come in variables that only a hook sees.
_HOOK = f"""\
#!/bin/sh
number=0
while [ "$number" -lt "${{GIT_PUSH_OPTION_COUNT:-0}}" ]; do
    eval "printf '%s\\\\n' \\"\\$GIT_PUSH_OPTION_$number\\"" >> "$GIT_DIR/{_PUSH_OPTIONS}"
    number=$((number + 1))
done
"""
_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REF = re.compile(
    r"refs/(?!.*(?:\.\.|@\{|//|/\.|\.lock(?:/|\Z)))[^\x00-\x20\x7f~^:?*\[\\]+(?<![/.])"
)
_MOST_REFS = 100_000
_MOST_LEVELS = 50
_MOST_CHANGES = 200
_MOST_REF_BYTES = 200
_MOST_PACKED_BYTES = 32 << 20
_MOST_PACKS = 100
_MOST_OPTIONS_BYTES = 10_000

Refs = Mapping[str, str]


class Change(NamedTuple):
    """A ref before and after a push; empty where it does not exist."""

    ref: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class StandIn:
    """The repository in `folder`, made with the `refs` of the remote."""

    folder: Path
    refs: Refs

    @classmethod
    def make(cls, folder: Path, refs: Refs, head: str, objects: str) -> "StandIn":
        """Make a stand-in whose alternate object store is the path `objects` in the box."""
        for name in ("objects/info", "objects/pack", "refs/heads", "hooks"):
            (folder / name).mkdir(parents=True)
        (folder / "config").write_text(_CONFIG, encoding="utf-8")
        (folder / "HEAD").write_text(f"ref: {head}\n", encoding="utf-8")
        (folder / "objects/info/alternates").write_text(f"{objects}\n", encoding="utf-8")
        hook = folder / "hooks/pre-receive"
        hook.write_text(_HOOK, encoding="utf-8")
        hook.chmod(0o700)
        rows = "".join(f"{value} {name}\n" for name, value in sorted(refs.items()))
        packed = f"# pack-refs with: sorted \n{rows}"
        (folder / "packed-refs").write_bytes(os.fsencode(packed))
        return cls(folder, refs)

    def changes(self) -> list[Change]:
        """The refs that a push has changed.

        Raises:
            CommandExecutionError: A file in it was not written by git.
        """
        now = dict(self._packed()) | dict(self._loose())
        if strange := next((name for name in now if not _REF.fullmatch(name)), None):
            raise CommandExecutionError(f"{strange!r} is no name for a branch or tag")
        changes = [
            Change(name, self.refs.get(name, ""), now.get(name, ""))
            for name in sorted({*self.refs, *now})
            if self.refs.get(name) != now.get(name)
        ]
        if len(changes) > _MOST_CHANGES:
            raise CommandExecutionError(
                f"the push would change {len(changes):,} refs, and {_MOST_CHANGES} are the most;"
                " push fewer at once, or push yourself"
            )
        return changes

    def packs(self) -> list[Path]:
        """The packs that were pushed."""
        folder = self.folder / "objects/pack"
        if not (_is_folder(folder.parent) and _is_folder(folder)):
            raise CommandExecutionError("'objects' is no folder of git's")
        found = [
            path for path in sorted(folder.iterdir()) if path.suffix == ".pack" and _is_file(path)
        ]
        if len(found) > _MOST_PACKS:
            raise CommandExecutionError(f"it was pushed to more than {_MOST_PACKS} times")
        return found

    def push_options(self) -> list[str]:
        text = _read(self.folder / _PUSH_OPTIONS, _MOST_OPTIONS_BYTES)
        return text.decode(errors="replace").splitlines()

    def _packed(self) -> Iterator[tuple[str, str]]:
        for row in os.fsdecode(_read(self.folder / "packed-refs", _MOST_PACKED_BYTES)).split("\n"):
            value, _, name = row.partition(" ")
            if _ID.fullmatch(value):
                yield name, value

    def _loose(self) -> Iterator[tuple[str, str]]:
        count = 0
        if not _is_folder(self.folder / "refs"):
            raise CommandExecutionError("'refs' is no folder of git's")
        todo = [self.folder / "refs"]
        while todo:
            folder = todo.pop()
            if len(folder.parts) - len(self.folder.parts) > _MOST_LEVELS:
                raise CommandExecutionError(f"a ref has more than {_MOST_LEVELS} levels")
            for path in [*folder.iterdir()]:
                if _is_folder(path):
                    todo.append(path)
                    continue
                count += 1
                if count > _MOST_REFS:
                    raise CommandExecutionError(f"it has more than {_MOST_REFS:,} refs")
                value = _read(path, _MOST_REF_BYTES).decode(errors="replace").strip()
                if not _ID.fullmatch(value):
                    raise CommandExecutionError(f"{path.name!r} names no commit")
                yield str(path.relative_to(self.folder)), value


def _is_folder(path: Path) -> bool:
    """True for a folder itself, False for a symbolic link to one."""
    return path.is_dir() and not path.is_symlink()


def _is_file(path: Path) -> bool:
    return stat.S_ISREG(path.lstat().st_mode)


def _read(path: Path, most: int) -> bytes:
    """The content of a regular file; empty if it does not exist."""
    with suppress(FileNotFoundError):
        if not _is_file(path) or path.stat().st_size > most:
            raise CommandExecutionError(f"{path.name!r} is no file of git's")
        return path.read_bytes()
    return b""

"""GuardedNames: which names of a workspace a box must cover, found anew before each command.

A folder that has not changed since the last look is not read again, so that a look at a large
workspace costs one question per folder.
"""

import os
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from handrail.core.errors import CommandExecutionError
from handrail.executors.git.leave import ORDINARY, Held, Leave, held_from_git
from handrail.executors.git.repositories import GIT, MARKS, is_among, own_of_git, stores_of
from handrail.executors.sandbox.bubblewrap import View, is_of_the_system
from handrail.executors.second_names import Identity, SecondNames
from handrail.policy.rulebook.paths import Access, PathRule
from handrail.policy.rulebook.rules import Rules

# Each cover is a mount, and the kernel takes longer for each the more there are.
MOST_COVERED = 256
_MOST_FOLDERS = 200_000
_STILL_NS = 2_000_000_000
_OWN = (GIT, ".handrail")


class _Stamp(NamedTuple):
    """If none of it has changed, neither has what the folder holds, once it has been still."""

    inode: int
    modified_ns: int
    changed_ns: int

    def was_still_at(self, now_ns: int) -> bool:
        """Whether a further change would have been seen: clocks of file systems tick slowly."""
        return now_ns - max(self.modified_ns, self.changed_ns) > _STILL_NS


_NEVER = _Stamp(0, 0, 0)


@dataclass(slots=True)
class _Folder:
    """What was seen in one folder; files with a second name are told by their inodes.

    `doors` are sockets, pipes and devices: behind them are other processes, not files. `within` are
    folders that are hidden whole; of one that `is_hidden` itself, only its `secrets` are told.
    `gits` are repositories, or files that lead to one. One that `is_store` is the inside of one.
    """

    stamp: _Stamp
    is_settled: bool
    is_hidden: bool = False
    is_store: bool = False
    gits: list[str] = field(default_factory=list[str])
    below: list[str] = field(default_factory=list[str])
    hidden: list[tuple[str, bool]] = field(default_factory=list[tuple[str, bool]])
    frozen: list[str] = field(default_factory=list[str])
    doors: list[str] = field(default_factory=list[str])
    linked: list[tuple[str, os.stat_result]] = field(
        default_factory=list[tuple[str, os.stat_result]]
    )
    within: list[str] = field(default_factory=list[str])
    secrets: list[os.stat_result] = field(default_factory=list[os.stat_result])


class GuardedNames:
    """Looks by the rules about paths; `private` files stay hidden under whatever name."""

    def __init__(
        self,
        root: str,
        rules: Rules,
        second_names: SecondNames,
        private: Sequence[str | Path] = (),
    ):
        self._root = root
        self._second_names = second_names
        places = [os.path.realpath(path) for path in private]
        self._private = {os.path.relpath(path, root) for path in places}
        self._elsewhere = [
            path for path in places if is_of_the_system(path) and not is_among(path, [root])
        ]
        self.adopt(rules)

    def adopt(self, rules: Rules) -> None:
        """Look by other rules from now on."""
        self._hiding = [rule for rule in rules.paths if rule.access is Access.ANY]
        self._freezing = [rule for rule in rules.paths if rule.access is Access.WRITE]
        self._seen: dict[str, _Folder] = {}
        self._linked_secrets: set[Identity] = set()
        self._stores: frozenset[str] = frozenset()

    def view(self, *, git_in: str | None, leave: Leave = ORDINARY) -> View:
        """The workspace as a box should show it now.

        git, which runs in the folder `git_in`, sees what is its own there, and changes of it what
        it is left to change.

        Raises:
            CommandExecutionError: There is more to cover than a box can.
        """
        folders = self._look_around()
        frozen = [path for _, folder in folders for path in folder.frozen]
        frozen += [path for path in sorted(self._stores) if not is_among(path, frozen)]
        gits = () if git_in is None else own_of_git(self._root, git_in, frozen)
        changed = gits if leave.repository else ()
        held = Held((), ())
        if git_in is not None and leave.repository:
            held = held_from_git(self._root, git_in, gits, leave)
        frozen = [*(path for path in frozen if not is_among(path, changed)), *held.frozen]
        guarded = [one for _, folder in folders for one in folder.hidden]
        shown = {path for path, _ in guarded if is_among(path, gits) and self._is_of_git(path)}
        settings = [path for path, is_folder in guarded if path in shown and not is_folder]
        hidden = [(path, is_folder) for path, is_folder in guarded if path not in shown]
        hidden += [(name, False) for name in self._second_names_of_secrets(folders)]
        hidden += [(name, False) for _, folder in folders for name in folder.doors]
        hidden += [(path, os.path.isdir(path)) for path in self._elsewhere if os.path.exists(path)]
        if len(hidden) + len(frozen) > MOST_COVERED:
            raise CommandExecutionError(
                f"the workspace holds {len(hidden) + len(frozen):,} files that no command may see"
                f" or change, and a box can cover {MOST_COVERED}; work in a smaller folder, or"
                " keep test keys and other repositories elsewhere"
            )
        own = [*self._absolute(name for name in _OWN if name not in changed)]
        return View(
            self._root,
            hidden_files=tuple(self._absolute(p for p, is_folder in hidden if not is_folder)),
            hidden_folders=tuple(self._absolute(p for p, is_folder in hidden if is_folder)),
            frozen=tuple(self._absolute(frozen)),
            missing=(
                *(path for path in own if not os.path.lexists(path)),
                *self._absolute(held.missing),
            ),
            loose=tuple(path for path in own if os.path.islink(path)),
            gits=tuple(self._absolute(changed)),
            settings=tuple(self._absolute(settings)),
        )

    def _look_around(self) -> list[tuple[str, _Folder]]:
        """Every folder; each is read anew once a secret has appeared that has another name.

        The folder of that other name need not have changed since the file was no secret.
        """
        folders = list(self._walk())
        if (stores := self._find_stores(folders)) != self._stores:
            self._stores, self._seen = stores, {}
            folders = list(self._walk())
        secrets = [one for _, folder in folders for one in folder.secrets]
        linked = {_identity(one) for one in secrets if one.st_nlink > 1}
        if self._seen and linked - self._linked_secrets:
            self._seen = {}
            folders = list(self._walk())
        self._linked_secrets = linked
        self._seen = dict(folders)
        return folders

    def _find_stores(self, folders: list[tuple[str, _Folder]]) -> frozenset[str]:
        """The insides of repositories that have another name than `.git`."""
        gits = [path for _, folder in folders for path in folder.gits]
        bare = [path for path, folder in folders if folder.is_store]
        stores = {path or "." for path in (*bare, *stores_of(self._root, gits))}
        if "." in stores:
            raise CommandExecutionError(
                "the workspace is itself the inside of a git repository, which no command may"
                " change; work in a clone of it or, if it became one by mistake, remove its HEAD,"
                " objects and refs yourself"
            )
        return frozenset(stores)

    def _walk(self) -> Iterator[tuple[str, _Folder]]:
        todo: list[tuple[str, bool, str | None]] = [("", False, None)]
        count = 0
        while todo:
            path, is_hidden, store = todo.pop()
            store = path if store is None and path in self._stores else store
            folder = self._look(path, is_hidden, store)
            if folder is None:
                continue
            yield path, folder
            todo += [(_join(path, name), is_hidden, store) for name in folder.below]
            todo += [(_join(path, name), True, store) for name in folder.within]
            count += 1
            if count > _MOST_FOLDERS:
                raise CommandExecutionError(
                    f"the workspace has more than {_MOST_FOLDERS:,} folders, too many to look"
                    " for secrets in before each command; work in a smaller folder"
                )

    def _look(self, path: str, is_hidden: bool, store: str | None) -> _Folder | None:
        where = os.path.join(self._root, path)
        try:
            found = os.stat(where, follow_symlinks=False)
            stamp = _Stamp(found.st_ino, found.st_mtime_ns, found.st_ctime_ns)
            known = self._seen.get(path)
            if known is not None and known.is_settled and known.stamp == stamp:
                return known
            folder = _Folder(stamp, stamp.was_still_at(time.time_ns()), is_hidden)
            self._read(folder, path, where, store)
            return folder
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            if not path:
                raise CommandExecutionError(
                    f"the workspace cannot be looked through for secrets: {error.strerror}"
                ) from error
            if is_hidden:
                return None
            # Whoever owns it could open it from within; nobody knows what would be in there.
            return _Folder(_NEVER, is_settled=False, hidden=[(path, True)])

    def _read(self, folder: _Folder, path: str, where: str, store: str | None) -> None:
        names: set[str] = set()
        with os.scandir(where) as entries:
            for entry in entries:
                names.add(entry.name)
                if folder.is_hidden:
                    _sort_hidden(folder, entry)
                else:
                    self._sort(folder, _join(path, entry.name), entry, store)
        folder.is_store = names >= MARKS and GIT not in path.split("/")

    def _sort(self, folder: _Folder, path: str, entry: os.DirEntry[str], store: str | None) -> None:
        if entry.name == GIT:
            folder.gits.append(path)
        hides = self._hides(path) or (
            store is not None and _is_covered(self._hiding, GIT + path.removeprefix(store))
        )
        freezes = _is_covered(self._freezing, path)
        if entry.is_symlink():
            if (hides or freezes) and (target := self._target(entry)) is not None:
                (folder.hidden.append(target) if hides else folder.frozen.append(target[0]))
                if hides and not target[1]:
                    folder.secrets.append(entry.stat())
            return
        is_folder = entry.is_dir(follow_symlinks=False)
        if hides:
            folder.hidden.append((path, is_folder))
            _sort_hidden(folder, entry)
            return
        if freezes and not _is_covered(self._freezing, _parent(path)):
            folder.frozen.append(path)
        if is_folder:
            folder.below.append(entry.name)
            return
        found = entry.stat(follow_symlinks=False)
        if not stat.S_ISREG(found.st_mode):
            folder.doors.append(path)
        elif found.st_nlink > 1:
            folder.linked.append((entry.name, found))

    def _hides(self, path: str) -> bool:
        return path in self._private or _is_covered(self._hiding, path)

    def _is_of_git(self, path: str) -> bool:
        """Whether a hidden file is so because it is git's; what lies beside it is no more git's."""
        return GIT in path.split("/") or not self._hides(path)

    def _target(self, link: os.DirEntry[str]) -> tuple[str, bool] | None:
        """What a link with a guarded name leads to, if that is in the workspace at all."""
        target = os.path.realpath(link.path)
        inside = target.startswith(f"{self._root}/") and os.path.exists(target)
        return (os.path.relpath(target, self._root), os.path.isdir(target)) if inside else None

    def _second_names_of_secrets(self, folders: list[tuple[str, _Folder]]) -> Iterator[str]:
        own = {_identity(one) for _, folder in folders for one in folder.secrets}
        for path, folder in folders:
            for name, found in folder.linked:
                if _identity(found) in own or self._second_names.are_kept(found):
                    yield _join(path, name)

    def _absolute(self, paths: Iterable[str]) -> Iterator[str]:
        return (os.path.join(self._root, path) for path in paths)


def _sort_hidden(folder: _Folder, entry: os.DirEntry[str]) -> None:
    """Note what can have a second name that is not hidden."""
    if entry.is_dir(follow_symlinks=False):
        folder.within.append(entry.name)
    elif not entry.is_symlink():
        folder.secrets.append(entry.stat(follow_symlinks=False))


def _is_covered(rules: list[PathRule], path: str) -> bool:
    return bool(path) and any(rule.covers(path) for rule in rules)


def _identity(found: os.stat_result) -> Identity:
    return found.st_dev, found.st_ino


def _join(path: str, name: str) -> str:
    return f"{path}/{name}" if path else name


def _parent(path: str) -> str:
    return path.rpartition("/")[0]

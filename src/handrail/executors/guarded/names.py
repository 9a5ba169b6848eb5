"""GuardedNames: which names of a workspace a box must cover, found anew before each command.

A folder that has not changed since the last look is not read again, so that a look at a large
workspace costs one question per folder. Links with guarded names are followed anew each time: where
they lead may change without a change to the folder that they lie in.
"""

import os
import stat
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from handrail.core.errors import CommandExecutionError
from handrail.executors.guarded.copies import copies_of_indexes, copies_of_settings
from handrail.executors.guarded.links import Lead, Link, follow, lies_in, reached_by
from handrail.executors.guarded.second_names import Identity, SecondNames
from handrail.executors.guarded.stamp import NEVER, Stamp
from handrail.executors.repository.held import Held, held_in
from handrail.executors.repository.places import GIT, MARKS, SETTINGS, stores_of
from handrail.executors.sandbox.bubblewrap import GitAccess, View, is_among, is_of_the_system
from handrail.policy.rulebook.paths import Access, PathRule
from handrail.policy.rulebook.rules import Rules

# Each cover is a mount, and the kernel takes longer for each the more there are.
MOST_COVERED = 256
_MOST_FOLDERS = 200_000
_MOST_ROUNDS = 40
# The system takes 4,095 bytes, of which bubblewrap and the name of a file need some.
_LONGEST_PATH = 3_500
# Each folder on the way to what is covered is a mount too.
_MOST_LEVELS = 100
_OWN = (GIT, ".handrail")


@dataclass(slots=True)
class _Folder:
    """What was seen in one folder; files with a second name are told by their inodes.

    `doors` are sockets, pipes and devices: behind them are other processes, not files. `within` are
    folders that are hidden whole; of one that `is_hidden` itself, only its `secrets` are told.
    `gits` are repositories, or files that lead to one. One that `is_store` is the inside of one.
    `links` have guarded names, or lie in what is hidden.
    """

    stamp: Stamp
    is_settled: bool
    is_hidden: bool = False
    is_store: bool = False
    gits: list[str] = field(default_factory=list[str])
    below: list[str] = field(default_factory=list[str])
    hidden: list[tuple[str, bool]] = field(default_factory=list[tuple[str, bool]])
    frozen: list[str] = field(default_factory=list[str])
    doors: list[str] = field(default_factory=list[str])
    links: list[Link] = field(default_factory=list[Link])
    linked: list[tuple[str, os.stat_result]] = field(
        default_factory=list[tuple[str, os.stat_result]]
    )
    within: list[str] = field(default_factory=list[str])
    secrets: list[os.stat_result] = field(default_factory=list[os.stat_result])

    def still_holds(self, stamp: Stamp, *, is_hidden: bool) -> bool:
        """Whether the folder with this stamp need not be read again."""
        return self.is_settled and self.stamp == stamp and self.is_hidden == is_hidden


class GuardedNames:
    """Looks by the rules about paths; `private` files stay hidden under whatever name."""

    def __init__(
        self,
        root: str,
        rules: Rules,
        second_names: SecondNames,
        private: Sequence[str | Path] = (),
    ):
        self.root = self._root = root
        self._second_names = second_names
        self._looking = threading.Lock()
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
        self._reached: frozenset[str] = frozenset()

    def secrets(self) -> frozenset[Identity]:
        """Every guarded file of the workspace, whatever names it has there.

        Raises:
            CommandExecutionError: The workspace cannot be looked through.
        """
        folders, leads = self._look_around()
        return frozenset(map(_identity, _secrets_in(folders, leads)))

    def view(self, git: GitAccess = GitAccess.NONE) -> View:
        """The workspace as a box should show it now.

        git's settings that hold a password are shown as a copy without it, and stay as they are.

        Raises:
            CommandExecutionError: There is more to cover than a box can.
        """
        folders, leads = self._look_around()
        frozen = [path for _, folder in folders for path in folder.frozen]
        frozen += [lead.path for lead in leads if not lead.hides]
        frozen += [path for path in sorted(self._stores) if not is_among(path, frozen)]
        guarded = [one for _, folder in folders for one in folder.hidden]
        covered = {path for path, is_folder in guarded if is_folder}
        guarded += [
            (lead.path, lead.is_folder)
            for lead in leads
            if lead.hides and not lies_in(lead.path, covered)
        ]
        settings = {path for path, is_folder in guarded if not is_folder and self._sets_git(path)}
        copies = copies_of_settings(self._root, settings)
        held = Held()
        if git is not GitAccess.NONE:
            gits = [path for path in frozen if GIT in path.split("/")]
            frozen = [path for path in frozen if path not in gits] + list(copies)
            held = held_in([*map(self._at, gits)]) if git is GitAccess.CONTENT else held
        hidden = [
            one for one in guarded if one[0] not in settings or copies.get(one[0], b"") is None
        ]
        hidden += [(name, False) for name in self._second_names_of_secrets(folders, leads)]
        hidden += [(name, False) for _, folder in folders for name in folder.doors]
        hidden += [(path, os.path.isdir(path)) for path in self._elsewhere if os.path.exists(path)]
        hidden = list(dict.fromkeys(hidden))
        if git is GitAccess.NONE:
            copies |= copies_of_indexes(self._root, [path for path, _ in hidden])
        if len(hidden) + len(frozen) > MOST_COVERED:
            raise CommandExecutionError(
                f"the workspace holds {len(hidden) + len(frozen):,} files that no command may see"
                f" or change, and a box can cover {MOST_COVERED}; work in a smaller folder, or keep"
                " test keys and other repositories elsewhere"
            )
        own = [self._at(name) for name in _OWN if name != GIT or git is GitAccess.NONE]
        return View(
            self._root,
            hidden_files=tuple(self._at(path) for path, is_folder in hidden if not is_folder),
            hidden_folders=tuple(self._at(path) for path, is_folder in hidden if is_folder),
            frozen=tuple(dict.fromkeys((*map(self._at, frozen), *held.frozen))),
            missing=(*(path for path in own if not os.path.lexists(path)), *held.missing),
            loose=tuple(path for path in map(self._at, _OWN) if os.path.islink(path)),
            gits=held.gits,
            copies={self._at(path): copy for path, copy in copies.items() if copy is not None},
        )

    def _look_around(self) -> tuple[list[tuple[str, _Folder]], list[Lead]]:
        """Every folder; each is read anew once a secret has appeared that has another name.

        The folder of that other name need not have changed since the file was no secret.
        """
        with self._looking:
            folders, leads = self._walk_to_the_end()
            if (stores := self._find_stores(folders)) != self._stores:
                self._stores, self._seen = stores, {}
                folders, leads = self._walk_to_the_end()
            linked = {_identity(one) for one in _secrets_in(folders, leads) if one.st_nlink > 1}
            if self._seen and linked - self._linked_secrets:
                self._seen = {}
                folders, leads = self._walk_to_the_end()
            self._linked_secrets = linked
            self._seen = dict(folders)
            return folders, leads

    def _walk_to_the_end(self) -> tuple[list[tuple[str, _Folder]], list[Lead]]:
        """Every folder, and where the links lead now: what they reach can hold further ones."""
        for _ in range(_MOST_ROUNDS):
            folders = list(self._walk())
            leads = follow(self._root, [link for _, folder in folders for link in folder.links])
            reached = reached_by(leads, self._reached)
            if reached == self._reached:
                return folders, leads
            self._reached = reached
        raise CommandExecutionError(
            "links with guarded names lead from one folder to the next"
            f" {_MOST_ROUNDS} times, too often to be followed before each command"
        )

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
            is_hidden = is_hidden or path in self._reached
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
        if len(os.fsencode(where)) > _LONGEST_PATH or path.count("/") >= _MOST_LEVELS:
            # What lies further down may have no name by which it could be covered.
            return _Folder(NEVER, is_settled=False, hidden=[] if is_hidden else [(path, True)])
        try:
            found = os.stat(where, follow_symlinks=False)
            stamp = Stamp(found.st_ino, found.st_mtime_ns, found.st_ctime_ns)
            known = self._seen.get(path)
            if known is not None and known.still_holds(stamp, is_hidden=is_hidden):
                return known
            folder = _Folder(stamp, stamp.was_still_at(time.time_ns()), is_hidden)
            self._read(folder, path, where, store)
            return folder
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            if not path:
                raise CommandExecutionError(
                    f"the workspace cannot be searched for secrets: {error.strerror}"
                ) from error
            if is_hidden:
                return None
            # Whoever owns it could open it from within; nobody knows what would be in there.
            return _Folder(NEVER, is_settled=False, hidden=[(path, True)])

    def _read(self, folder: _Folder, path: str, where: str, store: str | None) -> None:
        names: set[str] = set()
        with os.scandir(where) as entries:
            for entry in entries:
                names.add(entry.name)
                if folder.is_hidden:
                    _sort_hidden(folder, _join(path, entry.name), entry)
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
            if hides or freezes:
                folder.links.append(Link(path, hides))
            return
        is_folder = entry.is_dir(follow_symlinks=False)
        if hides:
            folder.hidden.append((path, is_folder))
            _sort_hidden(folder, path, entry)
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

    def _sets_git(self, path: str) -> bool:
        """Whether it is a repository's own file of settings."""
        folder, _, name = path.rpartition("/")
        is_inside = GIT in folder.split("/") or is_among(folder, self._stores)
        return name in SETTINGS and is_inside

    def _second_names_of_secrets(
        self, folders: list[tuple[str, _Folder]], leads: list[Lead]
    ) -> Iterator[str]:
        own = {_identity(one) for one in _secrets_in(folders, leads)}
        for path, folder in folders:
            for name, found in folder.linked:
                if _identity(found) in own or self._second_names.are_kept(found):
                    yield _join(path, name)

    def _at(self, path: str) -> str:
        return os.path.join(self._root, path)


def _sort_hidden(folder: _Folder, path: str, entry: os.DirEntry[str]) -> None:
    """Note what can have a second name that is not hidden."""
    if entry.is_dir(follow_symlinks=False):
        folder.within.append(entry.name)
    elif entry.is_symlink():
        folder.links.append(Link(path, hides=True))
    else:
        folder.secrets.append(entry.stat(follow_symlinks=False))


def _secrets_in(folders: list[tuple[str, _Folder]], leads: list[Lead]) -> Iterator[os.stat_result]:
    """Every file that is hidden by its own name, by its folder's, or by that of a link to it."""
    for _, folder in folders:
        yield from folder.secrets
    yield from (lead.found for lead in leads if lead.hides and not lead.is_folder)


def _is_covered(rules: list[PathRule], path: str) -> bool:
    return bool(path) and any(rule.covers(path) for rule in rules)


def _identity(found: os.stat_result) -> Identity:
    return found.st_dev, found.st_ino


def _join(path: str, name: str) -> str:
    return f"{path}/{name}" if path else name


def _parent(path: str) -> str:
    return path.rpartition("/")[0]

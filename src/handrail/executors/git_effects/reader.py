"""Reads the effects of a rehearsed command on all repositories of a workspace."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from handrail.core.effects import Effect, Effects, GitEffects, GitNote, GitWeight
from handrail.core.files import EntryKind
from handrail.core.visible import cut, visible
from handrail.executors.git_effects.clean_view import CleanView, Runner
from handrail.executors.git_effects.finding import (
    GIT,
    find_repositories,
    judge_bare,
    judge_pointers,
    owner_of,
)
from handrail.executors.git_effects.names import FileKind, inside, kind_of, place_of
from handrail.executors.git_effects.notes import change, loss, refused
from handrail.executors.git_effects.paths import judge_paths, judge_worktrees, place_of_worktree
from handrail.executors.git_effects.repository import Repository
from handrail.executors.git_effects.trees import Side, Tree, UnreadableError, UnsoundError
from handrail.executors.git_effects.worktree import FilesAfter, ReadBoth, Worktree, WorktreeFiles

_MOST_CHARS = 400
_SHA256 = re.compile(rb"(?i)objectformat\s*=\s*\"?sha256")
_WORKTREE = re.compile(r"(?im)^\s*worktree\s*=\s*\"?([^\"\n]+?)\"?\s*$")


class After(Tree, Protocol):
    def copy(self, path: str, place: Path) -> None:
        """Copy a file that the command has made to a place of ours.

        Raises:
            UnreadableError: It is no plain file.
        """
        ...


@dataclass(frozen=True, slots=True)
class Workspace:
    """The workspace before and after a command, and how its files are read.

    Before, it was the folder `roots[0]`, with the others as layers over it.
    """

    roots: Sequence[str]
    before: Tree
    after: After
    read: ReadBoth

    @property
    def root(self) -> str:
        return self.roots[0]

    def objects_before(self, git: str) -> list[str]:
        if not self.before.is_folder(f"{git}/objects"):
            return []
        folders = [os.path.join(os.path.realpath(root), git, "objects") for root in self.roots]
        return [one for one in folders if os.path.isdir(one) and os.path.realpath(one) == one]


@dataclass(slots=True)
class GitReader:
    """Reads the effects on all repositories, with folders of ours below `scratch`.

    `views` has one for each repository; its objects are those that are applied. If the command
    `follows_remotes`, what a remote branch has lost there is no loss here.
    """

    workspace: Workspace
    scratch: Path
    run: Runner
    follows_remotes: bool = False
    views: dict[str, CleanView] = field(default_factory=dict[str, CleanView])

    def read(self, effects: Effects) -> GitEffects:
        """The effects below `.git`, in words.

        Raises:
            UnreadableError: A repository cannot be read.
        """
        changes, space = effects.git.changes, self.workspace
        gits = find_repositories(
            space.root, effects.git.repositories, changes, (space.before, space.after)
        )
        notes = [
            *judge_pointers(space.root, changes, space.after),
            *judge_bare(effects.changes, space.after),
        ]
        own = {git: [one for one in changes if owner_of(one.path, gits) == git] for git in gits}
        for git in gits:
            notes += judge_paths(git, own[git])
        read = list[Repository]()
        if not any(note.weight is GitWeight.REFUSED for note in notes):
            for git in gits:
                repository = self._open(git, own[git])
                if isinstance(repository, GitNote):
                    notes.append(repository)
                else:
                    read.append(repository)
            notes += self._tell(read, effects.changes)
        if not notes and _changes_anything(read):
            notes.append(change("changes only git's own bookkeeping"))
        if not notes and not effects.changes:
            return GitEffects()
        files = [one.files for repository in read for one in repository.worktrees]
        return GitEffects(
            notes=tuple(map(_shown, sorted(notes, key=lambda note: note.weight))),
            changes=changes,
            as_git=frozenset(path for one in files for path in one.as_git),
            known=frozenset(path for one in files for path in one.known),
            conflicts=frozenset(path for one in files for path in one.conflicts),
            repositories=tuple(one.git for one in read if one.before is not None),
            has_new_contents=any(one.new_contents for one in read),
        )

    def _tell(self, repositories: Sequence[Repository], files: Sequence[Effect]) -> list[GitNote]:
        worktrees = [one.files for repository in repositories for one in repository.worktrees]
        prefixes = sorted({one.prefix for one in worktrees}, key=len, reverse=True)
        for one in worktrees:
            one.changes = [
                effect
                for effect in files
                if next(filter(effect.path.startswith, prefixes), None) == one.prefix
            ]
            one.hash_contents()
        notes: list[GitNote] = []
        for repository in repositories:
            label = "" if repository.git == GIT else f"[{repository.git.removesuffix('/.git')}] "
            try:
                self._claim(repository)
                told = repository.read()
            except UnsoundError as error:
                told = [refused(str(error))]
            notes += (GitNote(note.weight, label + note.words) for note in told)
        return notes

    def _open(self, git: str, changes: Sequence[Effect]) -> Repository | GitNote:
        space = self.workspace
        before = Side.of(space.before, git)
        try:
            after = Side.of(space.after, git)
        except UnreadableError as error:
            return refused(str(error))
        if after is None:
            if before is None:
                return refused(f"writes to {git}, which is no repository")
            return loss(f"removes the whole repository {git}")
        trees = space.before, space.after
        if note := next(judge_worktrees(git, space.root, trees, changes), None):
            return note
        is_sha256 = _SHA256.search(after.read("config") or b"")
        view = CleanView(
            self.scratch / str(len(self.views)),
            space.objects_before(git) if before else (),
            "sha256" if is_sha256 else "sha1",
            self.run,
        )
        self.views[git] = view
        view.make(after.read("shallow"))
        worktrees = [*self._worktrees(git, before, after, changes, view)]
        files = FilesAfter(space.after, view.object_format)
        follows = self.follows_remotes
        return Repository(git, before, after, changes, worktrees, view, files, follows)

    def _worktrees(
        self,
        git: str,
        before: Side | None,
        after: Side,
        changes: Sequence[Effect],
        view: CleanView,
    ) -> Iterator[Worktree]:
        space, sha = self.workspace, view.object_format
        prefix = _prefix_of(git, before, after)
        yield Worktree("", before, after, WorktreeFiles(prefix, (), space.read, sha))
        places = {place_of(git, one.path).tree for one in changes}
        for tree in sorted(places - {""}):
            sides = [Side.of(one, f"{git}/{tree}", git) for one in (space.before, space.after)]
            pointers = [side.read("gitdir") for side in sides if side is not None]
            for pointer in filter(None, pointers[-1:]):
                place = place_of_worktree(f"{git}/{tree}", pointer, space.root)
                prefix = f"{os.path.dirname(place)}/"
                files = WorktreeFiles(prefix, (), space.read, sha)
                yield Worktree(prefix.rstrip("/"), sides[0], sides[1], files)

    def _claim(self, repository: Repository) -> None:
        """Copy the objects that the command has made, for git to check them."""
        loose: list[str] = []
        for one in repository.changes:
            is_file = one.after is not None and one.after.kind is EntryKind.FILE
            if is_file and kind_of(place_of(repository.git, one.path)) is FileKind.OBJECT:
                name = inside(repository.git, one.path).removeprefix("objects/")
                if name.endswith((".pack", ".idx")) or not name.startswith("pack/"):
                    self.workspace.after.copy(one.path, repository.view.place_for(name))
                loose += [] if name.startswith("pack/") else [name.replace("/", "")]
        repository.view.claim(loose)


def _changes_anything(repositories: Sequence[Repository]) -> bool:
    """Whether any file changes that matters without the others.

    Objects matter only if a ref names them, and rows of a log only if its ref moves.
    """
    unimportant = (FileKind.OBJECT, FileKind.DERIVED, FileKind.NOISE, FileKind.LOG)
    changed = (
        kind_of(place_of(repository.git, one.path))
        for repository in repositories
        for one in repository.changes
    )
    return any(kind is not None and kind not in unimportant for kind in changed)


def _prefix_of(git: str, before: Side | None, after: Side) -> str:
    """How the paths begin that lie in the worktree of a repository.

    git unsets the worktree of a submodule when it removes its folder.
    """
    folder = git.removesuffix(GIT)
    if folder != git:
        return folder
    for side in filter(None, (after, before)):
        config = (side.read("config") or b"").decode(errors="surrogateescape")
        if found := _WORKTREE.search(config):
            return f"{os.path.normpath(os.path.join(git, found[1]))}/"
    return f"{git}/"


def _shown(note: GitNote) -> GitNote:
    return GitNote(note.weight, cut(visible(note.words), _MOST_CHARS))

"""Reading one repository: what to ask git, in two rounds, and what its answers mean."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from handrail.core.effects import Effect, GitNote
from handrail.executors.git_effects.clean_view import CleanView, Query
from handrail.executors.git_effects.commits import CommitQueries, tell_commits
from handrail.executors.git_effects.index import (
    EMPTY,
    LIST_INDEX,
    Index,
    compare_with,
    parse_staged,
    shared_parts,
    tell_index,
)
from handrail.executors.git_effects.logs import LogQueries
from handrail.executors.git_effects.names import FileKind, inside, kind_of, place_of
from handrail.executors.git_effects.notes import change, count, refused, setting, some
from handrail.executors.git_effects.placed import (
    Placed,
    ask_for_placed,
    commits_of,
    not_of_files,
    placed_in,
    placed_newly,
)
from handrail.executors.git_effects.settings import LIST_SETTINGS, parse_settings, tell_settings
from handrail.executors.git_effects.stash import StashQueries, stash_entries
from handrail.executors.git_effects.states import put_aside, tell_states
from handrail.executors.git_effects.tags import ask_for_targets, judge_targets
from handrail.executors.git_effects.trees import (
    PackedRef,
    Side,
    UnreadableError,
    packed_refs,
    short,
)
from handrail.executors.git_effects.worktree import BlobAt, WorktreeFiles, stored_in
from handrail.executors.repository.index import is_plain

_MOST_INDEX_BYTES = 64 << 20
_KINDS_OF = ("cat-file", "--batch-check=%(objectname) %(objecttype)")
_MODULES = "/.git/modules/"

Answers = Sequence[bytes | None]


@dataclass(slots=True)
class Worktree:
    """HEAD, index and files of the repository itself, or of the further worktree `name`.

    `copies` are the names of the index before and after in the view; empty where there is none.
    """

    name: str
    before: Side | None
    after: Side | None
    files: WorktreeFiles
    index_before: Index = EMPTY
    index_after: Index = EMPTY
    copies: tuple[str, str] = ("", "")

    @property
    def has_moved(self) -> bool:
        return _tip(self.before) != _tip(self.after)


@dataclass(slots=True)
class Repository:
    """A repository at the path `git`, with the `changes` of its own files.

    It is there after the command. `blob_at` tells what the workspace has at a path by then.
    `new_contents` are blobs that it gets and that no file of the workspace had before.
    """

    git: str
    before: Side | None
    after: Side
    changes: Sequence[Effect]
    worktrees: Sequence[Worktree]
    view: CleanView
    blob_at: BlobAt
    follows_remotes: bool = False
    new_contents: set[str] = field(default_factory=set[str])

    def read(self) -> list[GitNote]:
        """The changes in words.

        Raises:
            UnreadableError: git cannot tell.
        """
        first = _Round()
        kinds = first.add(Query(_KINDS_OF, self._tips()))
        for number, one in enumerate(self.worktrees):
            one.copies = (
                self._copy_index(one.before, f"index.{number}.before"),
                self._copy_index(one.after, f"index.{number}.after"),
            )
        indexes = [
            [first.add(Query(LIST_INDEX, index_file=name)) if name else None for name in one.copies]
            for one in self.worktrees
        ]
        settings = [*self._ask_for_settings(first)]
        packed = self._packed_refs()
        targets = first.add(ask_for_targets(packed))
        tips = self.before.tips if self.before else set[str]()
        kept = self.after.keeping.union(stash_entries(self.after))
        old = [first.add(one.files.look_up(kept, one.files.old)) for one in self.worktrees]
        merged = [first.add(one.files.look_up_merged()) for one in self.worktrees]
        known = [one.files.look_up(commits_of(tips), one.files.new) for one in self.worktrees]
        answers, stored_new = self.view.ask(first.queries, before=known)
        for one, (before, after) in zip(self.worktrees, indexes, strict=True):
            one.index_before = _index(answers, before)
            one.index_after = _index(answers, after)
        notes = [*judge_targets(packed, answers[targets])]
        for before, after in settings:
            notes += self._tell_settings(_settings(answers, before), _settings(answers, after))
        notes += self._read_further(
            _kinds(answers[kinds]), [{*stored_in(one)} for one in stored_new]
        )
        for number, one in enumerate(self.worktrees):
            notes += one.files.compare(
                one.index_before,
                one.index_after,
                stored_before=stored_new[number],
                stored_after=answers[old[number]],
                merged=answers[merged[number]],
            )
            if one.before and one.after and one.has_moved:
                notes += one.files.tell_unstaged(one.index_before, one.index_after, self.blob_at)
        return [*notes, *self._tell_rest()]

    def _read_further(self, kinds: dict[str, str], known: list[set[Placed]]) -> list[GitNote]:
        """The second round: commits, stash and staged files.

        `known` is what commits had before at the changed paths of each worktree.
        """
        further = _Round()
        further_heads = [(one.before, one.after) for one in self.worktrees[1:]]
        commits = CommitQueries(self.before, self.after, kinds, further_heads, self.follows_remotes)
        about_commits = further.add_all(commits.queries)
        stash = StashQueries(self.before, self.after)
        about_stash = further.add_all(stash.queries)
        logs = LogQueries(
            self.git, self.before, self.after, self.changes, further_heads, self.follows_remotes
        )
        about_logs = further.add_all(logs.queries)
        staged = [self._ask_for_staged(one, further) for one in self.worktrees]
        taken_in = further.add(Query(_KINDS_OF, self.view.taken_in))
        placed = [
            not_of_files(
                placed_newly(one.index_before, one.index_after) - had, one.files, self.blob_at
            )
            for one, had in zip(self.worktrees, known, strict=True)
        ]
        about_placed = further.add_all(self._ask_for_placed(placed))
        answers, _ = self.view.ask(further.queries)
        notes = [*tell_commits(commits, answers[about_commits])]
        prefixes = [one.files.prefix for one in self.worktrees]
        notes += stash.tell(answers[about_stash], self.blob_at, prefixes)
        notes += logs.tell(answers[about_logs])
        for one, (before, after) in zip(self.worktrees, staged, strict=True):
            notes += tell_index(
                one.index_before,
                one.index_after,
                {} if before is None else parse_staged(answers[before]),
                {} if after is None else parse_staged(answers[after]),
                has_moved=one.has_moved,
            )
        kinds = _kinds(answers[taken_in])
        notes += self._tell_contents({one for one in kinds if kinds[one] == "blob"})
        return [*notes, *self._tell_placed(placed, known, answers[about_placed])]

    def _ask_for_placed(self, placed: list[set[Placed]]) -> Iterator[Query]:
        """What commits had at the names that an index has newly, then what new commits have."""
        old = commits_of(self.before.tips if self.before else ())
        for one, places in zip(self.worktrees, placed, strict=True):
            yield one.files.look_up(old, {one.files.prefix + name: "" for name, _ in places})
        tips = set[str](), set[str]()
        for one in self.worktrees:
            for ends, side in zip(tips, (one.before, one.after), strict=True):
                if side is not None:
                    ends.update(side.tips, stash_entries(side), put_aside(side))
        # What a remote has is not the command's.
        yield ask_for_placed(set() if self.follows_remotes else tips[1] - tips[0], tips[0])

    def _tell_placed(
        self, placed: list[set[Placed]], known: list[set[Placed]], answers: Answers
    ) -> Iterator[GitNote]:
        """Contents that no file and no commit had at their path, and that would be known there."""
        *stored, committed = answers
        strange = placed_in(committed)
        for one, had in zip(self.worktrees, known, strict=True):
            staged = [*one.index_before.entries.items(), *one.index_after.entries.items()]
            strange -= had | {(name, entry.blob) for name, entry in staged}
            strange = not_of_files(strange, one.files, self.blob_at)
        for places, answer in zip(placed, stored, strict=True):
            strange |= places - {*stored_in(answer)}
        untold = sorted(name for name, blob in strange if blob not in self.new_contents)
        self.new_contents |= {blob for _, blob in strange}
        if untold:
            told = (
                f"{count(len(untold), 'content')} for a path where no file had it: {some(untold)}"
            )
            yield change(f"stores {told}")

    def _tell_contents(self, blobs: set[str]) -> Iterator[GitNote]:
        """New blobs, of which those are told that no diff of a file shows."""
        for one in self.worktrees:
            blobs -= one.files.had_before(blobs, one.index_after, self.blob_at)
        self.new_contents = blobs
        untold = blobs.difference(*(one.files.new.values() for one in self.worktrees))
        if untold:
            names = {
                entry.blob: name
                for one in self.worktrees
                for name, entry in one.index_after.entries.items()
                if entry.blob in untold
            }
            told = sorted(names.get(blob, short(blob)) for blob in untold)
            number = count(len(untold), "content")
            yield change(f"stores {number} that no file of the folder has: {some(told)}")

    def _ask_for_staged(self, one: Worktree, asked: "_Round") -> list[int | None]:
        """Compare the index before and after with the commit of its time."""
        return [
            asked.add(compare_with(_tip(side) or self.view.empty_tree, name)) if name else None
            for side, name in zip((one.before, one.after), one.copies, strict=True)
        ]

    def _packed_refs(self) -> list[PackedRef]:
        """All of them, if any has changed."""
        path = f"{self.git}/packed-refs"
        is_changed = any(one.path == path for one in self.changes)
        return packed_refs(self.after.tree, self.git) if is_changed else []

    def _tips(self) -> bytes:
        tips = self.after.tips | (self.before.tips if self.before else set[str]())
        for one in self.worktrees:
            tips |= {tip for side in (one.before, one.after) if (tip := _tip(side))}
        return "".join(f"{tip}\n" for tip in sorted(tips)).encode()

    def _copy_index(self, side: Side | None, name: str) -> str:
        """Copy an index into the view, with the shared parts of a split one; empty without one."""
        content = None if side is None else side.read("index", _MOST_INDEX_BYTES)
        if side is None or content is None:
            return ""
        for shared in shared_parts(content, self.view.object_format):
            if (part := side.read(shared, _MOST_INDEX_BYTES)) is not None:
                self.view.add_index(shared, part)
        return self.view.add_index(name, content)

    def _ask_for_settings(self, asked: "_Round") -> Iterator[tuple[int | None, int | None]]:
        for one in self.changes:
            if kind_of(place_of(self.git, one.path)) is FileKind.SETTINGS:
                contents = [
                    None if side is None else side.read(inside(self.git, one.path))
                    for side in (self.before, self.after)
                ]
                before, after = (
                    None if content is None else asked.add(Query(LIST_SETTINGS, content))
                    for content in contents
                )
                yield before, after

    def _tell_settings(
        self, before: list[tuple[str, str | None]], after: list[tuple[str, str | None]]
    ) -> Iterator[GitNote]:
        module = self.git if _MODULES in f"/{self.git}/" else ""
        return tell_settings(before, after, is_new=self.before is None, module=module)

    def _tell_rest(self) -> Iterator[GitNote]:
        if self.before is None:
            branch = self.after.branch.removeprefix("refs/heads/")
            yield change(f"new repository {self.git} on {branch or 'no branch'}")
        for one in self.worktrees:
            if one.after is not None:
                yield from tell_states(one.before, one.after)
            was, now = (side and side.read("gitdir") for side in (one.before, one.after))
            if one.name.startswith("..") and was != now:
                yield refused(f"puts a worktree outside of the workspace: {one.name}")
            elif one.name and (one.before is None or one.after is None):
                side, verb = (one.after, "new") if one.after else (one.before, "removes the")
                yield change(f"{verb} worktree {one.name} on {short(side.head) if side else ''}")
        kinds = {kind_of(place_of(self.git, one.path)) for one in self.changes}
        if FileKind.INDEX in kinds and not self._is_index_plain():
            yield setting(
                "keeps the index in a form of which git's caches are taken over unchecked"
            )
        if FileKind.EXCLUDES in kinds and self.before is not None:
            yield setting("changes which files are ignored, or left out of the folder")
        if FileKind.SHALLOW in kinds:
            yield setting("changes where the history is cut off (shallow)")

    def _is_index_plain(self) -> bool:
        """Whether the caches of each changed index are left out when it is applied."""
        changed = (
            inside(self.git, one.path)
            for one in self.changes
            if kind_of(place_of(self.git, one.path)) is FileKind.INDEX
        )
        contents = ((name, self.after.read(name, _MOST_INDEX_BYTES)) for name in changed)
        return all(
            content is None or (name.endswith("index") and is_plain(content))
            for name, content in contents
        )


class _Round:
    """Questions that are asked together."""

    def __init__(self) -> None:
        self.queries: list[Query] = []

    def add(self, query: Query) -> int:
        self.queries.append(query)
        return len(self.queries) - 1

    def add_all(self, queries: Iterable[Query]) -> slice:
        start = len(self.queries)
        self.queries += queries
        return slice(start, len(self.queries))


def _tip(side: Side | None) -> str:
    return side.tip if side is not None else ""


def _index(answers: Answers, number: int | None) -> Index:
    return EMPTY if number is None else Index.parse(answers[number])


def _settings(answers: Answers, number: int | None) -> list[tuple[str, str | None]]:
    if number is None:
        return []
    if (listed := answers[number]) is None:
        raise UnreadableError("git cannot read the settings")
    return parse_settings(listed)


def _kinds(answer: bytes | None) -> dict[str, str]:
    if answer is None:
        raise UnreadableError("git cannot look up its objects")
    rows = (row.partition(" ") for row in answer.decode().splitlines())
    return {name: kind for name, _, kind in rows}

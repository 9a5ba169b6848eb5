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
    Placed,
    Staged,
    compare_with,
    parse_staged,
    shared_parts,
    tell_index,
)
from handrail.executors.git_effects.logs import LogQueries
from handrail.executors.git_effects.names import FileKind, inside, kind_of, place_of
from handrail.executors.git_effects.notes import change, refused, setting
from handrail.executors.git_effects.placed import ContentQueries, ask_for_places, places_in
from handrail.executors.git_effects.settings import LIST_SETTINGS, parse_settings, tell_settings
from handrail.executors.git_effects.staged import StagedQueries
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
from handrail.executors.git_effects.worktree import FilesAfter, Worktree
from handrail.executors.repository.index import is_plain

_MOST_INDEX_BYTES = 64 << 20
_KINDS_OF = ("cat-file", "--batch-check=%(objectname) %(objecttype)")
_MODULES = "/.git/modules/"

Answers = Sequence[bytes | None]


@dataclass(slots=True)
class Repository:
    """A repository at the path `git`, with the `changes` of its own files.

    It is there after the command. The `files` are those of the workspace by then.
    `new_contents` are blobs that it gets and that no file of the workspace had before.
    """

    git: str
    before: Side | None
    after: Side
    changes: Sequence[Effect]
    worktrees: Sequence[Worktree]
    view: CleanView
    files: FilesAfter
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
        indexes = [[*self._ask_for_index(one, first)] for one in self.worktrees]
        settings = [*self._ask_for_settings(first)]
        packed = self._packed_refs()
        targets = first.add(ask_for_targets(packed))
        kept = self._kept
        old = [first.add(one.files.look_up(kept, one.files.old)) for one in self.worktrees]
        merged = [first.add(one.files.look_up_merged()) for one in self.worktrees]
        known = [ask_for_places(self._tips_before, one.files.new_names) for one in self.worktrees]
        answers, places = self.view.ask(first.queries, before=known)
        for one, numbers, known_places in zip(self.worktrees, indexes, places, strict=True):
            (one.index_before, one.staged_before), (one.index_after, one.staged_after) = (
                _index(answers, number) for number in numbers
            )
            one.known = places_in(known_places)
        notes = [*judge_targets(packed, answers[targets])]
        for before, after in settings:
            notes += self._tell_settings(_settings(answers, before), _settings(answers, after))
        further, unstaged = self._read_further(_kinds(answers[kinds]))
        notes += further
        for number, one in enumerate(self.worktrees):
            notes += one.files.compare(
                one.index_before,
                one.index_after,
                known=one.known,
                stored_after=answers[old[number]],
                merged=answers[merged[number]],
                unstaged=unstaged[number],
            )
            if one.before and one.after and one.has_moved:
                notes += one.files.tell_unstaged(
                    one.index_before, one.index_after, self.files.blob_at
                )
        return [*notes, *self._tell_rest()]

    @property
    def _tips_before(self) -> set[str]:
        return self.before.tips if self.before else set()

    @property
    def _kept(self) -> set[str]:
        """The objects whose content is kept after the command, with that of all before them."""
        return self.after.keeping.union(stash_entries(self.after))

    def _read_further(self, kinds: dict[str, str]) -> tuple[list[GitNote], list[list[Placed]]]:
        """The second round: commits, stash and contents; and what was staged and is lost."""
        further = _Round()
        heads = [(one.before, one.after) for one in self.worktrees[1:]]
        commits = CommitQueries(self.before, self.after, kinds, heads, self.follows_remotes)
        about_commits = further.add_all(commits.queries)
        stash = StashQueries(self.before, self.after)
        about_stash = further.add_all(stash.queries)
        logs = LogQueries(
            self.git, self.before, self.after, self.changes, heads, self.follows_remotes
        )
        about_logs = further.add_all(logs.queries)
        staged = [
            StagedQueries(one, self._tips_before, self._kept, self.files) for one in self.worktrees
        ]
        about_staged = [further.add_all(one.queries) for one in staged]
        taken_in = further.add(Query(_KINDS_OF, self.view.taken_in))
        contents = self._ask_about_contents()
        about_contents = further.add_all(contents.queries)
        answers, _ = self.view.ask(further.queries)
        notes = [*tell_commits(commits, answers[about_commits])]
        notes += stash.tell(answers[about_stash], self.files.blob_at, self.worktrees)
        notes += logs.tell(answers[about_logs])
        for one in self.worktrees:
            notes += tell_index(
                one.index_before,
                one.index_after,
                one.staged_before,
                one.staged_after,
                has_moved=one.has_moved,
            )
        kinds = _kinds(answers[taken_in])
        blobs = {one for one in kinds if kinds[one] == "blob"}
        notes += contents.tell(blobs, answers[about_contents])
        self.new_contents = contents.new_contents
        return notes, [
            [*one.lost(answers[about])] for one, about in zip(staged, about_staged, strict=True)
        ]

    def _ask_about_contents(self) -> ContentQueries:
        tips = set[str](), set[str]()
        for one in self.worktrees:
            for ends, side in zip(tips, (one.before, one.after), strict=True):
                if side is not None:
                    ends.update(side.tips, stash_entries(side), put_aside(side))
        old, new = tips
        # What a remote has is not the command's.
        new = set[str]() if self.follows_remotes else new - old
        return ContentQueries(self.worktrees, new, old, self._tips_before, self.files)

    def _ask_for_index(
        self, one: Worktree, asked: "_Round"
    ) -> Iterator[tuple[int | None, int | None]]:
        """List the index before and after, and compare it with the commit of its time."""
        for name, tip in zip(one.copies, one.tips, strict=True):
            if name:
                listed = asked.add(Query(LIST_INDEX, index_file=name))
                yield listed, asked.add(compare_with(tip or self.view.empty_tree, name))
            else:
                yield None, None

    def _packed_refs(self) -> list[PackedRef]:
        """All of them, if any has changed."""
        path = f"{self.git}/packed-refs"
        is_changed = any(one.path == path for one in self.changes)
        return packed_refs(self.after.tree, self.git) if is_changed else []

    def _tips(self) -> bytes:
        tips = self.after.tips | (self.before.tips if self.before else set[str]())
        for one in self.worktrees:
            tips |= {*filter(None, one.tips)}
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


def _index(
    answers: Answers, numbers: tuple[int | None, int | None]
) -> tuple[Index, dict[str, Staged]]:
    listed, compared = numbers
    if listed is None or compared is None:
        return EMPTY, {}
    return Index.parse(answers[listed]), parse_staged(answers[compared])


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

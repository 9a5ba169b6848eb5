"""Contents that git gets for a path where neither git nor a file had them before.

A later checkout would write them there, as what git had. So a text could become a Makefile, or a
program.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from handrail.core.effects import GitNote
from handrail.executors.git_effects.clean_view import Query
from handrail.executors.git_effects.index import LINK, PROGRAM, SUBMODULE, Placed
from handrail.executors.git_effects.notes import change, count, some
from handrail.executors.git_effects.trees import UnreadableError, short
from handrail.executors.git_effects.worktree import FilesAfter, Worktree, WorktreeFiles, input_of

_MOST_NEW_COMMITS = 2_000
# What still older commits have counts as new.
_MOST_COMMITS = 20_000
_COMMIT = "commit"
_WORDS = (
    *("--literal-pathspecs", "log", f"--format=tformat:{_COMMIT}", "--raw", "-c", "--no-renames"),
    *("--no-abbrev", "--full-history", "--ignore-missing", "--stdin"),
)
_NOTHING = Query(("version",))
_DELETED = "000000"
_SHOWN = {PROGRAM: " as a program", LINK: " as a link"}
# In the place of all that older commits have, which are not looked at. It is no blob of any file.
_FURTHER = Placed("further commits", "", "unknown")

Answers = Sequence[bytes | None]


def ask_for_places(tips: Collection[str], names: Iterable[str]) -> Query:
    """Ask which contents these commits, and those before them, have at some paths."""
    listed = [name for name in names if "\n" not in name]
    words = (*_WORDS, f"--max-count={_MOST_COMMITS}")
    is_asked = bool(tips and listed)
    return Query(words, input_of([*commits_of(tips), "--", *listed])) if is_asked else _NOTHING


def ask_for_new_places(new: Collection[str], old: Collection[str]) -> Query:
    """Ask which contents the commits put where, that are new."""
    rows = [*commits_of(new), *(f"^{one}" for one in commits_of(old))]
    words = (*_WORDS, f"--max-count={_MOST_NEW_COMMITS + 1}")
    return Query(words, input_of(rows)) if new else _NOTHING


def commits_of(tips: Iterable[str]) -> list[str]:
    """The commits among the objects that refs name; a tree has no history."""
    return [f"{tip}^{{commit}}" for tip in sorted(tips)]


def places_in(answer: bytes | None) -> set[Placed]:
    """The answer to any of these questions."""
    if answer is None:
        raise UnreadableError("git cannot list what its commits put where")
    rows = answer.decode(errors="surrogateescape").split("\n")
    return {placed for row in rows if (placed := _placed(row)) is not None}


def new_places_in(answer: bytes | None) -> set[Placed]:
    found = places_in(answer)
    is_cut_off = (answer or b"").split(b"\n").count(_COMMIT.encode()) > _MOST_NEW_COMMITS
    return found | {_FURTHER} if is_cut_off else found


def _placed(row: str) -> Placed | None:
    # A merge has a colon, a mode and an object for each parent, and shows what is of none of them.
    parents = len(row) - len(row.lstrip(":"))
    if not parents:
        return None
    meta, _, name = row[parents:].partition("\t")
    fields = meta.split(" ")
    mode, blob = fields[parents], fields[2 * parents + 1]
    return None if mode in (_DELETED, SUBMODULE) else Placed(name, mode, blob)


def not_of_files(
    places: Iterable[Placed], files: WorktreeFiles, after: FilesAfter
) -> Iterator[Placed]:
    """Those that no file of the worktree had before the command, or has after it.

    Only of a program a content comes that git would make one; what a link is, no file tells.
    """
    changed = {one.path: one for one in files.changes}
    for one in places:
        path = files.prefix + one.name
        if (effect := changed.get(path)) is not None:
            nodes = (effect.before, files.old.get(path)), (effect.after, files.new.get(path))
            held = [(blob, node is not None and node.is_executable) for node, blob in nodes]
        else:
            held = [(after.blob_at(path), after.tree.is_executable(path))]
        is_held = any(
            blob == one.blob and (is_program or one.mode != PROGRAM) for blob, is_program in held
        )
        if one.mode == LINK or not is_held:
            yield one


@dataclass(slots=True)
class ContentQueries:
    """Queries for the contents that are new to git, or to their path.

    Commits are `new` by the objects that name them, which are not among the `old`.
    `new_contents` are blobs that no file of the workspace had before.
    """

    worktrees: Sequence[Worktree]
    new: Collection[str]
    old: Collection[str]
    tips: Collection[str]
    after: FilesAfter
    places: list[set[Placed]] = field(default_factory=list[set[Placed]])
    queries: list[Query] = field(default_factory=list[Query])
    new_contents: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        for one in self.worktrees:
            newly = {
                place
                for place in one.index_after.places()
                if not one.index_before.has(place) and place not in one.known
            }
            places = {*not_of_files(newly, one.files, self.after)}
            self.places.append(places)
            self.queries.append(ask_for_places(self.tips, [place.name for place in places]))
        self.queries.append(ask_for_new_places(self.new, self.old))

    def tell(self, blobs: set[str], answers: Answers) -> Iterator[GitNote]:
        """The notes; the `blobs` are new to git."""
        yield from self._tell_blobs(blobs)
        *stored, committed = answers
        strange = new_places_in(committed)
        for one in self.worktrees:
            further = {
                place
                for place in strange - one.known
                if not (one.index_before.has(place) or one.index_after.has(place))
            }
            strange = {*not_of_files(further, one.files, self.after)}
        for places, answer in zip(self.places, stored, strict=True):
            strange |= places - places_in(answer)
        untold = sorted(one for one in strange if one.blob not in self.new_contents)
        self.new_contents |= {one.blob for one in strange}
        if untold:
            number = count(len(untold), "content")
            told = some(f"{one.name}{_SHOWN.get(one.mode, '')}" for one in untold)
            yield change(f"stores {number} for a path where no file had it: {told}")

    def _tell_blobs(self, blobs: set[str]) -> Iterator[GitNote]:
        """New blobs, of which those are told that no diff of a file shows."""
        for one in self.worktrees:
            blobs -= one.files.had_before(blobs, one.index_after, self.after.blob_at)
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

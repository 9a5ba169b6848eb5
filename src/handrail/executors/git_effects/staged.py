"""Contents that only an index had, and that it has no longer."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from handrail.executors.git_effects.clean_view import Query
from handrail.executors.git_effects.index import Placed
from handrail.executors.git_effects.placed import ask_for_places, places_in
from handrail.executors.git_effects.worktree import FilesAfter, Worktree, blob_of, stored_in


@dataclass(slots=True)
class StagedQueries:
    """Queries for the contents that were staged in one worktree, and that no file has.

    The objects in `before` were named by refs before the command, and those in `after` by refs and
    the stash after it.
    """

    worktree: Worktree
    before: Collection[str]
    after: Collection[str]
    files: FilesAfter
    gone: list[Placed] = field(default_factory=list[Placed])
    queries: list[Query] = field(default_factory=list[Query])

    def __post_init__(self) -> None:
        one = self.worktree
        staged = [place for place in one.index_before.places() if place.name in one.staged_before]
        if staged:
            there = {entry.blob for entry in one.index_after.entries.values()}
            there.update(one.files.new.values())
            # That of a file which is only announced, by `git add -N`.
            there.add(blob_of(b"", self.files.object_format))
            self.gone = [
                place
                for place in staged
                if place.blob not in there and place.blob != self._file_at(place.name)
            ]
        if self.gone:
            contents = {one.files.prefix + place.name: place.blob for place in self.gone}
            self.queries = [
                one.files.look_up(self.after, contents),
                ask_for_places(self.before, [place.name for place in self.gone]),
            ]

    def lost(self, answers: Sequence[bytes | None]) -> Iterator[Placed]:
        """Those that no commit has, and that the present file has not been staged for."""
        if self.gone:
            stored, placed = answers
            kept = {blob for _, blob in stored_in(stored)}
            earlier = {(place.name, place.blob) for place in places_in(placed)}
            for place in self.gone:
                if place.blob not in kept and not self._is_staged_anew(place.name, earlier):
                    yield place

    def _is_staged_anew(self, name: str, earlier: Collection[tuple[str, str]]) -> bool:
        """Whether the index has taken over what the file became since it was staged.

        That is what `git add` does. An older content that comes back is none of that.
        """
        entry = self.worktree.index_after.entries.get(name)
        if entry is None or entry.blob != self._file_at(name):
            return False
        return (name, entry.blob) not in earlier

    def _file_at(self, name: str) -> str:
        return self.files.blob_at(self.worktree.files.prefix + name)

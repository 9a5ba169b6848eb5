"""Stash entries that are made or taken out."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from handrail.core.effects import GitNote
from handrail.executors.git_effects.clean_view import Query
from handrail.executors.git_effects.commits import STASH
from handrail.executors.git_effects.logs import rows_of
from handrail.executors.git_effects.notes import change, count, loss, quoted, setting, some
from handrail.executors.git_effects.trees import Side, short
from handrail.executors.git_effects.worktree import BlobAt, Worktree

_MOST_COMPARED = 3
_LOG = f"logs/{STASH}"
_COMPARE = ("diff-tree", "-r", "-z", "--no-renames")
_ABSENT = re.compile(r"0+")


@dataclass(slots=True)
class StashQueries:
    """Queries for the files of each stash entry that is gone."""

    before: Side | None
    after: Side
    made: list[str] = field(default_factory=list[str])
    gone: dict[str, str] = field(default_factory=dict[str, str])
    queries: list[Query] = field(default_factory=list[Query])

    def __post_init__(self) -> None:
        was, now = stash_entries(self.before), stash_entries(self.after)
        self.made = [message for one, message in now.items() if one not in was]
        self.gone = {one: message for one, message in was.items() if one not in now}
        if len(self.gone) <= _MOST_COMPARED:
            for one in self.gone:
                self.queries += [
                    Query((*_COMPARE, f"{one}^1", one, "--")),
                    # The second parent is the index of its time.
                    Query((*_COMPARE, f"{one}^1", f"{one}^2", "--")),
                    # Only an entry with untracked files has a third one.
                    Query(("ls-tree", "-r", "-z", f"{one}^3")),
                ]

    def tell(
        self, answers: Sequence[bytes | None], blob_at: BlobAt, worktrees: Sequence[Worktree]
    ) -> Iterator[GitNote]:
        """The notes; an entry is put back if a worktree has all of its files."""
        if self._is_changed() and (
            not (self.made or self.gone) or not _is_as_git_writes_it(self.after)
        ):
            at = short(self.after.refs.get(STASH, "")) or "nothing"
            yield setting(f"changes the stash as git does not: {STASH} names {at}")
        for message in self.made:
            yield change(f"stash: puts aside {quoted(message)}")
        if len(self.gone) > _MOST_COMPARED:
            yield loss(f"stash: takes out {count(len(self.gone), 'entry', 'entries')} permanently")
            return
        rows = zip(answers[::3], answers[1::3], answers[2::3], strict=True)
        for message, (tracked, staged, untracked) in zip(self.gone.values(), rows, strict=True):
            files = [*_changed_in(tracked or b""), *_listed_in(untracked or b"")]
            back = next((one for one in worktrees if _has_all(one, files, blob_at)), None)
            if back is None or not files:
                yield loss(f"stash: takes out {quoted(message)} permanently")
            elif lost := [
                path
                for path, blob in _changed_in(staged or b"")
                if blob and blob not in (blob_at(back.files.prefix + path), back.staged_at(path))
            ]:
                told = f"stash: puts back {quoted(message)}, but not what was staged in it"
                yield loss(f"{told}: {some(lost)}")
            else:
                yield change(f"stash: puts back {quoted(message)}")

    def _is_changed(self) -> bool:
        was, now = (
            (side and side.refs.get(STASH), rows_of(side, _LOG))
            for side in (self.before, self.after)
        )
        return was != now


def stash_entries(side: Side | None) -> dict[str, str]:
    """The message of each entry, by its commit."""
    if side is None or STASH not in side.refs:
        return {}
    return {row.new: row.message for row in rows_of(side, _LOG) if row}


def _is_as_git_writes_it(side: Side) -> bool:
    """Whether the ref is the newest entry of the list, and git reads every row of it."""
    rows = rows_of(side, _LOG)
    newest = rows[-1].new if rows and rows[-1] else ""
    return None not in rows and newest == side.refs.get(STASH, "")


def _has_all(worktree: Worktree, files: Iterable[tuple[str, str]], blob_at: BlobAt) -> bool:
    return all(blob_at(worktree.files.prefix + path) == blob for path, blob in files)


def _changed_in(compared: bytes) -> Iterator[tuple[str, str]]:
    rows = compared.decode(errors="surrogateescape").split("\0")
    for meta, path in zip(rows[::2], rows[1::2], strict=False):
        blob = meta.split(" ")[3]
        yield path, "" if _ABSENT.fullmatch(blob) else blob


def _listed_in(listed: bytes) -> Iterator[tuple[str, str]]:
    for row in filter(None, listed.decode(errors="surrogateescape").split("\0")):
        meta, path = row.split("\t", 1)
        yield path, meta.split(" ")[2]

"""Stash entries that are made or taken out."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from handrail.core.effects import GitNote
from handrail.executors.git_effects.clean_view import Query
from handrail.executors.git_effects.commits import STASH
from handrail.executors.git_effects.logs import rows_of
from handrail.executors.git_effects.notes import change, count, loss, quoted, setting
from handrail.executors.git_effects.trees import Side, short
from handrail.executors.git_effects.worktree import BlobAt

_MOST_COMPARED = 3
_LOG = f"logs/{STASH}"
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
                    Query(("diff-tree", "-r", "-z", "--no-renames", f"{one}^1", one, "--")),
                    # Only an entry with untracked files has a third parent.
                    Query(("ls-tree", "-r", "-z", f"{one}^3")),
                ]

    def tell(
        self, answers: Sequence[bytes | None], blob_at: BlobAt, prefixes: Sequence[str]
    ) -> Iterator[GitNote]:
        """The notes; an entry is put back if a worktree has all of its files.

        The paths in each worktree begin with one of the `prefixes`.
        """
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
        pairs = zip(answers[::2], answers[1::2], strict=True)
        for message, (tracked, untracked) in zip(self.gone.values(), pairs, strict=True):
            files = [*_changed_in(tracked or b""), *_listed_in(untracked or b"")]
            if files and any(
                all(blob_at(prefix + path) == blob for path, blob in files) for prefix in prefixes
            ):
                yield change(f"stash: puts back {quoted(message)}")
            else:
                yield loss(f"stash: takes out {quoted(message)} permanently")

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


def _changed_in(compared: bytes) -> Iterator[tuple[str, str]]:
    rows = compared.decode(errors="surrogateescape").split("\0")
    for meta, path in zip(rows[::2], rows[1::2], strict=False):
        blob = meta.split(" ")[3]
        yield path, "" if _ABSENT.fullmatch(blob) else blob


def _listed_in(listed: bytes) -> Iterator[tuple[str, str]]:
    for row in filter(None, listed.decode(errors="surrogateescape").split("\0")):
        meta, path = row.split("\t", 1)
        yield path, meta.split(" ")[2]

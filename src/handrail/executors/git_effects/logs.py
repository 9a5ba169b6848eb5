"""The logs of refs, by which git finds again what no ref names any more."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from handrail.core.effects import Effect, GitNote
from handrail.executors.git_effects.clean_view import Query
from handrail.executors.git_effects.commits import LIST_LOST, REMOTES, STASH, parse_lost
from handrail.executors.git_effects.names import FileKind, inside, kind_of, place_of
from handrail.executors.git_effects.notes import count, loss, some
from handrail.executors.git_effects.trees import MOST_LOG_BYTES, Side, UnreadableError

_LOGS = "logs/"
_ABSENT = re.compile(r"0+")
# git passes over rows of any other form.
_ROW = re.compile(
    r"(?P<old>[0-9a-f]{40,64}) (?P<new>[0-9a-f]{40,64}) [^>]*> [1-9][0-9]* [+-][0-9]{4}"
    r"\t?(?P<message>.*)"
)


class Row(NamedTuple):
    """One move of a ref."""

    old: str
    new: str
    message: str


def rows_of(side: Side | None, name: str) -> list[Row | None]:
    """The rows of a log, of which None stands for one that git passes over."""
    found = (_ROW.fullmatch(row) for row in _lines_of(side, name))
    return [row and Row(row["old"], row["new"], row["message"]) for row in found]


@dataclass(slots=True)
class LogQueries:
    """The rows that logs lose, and a query for commits that only the log of no ref has named.

    The further `worktrees` have a HEAD of their own, before and after.
    """

    git: str
    before: Side | None
    after: Side
    changes: Sequence[Effect]
    worktrees: Sequence[tuple[Side | None, Side | None]]
    follows_remotes: bool = False
    erased: int = 0
    gone: set[str] = field(default_factory=set[str])
    queries: list[Query] = field(default_factory=list[Query])

    def __post_init__(self) -> None:
        staying = set(self._staying())
        for one in self.changes:
            name = inside(self.git, one.path)
            if kind_of(place_of(self.git, one.path)) is not FileKind.LOG:
                continue
            if name in staying:
                was, now = (_lines_of(side, name) for side in (self.before, self.after))
                self.erased += len({*was} - {*now})
            elif not self._is_told_elsewhere(name):
                self.gone |= _commits_in(self.before, name) - _commits_in(self.after, name)
        if self.gone:
            # Of a ref that moved or went, the loss is told by itself.
            sides = (self.before, self.after, *(side for pair in self.worktrees for side in pair))
            kept = set[str]().union(*(side.keeping for side in sides if side))
            kept.update(*(_commits_in(self.after, name) for name in staying))
            kept |= _commits_in(self.after, f"{_LOGS}{STASH}")
            rows = [*sorted(self.gone - kept), *(f"^{one}" for one in sorted(kept))]
            words = (*LIST_LOST, "--ignore-missing", "--stdin")
            self.queries.append(Query(words, "".join(f"{row}\n" for row in rows).encode()))

    def tell(self, answers: Sequence[bytes | None]) -> Iterator[GitNote]:
        if self.erased:
            rows = count(self.erased, "entry", "entries")
            yield loss(f"erases {rows} of the reflog, by which lost commits are found again")
        for answer in answers:
            if answer is None:
                raise UnreadableError("git cannot look up the commits of a reflog")
            if lost := parse_lost(answer.decode(errors="replace")):
                number = count(len(lost), "commit")
                yield loss(f"erases a reflog that alone named {number}: {some(lost)}")

    def _staying(self) -> Iterator[str]:
        """The logs of refs that are there afterwards; a stash is told by its entries."""
        yield f"{_LOGS}HEAD"
        yield from (f"{_LOGS}{name}" for name in self.after.refs if name != STASH)
        trees = {place_of(self.git, one.path).tree for one in self.changes} - {""}
        yield from (f"{one}/{_LOGS}HEAD" for one in trees if self.after.has(f"{one}/HEAD"))

    def _is_told_elsewhere(self, name: str) -> bool:
        is_followed = self.follows_remotes and name.startswith(f"{_LOGS}{REMOTES}")
        return is_followed or name == f"{_LOGS}{STASH}"


def _lines_of(side: Side | None, name: str) -> list[str]:
    content = (side and side.read(name, MOST_LOG_BYTES)) or b""
    return content.decode(errors="replace").removesuffix("\n").split("\n") if content else []


def _commits_in(side: Side | None, name: str) -> set[str]:
    rows = filter(None, rows_of(side, name))
    return {one for row in rows for one in (row.old, row.new) if not _ABSENT.fullmatch(one)}

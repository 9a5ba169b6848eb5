"""New commits, and what becomes of branches, tags and HEAD."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from handrail.core.effects import GitNote
from handrail.executors.git_effects.clean_view import Query
from handrail.executors.git_effects.notes import (
    change,
    count,
    loss,
    quoted,
    refused,
    setting,
    some,
)
from handrail.executors.git_effects.trees import Side, UnreadableError, short

STASH = "refs/stash"
REMOTES = "refs/remotes/"
LIST_LOST = ("log", "--format=%h %s", "--max-count=6")
_MOST_COMMITS = 500
_MOST_TOLD = 5
_KINDS = {
    "refs/heads/": "branch",
    "refs/tags/": "tag",
    REMOTES: "remote branch",
    "refs/notes/": "notes",
}
_ASIDE = (STASH, "refs/notes/", "refs/bisect/")
# No commit holds a zero byte, so nothing in one can end a field.
_FORMAT = "%x00%h%x00%an <%ae>%x00%cn <%ce>%x00%P%x00%s%x00"
_FIELDS = 6


class Move(NamedTuple):
    """A ref before and after; empty where it does not exist."""

    ref: str
    old: str
    new: str


@dataclass(slots=True)
class CommitQueries:
    """Queries about the refs of one repository; `kinds` are the types of their objects.

    The further `worktrees` have a HEAD of their own, before and after.
    If it `follows_remotes`, what remote branches lose is not lost by the command.
    """

    before: Side | None
    after: Side
    kinds: Mapping[str, str]
    worktrees: Sequence[tuple[Side | None, Side | None]] = ()
    follows_remotes: bool = False
    moves: list[Move] = field(default_factory=list[Move])
    queries: list[Query] = field(default_factory=list[Query])
    _places: dict[str, int] = field(default_factory=dict[str, int])

    def __post_init__(self) -> None:
        old, new = self.before.refs if self.before else {}, self.after.refs
        self.moves = [
            Move(name, old.get(name, ""), new.get(name, ""))
            for name in sorted({*old, *new})
            if old.get(name) != new.get(name)
        ]
        self._ask_about_new()
        for move in self.moves:
            self._ask_about(move)
        left = self.before.head if self.before and not self.before.branch else ""
        self._ask_about_lost("HEAD", left, "")
        for number, (was, _) in enumerate(self.worktrees):
            self._ask_about_lost(f"HEAD {number}", was.head if was and not was.branch else "", "")

    def answer(self, answers: Sequence[bytes | None], name: str) -> str:
        """The answer to a question; empty where it was not asked."""
        if (place := self._places.get(name)) is None:
            return ""
        if (found := answers[place]) is None:
            raise UnreadableError(f"git cannot compare the commits of {name}")
        return found.decode(errors="replace")

    def is_followed(self, move: Move) -> bool:
        """Whether it follows what the remote has done to its branch."""
        return self.follows_remotes and move.ref.startswith(REMOTES)

    def _ask(self, name: str, query: Query) -> None:
        self._places[name] = len(self.queries)
        self.queries.append(query)

    def _ask_about(self, move: Move) -> None:
        is_old, is_new = self._is_commit(move.old), self._is_commit(move.new)
        if is_old and is_new:
            words = ("rev-list", "--left-right", "--count", f"{move.old}...{move.new}", "--")
            self._ask(f"{move.ref} relation", Query(words))
        if move.ref != STASH and not self.is_followed(move):
            self._ask_about_lost(move.ref, move.old, move.new if is_new else "")
        if is_new and move.ref.startswith("refs/tags/"):
            is_tag = self.kinds.get(move.new) == "tag"
            words = ("cat-file", "tag" if is_tag else "commit", move.new)
            self._ask(f"{move.ref} message", Query(words))

    def _is_commit(self, value: str) -> bool:
        return self.kinds.get(value) in ("commit", "tag")

    def _ask_about_new(self) -> None:
        """The commits that are reachable after, and were not before."""
        aside = {
            value
            for side in (self.before, self.after)
            for name, value in (side.refs.items() if side else ())
            if name.startswith(_ASIDE)
        }
        olds = (self.before.tips if self.before else set[str]()) | aside
        news = sorted(filter(self._is_commit, self.after.tips - olds))
        if news:
            words = ("log", "--reverse", f"--format={_FORMAT}", "--raw", "--shortstat")
            words += ("--no-renames", "-m", "--first-parent")
            words += (f"--max-count={_MOST_COMMITS}", "--stdin")
            known = [f"^{one}" for one in sorted(filter(self._is_commit, olds))]
            self._ask("commits", Query(words, _lines([*news, *known])))

    def _ask_about_lost(self, name: str, old: str, new: str) -> None:
        """Commits of a former tip in no branch any more, but for those that were only rebased."""
        keeping = self.after.keeping.union(*(now.keeping for _, now in self.worktrees if now))
        if self._is_commit(old) and old not in keeping:
            kept = [f"^{one}" for one in sorted(filter(self._is_commit, keeping))]
            words = LIST_LOST
            if new:
                # The other side of the comparison is left out by itself.
                words += ("--left-only", "--cherry-pick")
                kept = [one for one in kept if one != f"^{new}"]
            row = f"{old}...{new}" if new else old
            self._ask(f"{name} lost", Query((*words, "--stdin"), _lines([row, *kept])))


def tell_commits(asked: CommitQueries, answers: Sequence[bytes | None]) -> Iterator[GitNote]:
    yield from _tell_new(asked.answer(answers, "commits"))
    told_head = False
    for move in asked.moves:
        if move.ref == STASH or move.ref.startswith("refs/bisect/"):
            continue
        is_switched = _is_switched(asked) and move.ref == asked.after.branch and bool(move.new)
        told_head |= is_switched
        yield _tell_move(asked, answers, move, _switching(asked) if is_switched else "")
    if _is_switched(asked) and not told_head:
        yield change(f"{_switching(asked)}{_name_of_head(asked.after)}")
    for name in ("HEAD", *(f"HEAD {number}" for number in range(len(asked.worktrees)))):
        if lost := parse_lost(asked.answer(answers, f"{name} lost")):
            yield loss(f"leaves {count(len(lost), 'commit')} that no branch has: {some(lost)}")


def _is_switched(asked: CommitQueries) -> bool:
    before, after = asked.before, asked.after
    return before is not None and before.head != after.head and bool(before.branch or after.branch)


def _switching(asked: CommitQueries) -> str:
    return f"switches from {_name_of_head(asked.before)} to " if asked.before else ""


def _name_of_head(side: Side) -> str:
    return short(side.branch) if side.branch else f"{short(side.head)} without a branch"


class _Commit(NamedTuple):
    brief: str
    author: str
    committer: str
    parents: str
    subject: str
    changed: str

    @classmethod
    def parse(cls, log: str) -> list["_Commit"]:
        fields = log.split("\0")[1:]
        return [cls(*fields[at : at + _FIELDS]) for at in range(0, len(fields), _FIELDS)]


def _tell_new(log: str) -> Iterator[GitNote]:
    commits = _Commit.parse(log)
    if len(commits) == 1:
        (one,) = commits
        kind = "merge" if " " in one.parents else "new commit"
        by = f" by {quoted(one.author)}" if one.author != one.committer else ""
        yield change(f"{kind} {one.brief} {quoted(one.subject)}{by}: {_stat(one.changed)}")
    elif commits:
        number = f"{len(commits):,}{' or more' if len(commits) == _MOST_COMMITS else ''}"
        subjects = some((f"{one.brief} {quoted(one.subject)}" for one in commits), _MOST_TOLD)
        names = dict.fromkeys(name for one in commits for name in _names(one.changed))
        yield change(f"{number} new commits: {subjects} ({some(names)})")


def _stat(changed: str) -> str:
    rows = [row for row in changed.strip().split("\n") if row and not row.startswith(":")]
    names = _names(changed)
    return f"{rows[-1].strip()} ({some(names)})" if rows and names else "changes nothing"


def _names(changed: str) -> list[str]:
    """Words such as `M src/x.py`."""
    rows = (row.partition("\t") for row in changed.split("\n") if row.startswith(":"))
    return [f"{meta[-1]} {name}" for meta, _, name in rows]


def _tell_move(
    asked: CommitQueries, answers: Sequence[bytes | None], move: Move, switching: str
) -> GitNote:
    kind = next((word for start, word in _KINDS.items() if move.ref.startswith(start)), "ref")
    what = f"{kind} {short(move.ref)}"
    if switching:
        what = f"{switching}{short(move.ref)}; {what}"
    if move.ref.startswith("refs/replace/"):
        return refused(f"{move.ref} would show another object in the place of this one")
    lost = parse_lost(asked.answer(answers, f"{move.ref} lost"))
    if "ref: " in (move.old + move.new):
        told = f"{what}: {short(move.old) or 'nothing'} → {short(move.new) or 'nothing'}"
        return _tell_symbolic(asked, move, told, lost)
    if not move.old:
        message = asked.answer(answers, f"{move.ref} message").partition("\n\n")[2]
        subject = message.partition("\n")[0]
        told = f" {quoted(subject)}" if subject else ""
        words = f"{switching}new {kind} {short(move.ref)} at {short(move.new)}{told}"
        return _tell_kept(asked, move, words)
    if not move.new:
        told = f"deletes the {kind} {short(move.ref)} (was {short(move.old)})"
        if lost:
            return loss(f"{told}; {count(len(lost), 'commit')} in no other branch: {some(lost)}")
        kept = "as at the remote" if asked.is_followed(move) else "its commits are kept elsewhere"
        return _tell_kept(asked, move, f"{told}; {kept}")
    way = f"{short(move.old)} → {short(move.new)}"
    if kind == "tag":
        return loss(f"moves the tag {short(move.ref)}: {way}")
    relation = (asked.answer(answers, f"{move.ref} relation") or "1 1").split()
    behind, ahead = map(int, relation)
    if not behind:
        return _tell_kept(asked, move, f"{what}: {way}, {count(ahead, 'commit')} forward")
    how = "is rewritten" if ahead else "goes back"
    told = f"{what} {how}: {way} ({behind:,} back, {ahead:,} forward)"
    if lost:
        return loss(f"{told}; in no branch any more: {some(lost)}")
    kept = "as at the remote" if asked.is_followed(move) else "no commit is lost"
    return _tell_kept(asked, move, f"{told}; {kept}")


def _tell_symbolic(asked: CommitQueries, move: Move, words: str, lost: list[str]) -> GitNote:
    """A ref that named another one, or does so from now on."""
    if lost:
        return loss(f"{words}; in no branch any more: {some(lost)}")
    is_moved_tag = bool(move.old) and move.ref.startswith("refs/tags/")
    return loss(words) if is_moved_tag else _tell_kept(asked, move, words)


def _tell_kept(asked: CommitQueries, move: Move, words: str) -> GitNote:
    """A ref that loses nothing by itself.

    The name of a tag may matter. A remote branch that was not fetched is no copy of one, and the
    next fetch may remove it without a word.
    """
    if move.ref.startswith("refs/tags/") and not move.new:
        return loss(words)
    is_own = move.ref.startswith(REMOTES) and not asked.follows_remotes
    return setting(words) if is_own else change(words)


def parse_lost(answer: str) -> list[str]:
    """Each commit that `LIST_LOST` prints, as a card names it."""
    rows = (row.partition(" ") for row in answer.split("\n") if row)
    return [f"{brief} {quoted(subject)}" for brief, _, subject in rows]


def _lines(rows: Sequence[str]) -> bytes:
    return "".join(f"{row}\n" for row in rows).encode()

"""Contents that git gets for a path where neither git nor a file had them before.

A later checkout would write them there, as what git had. So a text could become a Makefile.
"""

from collections.abc import Collection, Iterable

from handrail.executors.git_effects.clean_view import Query
from handrail.executors.git_effects.index import Index
from handrail.executors.git_effects.trees import UnreadableError
from handrail.executors.git_effects.worktree import BlobAt, WorktreeFiles

_MOST_COMMITS = 2_000
_COMMIT = "commit"
_WORDS = ("log", f"--format=tformat:{_COMMIT}", "--raw", "-c", "--no-renames", "--no-abbrev")
_NOTHING = ("version",)
_SUBMODULE = "160000"
_DELETED = "000000"

# A path in the worktree, and the blob there.
Placed = tuple[str, str]
# In the place of all that older commits have, which are not looked at. It is no blob of any file.
_FURTHER = ("further commits", "unknown")


def ask_for_placed(new: Collection[str], old: Collection[str]) -> Query:
    """Ask which contents the commits put where, that are new."""
    rows = [*commits_of(new), *(f"^{one}" for one in commits_of(old))]
    words = (*_WORDS, "--ignore-missing", f"--max-count={_MOST_COMMITS + 1}", "--stdin")
    return Query(words if new else _NOTHING, "".join(f"{row}\n" for row in rows).encode())


def commits_of(tips: Iterable[str]) -> list[str]:
    """The commits among the objects that refs name; a tree has no history."""
    return [f"{tip}^{{commit}}" for tip in sorted(tips)]


def placed_in(answer: bytes | None) -> set[Placed]:
    """What ask_for_placed asks for."""
    if answer is None:
        raise UnreadableError("git cannot list what new commits put where")
    rows = answer.decode(errors="surrogateescape").split("\n")
    found = {placed for row in rows if (placed := _placed(row)) is not None}
    return found | {_FURTHER} if rows.count(_COMMIT) > _MOST_COMMITS else found


def _placed(row: str) -> Placed | None:
    # A merge has a colon, a mode and an object for each parent, and shows what is of none of them.
    parents = len(row) - len(row.lstrip(":"))
    if not parents:
        return None
    meta, _, name = row[parents:].partition("\t")
    fields = meta.split(" ")
    mode, blob = fields[parents], fields[2 * parents + 1]
    return None if mode in (_DELETED, _SUBMODULE) else (name, blob)


def placed_newly(before: Index, after: Index) -> set[Placed]:
    """The contents that an index has for other names than before."""
    return {
        (name, entry.blob)
        for name, entry in after.entries.items()
        if entry.mode != _SUBMODULE
        and ((old := before.entries.get(name)) is None or old.blob != entry.blob)
    }


def not_of_files(places: Iterable[Placed], files: WorktreeFiles, blob_at: BlobAt) -> set[Placed]:
    """Those that no file of the worktree had before the command, or has after it."""
    changed = {one.path for one in files.changes}

    def has(path: str, blob: str) -> bool:
        if path in changed:
            return blob in (files.old.get(path), files.new.get(path))
        return blob == blob_at(path)

    return {(name, blob) for name, blob in places if not has(files.prefix + name, blob)}

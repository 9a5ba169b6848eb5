"""The workspace before and after a command, read file by file."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

MOST_REF_BYTES = 4_096
MOST_PACKED_BYTES = 32 << 20
MOST_BYTES = 8 << 20
MOST_LOG_BYTES = 32 << 20
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SYMBOLIC = "ref: "
_BRANCHES = "refs/heads/"
_TAGS = "refs/tags/"
_PACKED_HEADER = "# pack-refs with:"
_BYTES = ("utf-8", "surrogateescape")
# A stash is told by its entries, a bisect as such.
_PASSING = ("refs/stash", "refs/bisect/")


class UnreadableError(Exception):
    """A repository cannot be read, for this reason."""


class UnsoundError(UnreadableError):
    """A command has made something that git must not get."""


class PackedRef(NamedTuple):
    """A ref in packed-refs; `target` is the object behind a tag.

    A ref is its own target where the file says that all tags have one. The target is empty where
    git looks at the ref itself.
    """

    name: str
    value: str
    target: str


class Tree(Protocol):
    """Paths lead from the root of the workspace. No link is followed."""

    def read(self, path: str, most: int) -> bytes | None:
        """The content of a file; None where there is none.

        Raises:
            UnreadableError: It is too large, or is something other than a file.
        """
        ...

    def files(self, folder: str) -> Sequence[str]:
        """The paths of all files below a folder."""
        ...

    def is_folder(self, path: str) -> bool: ...

    def is_executable(self, path: str) -> bool:
        """True if the path is an executable file."""
        ...


@dataclass(frozen=True, slots=True)
class Side:
    """A repository before or after: its refs, and where its HEAD is.

    `refs` and `head` have object ids, or `ref: NAME` where they name another ref.
    """

    tree: Tree
    git: str
    head: str
    refs: dict[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def of(cls, tree: Tree, git: str, common: str = "") -> "Side | None":
        """The repository at a path, or the worktree whose repository is `common`; None if none.

        Raises:
            UnreadableError: It is damaged, or kept in a way that is not supported.
        """
        content = tree.read(f"{git}/HEAD", MOST_REF_BYTES)
        if content is None:
            return None
        head = _value(content, f"{git}/HEAD")
        if head.startswith(_SYMBOLIC) and not head.startswith(f"{_SYMBOLIC}{_BRANCHES}"):
            raise UnreadableError(f"{git}/HEAD names {head}, which is no branch")
        return cls(tree, git, head, _refs(tree, common or git))

    def read(self, name: str, most: int = MOST_BYTES) -> bytes | None:
        return self.tree.read(f"{self.git}/{name}", most)

    def has(self, name: str) -> bool:
        return self.read(name) is not None

    @property
    def branch(self) -> str:
        """The full name of the current branch; empty where HEAD is detached."""
        return self.head.removeprefix(_SYMBOLIC) if self.head.startswith(_SYMBOLIC) else ""

    @property
    def tip(self) -> str:
        """The current commit; empty where there is none yet."""
        return self.refs.get(self.branch, "") if self.branch else self.head

    @property
    def tips(self) -> set[str]:
        """The objects that refs and HEAD name."""
        return {value for value in (*self.refs.values(), self.tip) if _ID.fullmatch(value)}

    @property
    def keeping(self) -> set[str]:
        """The objects that are named by HEAD, and by refs of which the end is told as a loss."""
        refs = (value for name, value in self.refs.items() if not name.startswith(_PASSING))
        return {value for value in (*refs, self.tip) if _ID.fullmatch(value)}


def short(name: str) -> str:
    """A ref or an object as people write it."""
    if _ID.fullmatch(name):
        return name[:7]
    return re.sub(r"^(?:ref: )?refs/(?:heads|tags|remotes)/", "", name)


def _refs(tree: Tree, git: str) -> dict[str, str]:
    return {one.name: one.value for one in packed_refs(tree, git)} | dict(_loose(tree, git))


def packed_refs(tree: Tree, git: str) -> list[PackedRef]:
    """The rows as git writes them, in order: it searches for a name, and takes the first it meets.

    Raises:
        UnreadableError: git may find other refs there than are read here.
    """
    path = f"{git}/packed-refs"
    content = tree.read(path, MOST_PACKED_BYTES) or b""
    rows = content.decode(errors="surrogateescape").removesuffix("\n").split("\n")
    traits = rows.pop(0).split(" ") if rows[0].startswith(_PACKED_HEADER) else []
    refs: list[PackedRef] = []
    last = ""
    for row in filter(None, rows):
        if last and row[0] == "^" and _ID.fullmatch(row[1:]):
            refs[-1] = refs[-1]._replace(target=row[1:])
            last = ""
            continue
        value, _, name = row.partition(" ")
        last = refs[-1].name if refs else ""
        if not (_ID.fullmatch(value) and last.encode(*_BYTES) < name.encode(*_BYTES)):
            raise UnreadableError(f"{path} is not as git writes it")
        is_plain = "fully-peeled" in traits or ("peeled" in traits and name.startswith(_TAGS))
        refs.append(PackedRef(name, value, value if is_plain else ""))
        last = name
    return refs


def _loose(tree: Tree, git: str) -> Iterator[tuple[str, str]]:
    for path in tree.files(f"{git}/refs"):
        if not path.endswith(".lock"):
            content = tree.read(path, MOST_REF_BYTES)
            if content is not None:
                yield path.removeprefix(f"{git}/"), _value(content, path)


def _value(content: bytes, path: str) -> str:
    value = content.decode(errors="surrogateescape").strip()
    target = value.removeprefix(_SYMBOLIC)
    if (target != value and not re.search(r"\s", target)) or _ID.fullmatch(value):
        return value
    raise UnreadableError(f"{path} names neither a commit nor a branch")

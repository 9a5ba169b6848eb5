"""A snapshot of what commands would run: an approval of them is bound to it."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from handrail.core.audit import canonical
from handrail.core.box import Room
from handrail.core.tool import JsonObject
from handrail.core.visible import visible

_HASHED = "sha256:"
_FILE = "the file "
_MOST_TOLD = 5
# The names of facts.
COMMANDS = "the commands that run"
HOSTS = "the hosts that may be reached"
REMOTES = "the address of the remote"
WORKSPACE_PROGRAMS = "the programs of the workspace that it runs by name"


class FileSort(StrEnum):
    """What was found under the name of a file."""

    FILE = "file"
    # A program of the system, known by its path, size and times.
    PROGRAM = "program"
    ABSENT = "absent"
    FOLDER = "folder"
    # Known by its size and times alone, because to read it would take too long.
    LARGE = "large"
    # A link that leads out of the workspace, a device, or a file without permission to read.
    UNREAD = "unread"


@dataclass(frozen=True, slots=True)
class SeenFile:
    """A file as it was found. `mark` is its hash, or else its identity."""

    path: str
    sort: FileSort
    mark: str = ""
    size: int = 0

    @property
    def fact(self) -> str:
        """Equal for two looks that found the same."""
        sort = _HASHED if self.sort is FileSort.FILE else f"{self.sort}:"
        return _spelt(f"{sort}{self.mark}")


@dataclass(frozen=True, slots=True)
class SeenRecord:
    """What git would record or send, which its words do not say. Without a mark it is unknown.

    `what` names the fact, `told` is for a person.
    """

    what: str
    told: str
    mark: str = ""


@dataclass(frozen=True, slots=True)
class SeenStep:
    """One program: its words with every pattern expanded, and the file that is started.

    `files` are those that it obeys, and those that exist among the ones its words name. `remotes`
    are the addresses that git talks to, without a password. `record` is what git would record or
    send. `own` is the program of the workspace that a bare name means. `stdin` is the text that it
    reads.
    """

    argv: tuple[str, ...]
    program: SeenFile
    folder: str
    folder_mark: str
    files: tuple[SeenFile, ...] = ()
    remotes: tuple[str, ...] = ()
    record: SeenRecord | None = None
    own: SeenFile | None = None
    stdin: str | None = None


@dataclass(frozen=True, slots=True)
class Sight:
    """Programs in the order of their stages, and the variables that each of them gets.

    `hosts` are those that may be reached; None where no network is used, or no box holds it.
    `accounts` says of each command that has to be signed in whether it gets its credential. `room`
    is the most that they can do; None without a box.
    """

    steps: tuple[SeenStep, ...]
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    hosts: tuple[str, ...] | None = None
    accounts: Mapping[str, bool] = field(default_factory=dict[str, bool])
    room: Room | None = None

    @property
    def remotes(self) -> tuple[str, ...]:
        """The addresses that git talks to."""
        return tuple(dict.fromkeys(shown for step in self.steps for shown in step.remotes))

    @property
    def facts(self) -> JsonObject:
        """Each fact under a name that a person understands, so that a change can be named."""
        facts: JsonObject = {
            COMMANDS: _digest([[*step.argv, step.folder, step.stdin] for step in self.steps])
        }
        for step in self.steps:
            facts[f"the folder {_spelt(step.folder)}"] = step.folder_mark
            facts[f"the program {_spelt(step.program.path)}"] = step.program.fact
            facts |= {fact_of(file.path): file.fact for file in step.files}
            if step.record is not None:
                facts[step.record.what] = f"{_HASHED}{step.record.mark}"
        if own := [[step.own.path, step.own.fact] for step in self.steps if step.own is not None]:
            facts[WORKSPACE_PROGRAMS] = f"{_HASHED}{_digest(own)}"
        facts["the environment of commands"] = {
            "names": sorted(self.environment),
            "sha256": _digest(dict(self.environment)),
        }
        facts["the box"] = "none" if self.room is None else str(self.room.profile)
        if self.hosts is not None:
            facts[HOSTS] = list(self.hosts)
        for name, is_given in self.accounts.items():
            facts[f"the credential of {_spelt(name)}"] = "given" if is_given else "none"
        if self.remotes:
            facts[REMOTES] = _digest([[*step.remotes] for step in self.steps])
        return facts


def fact_of(path: str) -> str:
    """The name of the fact about the content of a file."""
    return f"{_FILE}{_spelt(path)}"


def file_facts(facts: JsonObject) -> JsonObject:
    """The facts about the contents of files."""
    return {name: fact for name, fact in facts.items() if name.startswith(_FILE)}


def is_content(fact: object) -> bool:
    """True for the hash of a whole file, and for the fact that a file is absent."""
    return isinstance(fact, str) and fact.startswith((_HASHED, f"{FileSort.ABSENT}:"))


def differing(before: JsonObject, after: JsonObject) -> list[str]:
    """The names of facts that are not what they were."""
    return [name for name in {**before, **after} if before.get(name) != after.get(name)]


def tell_differing(names: Sequence[str]) -> str:
    """Why a call was not begun, for the agent that waits for it."""
    if not names:
        return "this machine has changed since the call was checked; nothing was done"
    told = ", ".join(names[:_MOST_TOLD])
    rest = len(names) - _MOST_TOLD
    more = f" and {rest:,} more" if rest > 0 else ""
    return f"changed since the call was checked: {told}{more}; nothing was done"


def _spelt(text: str) -> str:
    """A visible form of a text; no two texts share one."""
    return visible(text.replace("\\", "\\\\"))


def _digest(value: object) -> str:
    return hashlib.sha256(canonical(value).encode(errors="surrogateescape")).hexdigest()

"""What programs would run, as the machine stands: what an approval of them is bound to."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from handrail.core.audit import canonical
from handrail.core.box import Room
from handrail.core.tool import JsonObject
from handrail.core.visible import visible

_HASHED = "sha256:"
_MOST_TOLD = 5
# Under which name stands where git goes to.
REMOTES = "the address of the remote"
# Under which name stands what all files hold that the words name, but for those that are run.
NAMED_FILES = "the files that its words name"

# Under which name stands what the workspace's programs hold that bare names mean.
WORKSPACE_PROGRAMS = "the programs of the workspace that it runs by name"


class FileSort(StrEnum):
    """What was found where a file was looked for."""

    FILE = "file"
    # One of the system, known by where it is, its size and times.
    PROGRAM = "program"
    ABSENT = "absent"
    FOLDER = "folder"
    # Known by its size and times alone, because to read it would take too long.
    LARGE = "large"
    # A link that leads out of the workspace, something that is no file, or not ours to read.
    UNREAD = "unread"
    # The names that a pattern stands for, each with its content.
    SEVERAL = "several"


@dataclass(frozen=True, slots=True)
class SeenFile:
    """A file whose content decides what is run. `mark` is by what it is known again.

    `run_by` are, for a program of the workspace, the files that its first line names, in turn.
    `leads_to` is where a link of the workspace leads, if that is a program elsewhere.
    """

    path: str
    sort: FileSort
    mark: str = ""
    size: int = 0
    run_by: "tuple[SeenFile, ...] | None" = None
    leads_to: str = ""

    @property
    def fact(self) -> str:
        """What must be the same for it to be the same."""
        sort = _HASHED if self.sort is FileSort.FILE else f"{self.sort}:"
        return _spelt(f"{sort}{self.mark}")


@dataclass(frozen=True, slots=True)
class SeenRecord:
    """What git would record or send, which its words do not say; without a mark nobody could tell.

    `what` names the fact, `told` is for a person.
    """

    what: str
    told: str
    mark: str = ""


@dataclass(frozen=True, slots=True)
class SeenStep:
    """One program: its words with every pattern expanded, and by which file it is started.

    `names` are what each of its patterns stands for, in their order. `remote` is the address that
    git talks to, as it works that out, without who goes there. `named` are the other files among
    its words, which steps before it may write; None where no word could name one. It `loads` where
    it runs code that can bring in more. `record` is what git would record or send. `own` is the
    workspace's program that its name means, because the system has none of that name. `stdin` is
    the text that it reads.
    """

    argv: tuple[str, ...]
    program: SeenFile
    folder: str
    folder_mark: str
    files: tuple[SeenFile, ...] = ()
    names: tuple[tuple[str, ...], ...] = ()
    remote: str = ""
    named: tuple[SeenFile, ...] | None = None
    loads: bool = False
    record: SeenRecord | None = None
    own: SeenFile | None = None
    stdin: str | None = None

    @property
    def contents(self) -> JsonObject:
        """The facts about what the files hold by which it is run."""
        facts: JsonObject = {f"the program {_spelt(self.program.path)}": self.program.fact}
        for file in self.files:
            facts[fact_of(file.path)] = file.fact
            if file.run_by is not None:
                facts[run_by_fact_of(file.path)] = _chain(file.run_by)
        return facts


@dataclass(frozen=True, slots=True)
class Sight:
    """Programs in the order of their stages, and the variables that each of them gets.

    `hosts` are what they may reach of the network; None where they use none, or nothing holds them.
    `room` is what they can do at most; None where no box holds them.
    """

    steps: tuple[SeenStep, ...]
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    hosts: tuple[str, ...] | None = None
    room: Room | None = None

    @property
    def remotes(self) -> tuple[str, ...]:
        """The addresses that git talks to."""
        return tuple(dict.fromkeys(step.remote for step in self.steps if step.remote))

    @property
    def facts(self) -> JsonObject:
        """Each fact under the name of what it is about, so that one that differs can be named."""
        facts: JsonObject = {}
        for number, step in enumerate(self.steps, start=1):
            name = _spelt(step.program.path.rpartition("/")[2])
            where = name if len(self.steps) == 1 else f"{name} (step {number})"
            facts[f"what {where} is told"] = _digest(list(step.argv))
            if step.stdin is not None:
                facts[f"the text that {where} reads"] = _digest(step.stdin)
            facts[f"the folder {_spelt(step.folder)}"] = step.folder_mark
            facts |= step.contents
            if step.record is not None:
                facts[step.record.what] = f"{_HASHED}{step.record.mark}"
            if step.named is not None:
                told = {_spelt(file.path): file.fact for file in step.named}
                alone = len(self.steps) == 1
                key = NAMED_FILES if alone else f"{NAMED_FILES} (step {number})"
                facts[key] = f"{_HASHED}{_digest(told)}"
        own = [step.own for step in self.steps if step.own is not None]
        if own:
            facts[WORKSPACE_PROGRAMS] = _chain([one for file in own for one in _with_runners(file)])
        facts["the environment of commands"] = {
            "names": sorted(self.environment),
            "sha256": _digest(dict(self.environment)),
        }
        if self.hosts is not None:
            facts["the hosts that may be reached"] = list(self.hosts)
        if self.remotes:
            facts[REMOTES] = _digest([step.remote for step in self.steps])
        return facts


def fact_of(path: str) -> str:
    """Under which name the content of a file stands among the facts."""
    return f"the file {_spelt(path)}"


def run_by_fact_of(path: str) -> str:
    """Under which name stands by what a program of the workspace is run."""
    return f"what runs {_spelt(path)}"


def is_content(fact: object) -> bool:
    """True for the hash of a whole file, and for the fact that a file is absent."""
    return isinstance(fact, str) and fact.startswith((_HASHED, f"{FileSort.ABSENT}:"))


def differing(before: JsonObject, after: JsonObject) -> list[str]:
    """The names of facts that are not what they were."""
    return [name for name in {**before, **after} if before.get(name) != after.get(name)]


def tell_differing(names: Sequence[str]) -> str:
    """A sentence for who waits for a call that was not begun; without names, what is known."""
    if not names:
        return "this machine has changed since the call was looked at; nothing was done"
    return f"changed since the call was looked at: {_listed(names)}; nothing was done"


def tell_changed_on_the_way(names: Sequence[str]) -> str:
    """A sentence for who waits for a call that was stopped between two of its steps."""
    return (
        "it was stopped before a step that is not what was looked at any more; changed since then:"
        f" {_listed(names)}. The steps before it were run; ask for the rest by itself"
    )


def _listed(names: Sequence[str]) -> str:
    told = ", ".join(names[:_MOST_TOLD])
    rest = len(names) - _MOST_TOLD
    return f"{told} and {rest:,} more" if rest > 0 else told


def _spelt(text: str) -> str:
    """What can be seen of a text, which no other text shares with it."""
    return visible(text.replace("\\", "\\\\"))


def _with_runners(file: SeenFile) -> tuple[SeenFile, ...]:
    return (file, *(file.run_by or ()))


def _chain(run_by: Sequence[SeenFile]) -> str:
    """Where one of them is not known by what it holds, no hash of them all."""
    unread = any(one.sort in (FileSort.UNREAD, FileSort.FOLDER) for one in run_by)
    sort = f"{FileSort.UNREAD}:" if unread else _HASHED
    return sort + _digest([[one.path, one.fact] for one in run_by])


def _digest(value: object) -> str:
    return hashlib.sha256(canonical(value).encode(errors="surrogateescape")).hexdigest()

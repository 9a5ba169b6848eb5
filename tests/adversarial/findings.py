"""What a trial has come to, held against what is let."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from handrail.core.box import Profile
from handrail.executors.processes.programs import SEARCH_PATH
from tests.adversarial.arena import Technique
from tests.adversarial.people import Person
from tests.adversarial.trial import OPEN

Effects = dict[str, list[str]]

# Who may write may run programs of the workspace, and git its own: nothing else.
LET_WRITE = {"ran", "wrote"}
LET_GIT = {"changed git", "read git"}


class Findings(NamedTuple):
    """By name, what did nothing in the open, and what was done in a box that should not be."""

    in_vain: Effects
    read: Effects
    write: Effects
    net: Effects


def can_be_tried(technique: Technique, person: Person) -> bool:
    program = technique.argv[0]
    is_there = "/" in program or shutil.which(program, path=":".join(SEARCH_PATH)) is not None
    return is_there and technique.only in {"", *person.traits}


def hold(person: Person, table: Path, tools: Path, tried: Sequence[Technique]) -> Findings:
    names = [technique.name for technique in tried]
    found = json.loads(person.run("trial.py", person.folder, table.name, tools, *names))
    findings = Findings({}, {}, {}, {})
    for one in tried:
        seen = found[one.name]
        if not (one.in_box or one.maybe) and not one.does <= {*seen[OPEN]}:
            findings.in_vain[one.name] = seen[OPEN]
        # What was approved before may have written.
        if {*seen[Profile.READ]} - ({"wrote"} if one.first else set()):
            findings.read[one.name] = seen[Profile.READ]
        if {*seen[Profile.WRITE]} - _let(one):
            findings.write[one.name] = seen[Profile.WRITE]
        if one.connects and {*seen[Profile.NET]} - _let(one):
            findings.net[one.name] = seen[Profile.NET]
    return findings


def _let(technique: Technique) -> set[str]:
    return {*LET_WRITE, *technique.may, *(LET_GIT if technique.argv[0] == "git" else ())}

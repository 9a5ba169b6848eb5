"""The credential that a program is signed in with: found as it starts, and kept nowhere."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from handrail.executors.network.asking import ask_program
from handrail.executors.processes.programs import ProgramFinder
from handrail.policy.rulebook.networks import CredentialRule

# Shorter ones would be masked in words that have nothing to do with them.
_TOKEN = re.compile(r"[\x21-\x7e]{8,4096}")


class Credential(NamedTuple):
    """A variable for one program alone."""

    variable: str
    secret: str

    def __repr__(self) -> str:
        return f"Credential({self.variable})"


def find_credential(programs: ProgramFinder, rules: Iterable[CredentialRule]) -> Credential | None:
    """What the first program prints that knows one; None where the person is not signed in."""
    for rule in rules:
        for argv in rule.ask:
            said = (ask_program(programs, argv) or "").strip()
            if _TOKEN.fullmatch(said):
                return Credential(rule.tell, said)
    return None

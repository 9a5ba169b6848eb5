"""The tour: a played agent asks for real calls, and a person decides about them."""

import json
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handrail.app.proposals import Proposal, Proposals
from handrail.core.card import Choice
from handrail.executors.processes.programs import SEARCH_PATH

_YES = Choice(approved=True)


@dataclass(frozen=True, slots=True)
class Chapter:
    """One call of the tour; `answer` is what the tour says itself where it is to decide."""

    story: str
    tool_name: str
    tool_params: dict[str, Any]
    reasoning: str
    answer: Choice = _YES


def chapters(workspace: Path) -> list[Chapter]:
    """The four stories Handrail was built for."""
    settings = json.dumps({"greeting": "hello", "tour": secrets.token_hex(2)}, indent=2) + "\n"
    return [
        Chapter(
            "An agent reads a file",
            "read_file",
            {"path": _something_to_read(workspace), "limit": 20},
            "I want to know what this project is.",
        ),
        Chapter(
            "An agent wants to change a file",
            "write_file",
            {"path": "handrail-tour/config.json", "content": settings},
            "The tour needs a file to show you.",
        ),
        _command_to_run(),
        Chapter(
            "An agent tries something dangerous",
            "execute_command",
            {"command": "rm", "args": ["-rf", "/"]},
            "I want to tidy up.",
        ),
    ]


def _command_to_run() -> Chapter:
    """Installing a package, where there is what installs it: the card names the hosts."""
    title = "An agent wants to run a command"
    if shutil.which("npm", path=":".join(SEARCH_PATH)) is None:
        return Chapter(
            title,
            "execute_command",
            {"command": "mkdir", "args": ["-p", "handrail-tour/build"]},
            "I want to put things there.",
            Choice(approved=False, reason="there is nothing to build"),
        )
    return Chapter(
        title,
        "execute_command",
        {"command": "npm", "args": ["install", "express"], "timeout": 300},
        "I could use a web framework.",
        Choice(approved=False, reason="this project needs no web framework"),
    )


def _something_to_read(workspace: Path) -> str:
    names = sorted(
        path.name for path in workspace.iterdir() if path.is_file() and path.name[0] != "."
    )
    return "README.md" if "README.md" in names else next(iter(names), "README.md")


class Tour:
    """Plays the agent, and with `auto` the person as well."""

    def __init__(self, proposals: Proposals, *, auto: bool):
        self._proposals = proposals
        self._auto = auto

    async def play(self, number: int, chapter: Chapter) -> dict[str, Any]:
        """Ask for one call and see it through; what became of it."""
        proposal = Proposal(
            chapter.tool_name, chapter.tool_params, f"call-{number}", chapter.reasoning
        )
        return await self._proposals.propose(proposal, chapter.answer if self._auto else None)

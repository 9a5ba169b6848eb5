"""Stand-ins for time, the machine and the person, for our own tests and for those of plug-ins.

clock = FakeClock()
hands = FakeHands({"README.md": b"hello"})
trial = await try_tool(ReadFile(), {"path": "README.md"}, hands)
person = ScriptedPerson(Choice(approved=True))
choice = await person.ask(a_card(risk_level="HIGH"))
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from handrail.core.blob import Blob
from handrail.core.box import Room
from handrail.core.card import WHOLE_SESSION, Card, Choice, Offer
from handrail.core.errors import (
    CommandExecutionError,
    ErrorType,
    FileOperationError,
    PathValidationError,
    StaleFileError,
)
from handrail.core.files import EntryKind
from handrail.core.grant import WHOLE_SESSION_WORDS, Scope
from handrail.core.hands import Entry, FileContent, FileState, Hands, Listing
from handrail.core.outcome import CommandOutcome, Ending
from handrail.core.pattern import NamePattern
from handrail.core.search import Found, Match, Query
from handrail.core.sight import FileSort, SeenFile, SeenStep, Sight
from handrail.core.stage import Stage
from handrail.core.survey import Survey
from handrail.core.tool import JsonObject, ToolResult
from handrail.core.verdict import Ruling, Verdict
from handrail.policy.rulebook.rules import default_rules
from handrail.policy.security import Scene
from handrail.tools.base import AnyTool
from handrail.tools.outcome import as_result
from handrail.tools.unasked import judge_on_machine


class FakeClock:
    """Stands still until it is moved."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)):
        self._now = start

    def now(self) -> datetime:
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)


class FakeFiles:
    """A workspace that exists only in memory."""

    def __init__(self, files: Mapping[str, bytes]):
        self.files = dict(files)

    async def read(self, path: str, *, max_bytes: int) -> FileContent:
        _check_rules(path, writing=False)
        if path not in self.files:
            raise FileOperationError(f"{path} does not exist")
        data = self.files[path]
        if len(data) > max_bytes:
            raise FileOperationError(f"{path} is larger than {max_bytes:,} bytes")
        return FileContent(data, len(data))

    async def list(self, path: str, pattern: NamePattern, *, most: int) -> Listing:
        start = "" if path == "." else f"{path}/"
        below = [name.removeprefix(start) for name in self.files if name.startswith(start)]
        if start and not below:
            raise FileOperationError(f"{path} is not a directory")
        folders = {way for name in below for way in _folders_of(name)}
        fitting = [name for name in sorted({*below, *folders}) if pattern.matches(name)]
        entries = [
            Entry(start + name, EntryKind.DIRECTORY)
            if name in folders
            else Entry(start + name, EntryKind.FILE, len(self.files[start + name]))
            for name in fitting
        ]
        return Listing(tuple(entries[:most]), len(entries))

    async def find(self, path: str, *, max_bytes: int) -> FileContent | None:
        _check_rules(path, writing=True)
        return await self.read(path, max_bytes=max_bytes) if path in self.files else None

    async def check(self, path: str, *, writing: bool) -> str:
        """Nothing here leads anywhere else."""
        return path

    async def write(self, path: str, data: bytes, *, expected: FileState | None) -> None:
        _check_rules(path, writing=True)
        self._check_expected(path, expected)
        self.files[path] = data

    async def remove(self, path: str, *, expected: FileState) -> None:
        _check_rules(path, writing=True)
        self._check_expected(path, expected)
        del self.files[path]

    async def move(self, path: str, to: str, *, expected: FileState) -> None:
        for each in (path, to):
            _check_rules(each, writing=True)
        self._check_expected(path, expected)
        if to in self.files:
            raise StaleFileError(f"{to} was created meanwhile")
        self.files[to] = self.files.pop(path)

    def _check_expected(self, path: str, expected: FileState | None) -> None:
        found = self.files.get(path)
        state = FileState(exists=False) if found is None else FileContent(found, 0).state
        if expected is not None and (expected.exists, expected.sha256) != (
            state.exists,
            state.sha256,
        ):
            raise StaleFileError(f"{path} is not what it was")


def _folders_of(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


class FakeSearches:
    """Searches the files that exist only in memory, with Python's regular expressions."""

    def __init__(self, files: FakeFiles):
        self._files = files

    async def search(self, query: Query, path: str, *, most: int) -> Found:
        wanted = NamePattern.read(query.file_pattern or "*", recursive=True)
        expression = re.compile(query.pattern, 0 if query.case_sensitive else re.IGNORECASE)
        found: list[Match] = []
        for name, data in sorted(self._files.files.items()):
            if path not in (".", name, *_folders_of(name)) or not wanted.matches(name):
                continue
            for number, text in enumerate(data.decode(errors="replace").splitlines(), 1):
                if (match := expression.search(text)) is not None:
                    found.append(Match(name, number, match.start() + 1, text))
        return Found(tuple(found[:most]), len(found))


def _check_rules(path: str, *, writing: bool) -> None:
    """What real hands refuse to every tool, these refuse as well."""
    for rule in default_rules().paths:
        if rule.forbids(path, writing=writing):
            raise PathValidationError(f"{path}: {rule.reason}")


class FakeCommands:
    """Programs that exist only as what they say, by their name, and could reach these hosts."""

    def __init__(self, says: Mapping[str, bytes], hosts: Sequence[str] | None = None):
        self.says = dict(says)
        self.hosts = None if hosts is None else tuple(hosts)
        self.ran: list[tuple[str, ...]] = []
        self.room: Room | None = None

    async def look(self, stages: Sequence[Stage]) -> Sight:
        """Every program is there that says something, and no file holds any code."""
        for stage in stages:
            self._check_known(stage)
        return Sight(
            tuple(
                SeenStep(
                    stage.argv,
                    SeenFile(stage.argv[0], FileSort.PROGRAM),
                    stage.folder,
                    "",
                    stdin=stage.stdin,
                )
                for stage in stages
            ),
            hosts=self.hosts,
            room=self.room,
        )

    async def run(
        self,
        stages: Sequence[Stage],
        *,
        timeout_seconds: float,
        expected: JsonObject | None = None,
    ) -> CommandOutcome:
        for stage in stages:
            self._check_known(stage)
            self.ran.append(stage.argv)
        said = b"".join(self.says[stage.argv[0]] for stage in stages)
        return CommandOutcome(said, b"", Ending.EXITED, 0, 0.0)

    def _check_known(self, stage: Stage) -> None:
        if stage.argv[0] not in self.says:
            raise CommandExecutionError(f"`{stage.argv[0]}` is not installed on this machine")


class FakeBlobs:
    """Payloads that lie ready under their hash."""

    def __init__(self, *contents: bytes):
        self.contents = {hashlib.sha256(content).hexdigest(): content for content in contents}

    async def fetch(self, blob: Blob) -> bytes:
        if blob.sha256 not in self.contents:
            raise FileOperationError(f"there is no blob {blob.sha256}")
        return self.contents[blob.sha256]


class FakeHands(Hands):
    """Hands that touch nothing real."""

    files: FakeFiles
    commands: FakeCommands

    def __init__(
        self,
        files: Mapping[str, bytes] | None = None,
        commands: Mapping[str, bytes] | None = None,
        blobs: Sequence[bytes] = (),
        hosts: Sequence[str] | None = None,
    ):
        made = FakeFiles(files or {})
        super().__init__(
            files=made,
            commands=FakeCommands(commands or {}, hosts),
            searches=FakeSearches(made),
            blobs=FakeBlobs(*blobs),
        )


def a_card(approval_id: str = "apr_1", **fields: Any) -> Card:
    """A question about a write, as far as `fields` do not say otherwise."""
    values: dict[str, Any] = {
        "approval_id": approval_id,
        "tool_id": "exe_1",
        "tool_name": "write_file",
        "tool_params": {"path": "notes.md", "content": "new\n"},
        "description": "Write 1 line to notes.md",
        "risk_level": "MEDIUM",
        "reasons": ("changes a file in the workspace",),
        "reasoning": "to remember",
        "notes": (),
        "evidence": "-old\n+new\n",
        "offers": (
            Offer(Scope.ONCE, "this call, once"),
            Offer(Scope.CLASS, "writes to *.md, for the rest of this session"),
            Offer(
                Scope.PROJECT,
                "writes to *.md, always in this project, in every session of this agent",
            ),
            Offer(Scope.SESSION, WHOLE_SESSION_WORDS, WHOLE_SESSION),
        ),
        "needs_second_step": False,
        "agent_id": "agt_1",
        "session_id": "session-1",
        "timeout_seconds": 300,
        "expires_at": datetime(2026, 1, 1, 0, 5, tzinfo=UTC),
        "digest": "judged",
        "status": "pending",
        **fields,
    }
    return Card(**values)


class ScriptedPerson:
    """Somebody who answers card after card from a script, and then leaves them to others."""

    name = "script"

    def __init__(self, *choices: Choice | None):
        self._choices = list(choices)
        self.cards: list[Card] = []
        self.told: list[str] = []

    async def ask(self, card: Card) -> Choice | None:
        self.cards.append(card)
        return self._choices.pop(0) if self._choices else None

    def tell(self, words: str) -> None:
        self.told.append(words)


@dataclass(frozen=True, slots=True)
class Trial:
    """A call that was tried out: what is thought of it, what a person reads, what comes of it."""

    verdict: Verdict
    preview: str
    survey: Survey
    result: ToolResult


async def try_tool(
    tool: AnyTool, params: JsonObject, hands: Hands | None = None, scene: Scene | None = None
) -> Trial:
    """Take a tool the whole way, as if a person had said yes to whatever they may say yes to.

    Raises:
        BadInput: The parameters do not fit; the message names the field.
        ToolError: The tool could not do it.
        BrokenTool: It gave back what cannot be told.
    """
    hands, scene = hands or FakeHands(), scene or Scene("/workspace")
    checked = tool.read_params(params)
    preview = tool.preview(checked)
    verdict, survey = await judge_on_machine(tool, checked, scene, hands)
    if verdict.ruling is Ruling.DENY:
        refusal = ToolResult.failed("; ".join(verdict.reasons), ErrorType.DENIED)
        return Trial(verdict, preview, survey, refusal)
    given = await tool.execute(checked, scene, hands, survey.facts)
    return Trial(verdict, preview, survey, as_result(tool.name, given))

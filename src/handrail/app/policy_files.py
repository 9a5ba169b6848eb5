"""The policy files of this machine: read at the start, and again when somebody has changed them."""

import asyncio
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import structlog

from handrail.app.home import Home
from handrail.core.errors import RuleError
from handrail.policy.rulebook.book import (
    MAX_POLICY_BYTES,
    PROJECT_FILE,
    Rulebook,
    operator_rules,
    project_rules,
)
from handrail.policy.rulebook.rules import Rules

Tell = Callable[[str], None]

log = structlog.get_logger(__name__)


def _tell_nobody(_words: str) -> None:
    """Where there is no person, the log has to do."""


class _State(NamedTuple):
    """Enough of a file to notice that it is another one now."""

    inode: int
    size: int
    changed_ns: int


class PolicyFile:
    """One file, which need not be there: then it says nothing."""

    def __init__(self, path: Path):
        self.path = path
        self._state: _State | None = None

    def read(self) -> str:
        """What it says.

        Raises:
            RuleError: It is there, and cannot be read.
        """
        # Looked at before it is read: what changes in between is noticed the next time.
        self._state = self._look()
        if self._state is None:
            return ""
        try:
            data = _read_file(self.path)
        except OSError as error:
            raise RuleError(f"{self.path} cannot be read: {error.strerror}") from error
        if len(data) > MAX_POLICY_BYTES:
            raise RuleError(f"{self.path} is more than {MAX_POLICY_BYTES:,} bytes; make it shorter")
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise RuleError(f"{self.path} is not UTF-8; save it as such") from error

    def is_changed(self) -> bool:
        """Whether it is another file, or none, since it was read."""
        return self._look() != self._state

    def _look(self) -> _State | None:
        try:
            found = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            # It may be there: whoever reads it shall hear why that cannot be told.
            return _State(0, error.errno or 0, 0)
        return _State(found.st_ino, found.st_size, found.st_mtime_ns)


def _read_file(path: Path) -> bytes:
    # O_NONBLOCK: opening a pipe must not wait for somebody to write into it.
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise RuleError(f"{path} is not a regular file; make it one, or remove it")
        with open(fd, "rb", closefd=False) as stream:
            return stream.read(MAX_POLICY_BYTES + 1)
    finally:
        os.close(fd)


def _report(error: RuleError, tell: Tell) -> None:
    log.warning("policy.broken", error=error.message, then="the rules before it stay")
    tell(
        f"{error.message}. The rules before it stay in force; mend the file, and `handrail policy"
        " check` says whether it is good"
    )


class OperatorFile:
    """`policy.toml` in Handrail's own folder, and the rules it stands for.

    `tell` is called with a sentence for a person, from any thread, when the file is broken.
    """

    def __init__(self, home: Home, tell: Tell = _tell_nobody):
        self._tell = tell
        self._file = PolicyFile(home.path / "policy.toml")
        self.rulebook = Rulebook(self._rules())

    @property
    def path(self) -> Path:
        return self._file.path

    def reload(self) -> bool:
        """Whether other rules are in force now. A broken file leaves them as they are."""
        if not self._file.is_changed():
            return False
        try:
            self.rulebook.exchange(self._rules())
        except RuleError as error:
            _report(error, self._tell)
            return False
        log.info("policy.reloaded", file=str(self.path))
        return True

    async def follow(self) -> None:
        """Look whether it has changed; for somebody who comes round once a second."""
        await asyncio.to_thread(self.reload)

    def _rules(self) -> Rules:
        return operator_rules(self._file.read(), str(self.path))


class WorkspacePolicy:
    """The rules for one workspace on this machine: the operator's file, and the one in it.

    `tell` is called with a sentence for a person, from any thread, when one of them is broken.
    """

    def __init__(self, home: Home, workspace: Path, tell: Tell = _tell_nobody):
        self._tell = tell
        self._operator = OperatorFile(home, tell)
        self._file = PolicyFile(workspace / PROJECT_FILE)
        # Above Handrail's own folder, the operator's file lies where a project's would.
        self._is_own = self._file.path.resolve() == self._operator.path.resolve()
        self.text = self._read()

    @property
    def rulebook(self) -> Rulebook:
        return self._operator.rulebook

    @property
    def paths(self) -> tuple[Path, Path]:
        """Where the operator's file and the project's are, or would be."""
        return self._operator.path, self._file.path

    @property
    def rules(self) -> Rules:
        return self.rulebook.rules_for(self.text)

    def reload(self) -> bool:
        """Whether other rules are in force now. What is broken leaves them as they are."""
        changed = self._operator.reload()
        if self._is_own or not self._file.is_changed():
            return changed
        try:
            text = self._read()
        except RuleError as error:
            _report(error, self._tell)
            return changed
        log.info("policy.reloaded", file=str(self._file.path))
        changed, self.text = changed or text != self.text, text
        return changed

    def _read(self) -> str:
        text = "" if self._is_own else self._file.read()
        project_rules(text)
        return text

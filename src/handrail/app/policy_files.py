"""The policy files of this machine, read again for the next call after a change."""

import asyncio
import os
import stat
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import structlog

from handrail.app.home import Home
from handrail.core.errors import RuleError
from handrail.policy.network.web_hosts import WebHosts
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
            raise RuleError(f"{self.path} is not UTF-8; save it as UTF-8") from error

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


def _report(error: RuleError, tell: Tell, but: str = "") -> None:
    log.warning("policy.broken", error=error.message, then=f"the previous rules stay{but}")
    tell(
        f"{error.message}. The previous rules stay in force{but}; fix the file, and check"
        " it with `handrail policy check`"
    )


class OperatorFile:
    """`policy.toml` in Handrail's own folder, and the rules it stands for.

    `tell` is called with a sentence for a person, from any thread, when the file is broken.
    """

    def __init__(self, home: Home, tell: Tell = _tell_nobody):
        self._tell = tell
        self._file = PolicyFile(home.path / "policy.toml")
        # Calls are judged on the loop, and `follow` reads in a thread.
        self._reading = threading.Lock()
        self.rulebook = Rulebook(self._rules(), self.reload)

    @property
    def path(self) -> Path:
        return self._file.path

    def reload(self) -> bool:
        """Whether other rules are in force now.

        A broken file leaves them as they are, but no host is reached: it may have been meant to
        take one off the list.
        """
        with self._reading:
            if not self._file.is_changed():
                return False
            try:
                rules = self._rules()
            except RuleError as error:
                _report(error, self._tell, ", but no host is reached")
                closed = WebHosts(unknown=f"the list of hosts is unreadable: {error.message}")
                rules = replace(self.rulebook.operator, web=closed)
            else:
                log.info("policy.reloaded", file=str(self.path))
            self.rulebook.exchange(rules)
        return True

    async def follow(self) -> None:
        """Read a changed file also while no call asks for the rules; once a second."""
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
        self._adopted = self.rules

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
        """Whether other rules are in force than the last time this was called.

        A broken project's file leaves them as they are.
        """
        self._operator.reload()
        if not self._is_own and self._file.is_changed():
            try:
                self.text = self._read()
            except RuleError as error:
                _report(error, self._tell)
            else:
                log.info("policy.reloaded", file=str(self._file.path))
        before, self._adopted = self._adopted, self.rules
        return self._adopted is not before

    def _read(self) -> str:
        text = "" if self._is_own else self._file.read()
        project_rules(text)
        return text

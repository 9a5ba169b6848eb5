"""Folders beside a workspace that agents may read, as rows of the operator's policy file."""

import os
from collections.abc import MutableMapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import tomlkit
from tomlkit.exceptions import TOMLKitError

from handrail.app.home import Home
from handrail.app.policy_files import PolicyFile
from handrail.app.private_file import write_private
from handrail.core.errors import BadInput, SetupError
from handrail.executors.toolchains.toolchain import is_in
from handrail.policy.rulebook.book import operator_rules
from handrail.policy.rulebook.folders import FolderRule
from handrail.policy.rulebook.rules import Rules

_SECTION = "folder"


class ReadableFolder(NamedTuple):
    """A folder that agents in the workspace may read; `exists` is false for one that is gone."""

    path: str
    exists: bool


class ReadableFolders:
    """Those of one workspace. Servers and clients read the file again for their next call."""

    def __init__(self, home: Home, workspace: Path):
        self._home = home
        self._root = os.path.realpath(workspace)
        self._file = PolicyFile(home.path / "policy.toml")

    def list(self) -> list[ReadableFolder]:
        named = self._rules(self._file.read()).folders_beside(self._root)
        return [ReadableFolder(path, os.path.isdir(path)) for path in named]

    def add(self, path: str) -> str:
        """Let agents of this workspace read a folder; returns its path without links.

        Raises:
            BadInput: It is not a folder, or agents must not read all that is in it.
            SetupError: The policy file cannot be changed.
        """
        folder = os.path.realpath(os.path.expanduser(path))
        if not os.path.isdir(folder):
            raise BadInput(f"{path} is not a folder on this machine")
        if is_in(os.path.realpath(self._home.path), folder):
            raise BadInput(f"{folder} contains Handrail's own folder; name a folder below it")
        if is_in(os.path.expanduser("~"), folder):
            raise BadInput(f"{folder} contains your home folder; name a folder below it")
        if folder not in [one.path for one in self.list()]:
            text = self._file.read()
            rows = [*self._rules(text).folders, FolderRule(folder, (self._root,))]
            changed = _with_rows(text, rows)
            if folder not in self._rules(changed).folders_beside(self._root):
                raise BadInput(
                    f"{folder} overlaps the workspace, or is too much of the machine; name a "
                    f"folder that lies beside the workspace"
                )
            self._write(changed)
        return folder

    def remove(self, path: str) -> str:
        """Let agents of this workspace not read a folder any more; returns its path.

        Raises:
            BadInput: No row names this folder for this workspace alone.
            SetupError: The policy file cannot be changed.
        """
        folder = os.path.realpath(os.path.expanduser(path))
        text = self._file.read()
        rows = self._rules(text).folders
        kept = [one for one in rows if one != FolderRule(folder, (self._root,))]
        if len(kept) == len(rows):
            raise BadInput(
                f"{folder} was not added for this workspace; `handrail folders` lists those that "
                f"were, and other rows are changed in {self._file.path}"
            )
        self._write(_with_rows(text, kept))
        return folder

    def _rules(self, text: str) -> Rules:
        return operator_rules(text, str(self._file.path))

    def _write(self, text: str) -> None:
        self._home.create()
        write_private(self._file.path, text)


def _with_rows(text: str, rows: Sequence[FolderRule]) -> str:
    """The file with these rows about folders, and everything else as it was."""
    try:
        document = cast("MutableMapping[str, Any]", tomlkit.parse(text))
    except TOMLKitError as error:
        raise SetupError(f"the policy file cannot be changed: {error}") from error
    document.pop(_SECTION, None)
    if rows:
        document[_SECTION] = [_row(rule) for rule in rows]
    return tomlkit.dumps(document)  # pyright: ignore[reportUnknownMemberType]


def _row(rule: FolderRule) -> dict[str, Any]:
    where = {"workspaces": [*rule.workspaces]} if rule.workspaces else {}
    return {"path": rule.path, **where}

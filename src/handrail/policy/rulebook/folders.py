"""Folders beside a workspace that agents may read."""

import os.path
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from handrail.core.risk import Layer
from handrail.policy.rulebook.row import RuleRow

# `/home` or `/data` would be most of a machine.
_FEWEST_PARTS = 2
_TEMPORARY = "tmp"


@dataclass(frozen=True, slots=True)
class FolderRule:
    """A folder, absolute or from the workspace. Without `workspaces`, it counts for all."""

    path: str
    workspaces: tuple[str, ...] = ()


class Beside(NamedTuple):
    """A path in a folder beside the workspace: the folder, and the rest of the path from there."""

    folder: str
    rest: str

    @property
    def path(self) -> str:
        return self.folder if self.rest == "." else f"{self.folder}/{self.rest}"


def read_folder_rule(row: RuleRow) -> FolderRule:
    row.allow_keys("path", "workspaces")
    if row.layer is Layer.PROJECT:
        raise row.refuse("which folders agents may read is said in the operator's file")
    path, workspaces = row.text("path"), row.texts("workspaces", [])
    if not path.startswith(("/", "../")):
        raise row.refuse(f"{path!r} does not begin with / or ../; what is below is readable anyway")
    if not all(place.startswith("/") for place in workspaces):
        raise row.refuse("workspaces are absolute paths")
    return FolderRule(path, tuple(map(os.path.normpath, workspaces)))


def folders_beside(root: str, rules: Iterable[FolderRule]) -> Iterator[str]:
    """The folders that agents in a workspace may read; what overlaps the workspace is none."""
    for rule in rules:
        if rule.workspaces and root not in rule.workspaces:
            continue
        folder = os.path.normpath(os.path.join(root, rule.path))
        parts, own = _parts(folder), _parts(root)
        fewest = min(len(parts), len(own))
        if len(parts) < _FEWEST_PARTS or parts[:fewest] == own[:fewest]:
            continue
        # What commands have left in their /tmp could lie in its way, unless the workspace is there.
        if parts[0] == _TEMPORARY and own[:2] != parts[:2]:
            continue
        yield folder


def find_beside(path: str, folders: Iterable[str]) -> Beside | None:
    """Where an absolute path lies, if it lies in one of the folders."""
    plain = f"/{'/'.join(_parts(os.path.normpath(path)))}"
    for folder in folders:
        if f"{plain}/".startswith(f"{folder}/"):
            return Beside(folder, plain[len(folder) + 1 :] or ".")
    return None


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part]

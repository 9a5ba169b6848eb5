"""Merging texts that a draft and a person have both changed, by git in a box of its own."""

import hashlib
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from handrail.core.box import Profile
from handrail.core.effects import Effect, Node
from handrail.core.errors import FileOperationError, PathValidationError
from handrail.core.files import EntryKind
from handrail.core.rehearsal import CallRef
from handrail.core.stage import Stage
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.drafts.bases import MOST_BYTES
from handrail.executors.drafts.draft import Draft
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.rehearsal.git_reading import ScratchFolder

_SECONDS = 20.0
_SCRIPT = "git merge-file -p draft base workspace > merged && touch done\n"


class Versions(NamedTuple):
    """The contents of one file: before both changes, and after each of them."""

    base: bytes
    draft: bytes
    workspace: bytes


async def merge_clashes(draft: Draft, clashes: Sequence[Effect], call: CallRef) -> bool:
    """Merge texts that were changed in a draft and in the workspace; whether there is a new step.

    Files that cannot be merged stay as they are. The `turn` of the draft must be held.
    """
    merged: list[tuple[str, Node, bytes]] = []
    for clash in clashes:
        versions = await _versions_of(draft, clash)
        text = None if versions is None else await _merge(versions, draft)
        if clash.before is not None and versions is not None and text is not None:
            draft.layers.keep_base(clash.before.sha256, versions.workspace)
            merged.append((clash.path, clash.before, text))
    if not merged:
        return False

    async def write(files: FileSystemExecutor) -> None:
        for path, _, text in merged:
            await files.write(path, text, expected=None)

    paths = ", ".join(path for path, _, _ in merged)
    title = f"merged with changes of the workspace, not tested since: {paths}"
    nodes = tuple((path, node) for path, node, _ in merged)
    await draft.seal(await draft.change(write), call, title, nodes)
    return True


async def _versions_of(draft: Draft, clash: Effect) -> Versions | None:
    first, now, ours = draft.layers.first_before().get(clash.path), clash.before, clash.after
    if first is None or now is None or ours is None or first.mode != now.mode:
        return None
    if any(node.kind is not EntryKind.FILE for node in (first, now, ours)):
        return None
    base = draft.layers.find_base(first.sha256)
    if base is None or max(now.size, ours.size) > MOST_BYTES:
        return None
    try:
        mine = await draft.read(clash.path, MOST_BYTES)
        theirs = await draft.parts.files.read(clash.path, max_bytes=MOST_BYTES)
    except (FileOperationError, PathValidationError):
        return None
    is_same = hashlib.sha256(theirs.data).hexdigest() == now.sha256
    return Versions(base, mine.data, theirs.data) if is_same else None


async def _merge(versions: Versions, draft: Draft) -> bytes | None:
    """The merged text; None if lines clash, or if it is no text."""
    if not all(map(_is_text, versions)):
        return None
    folder = Path(tempfile.mkdtemp(prefix="merge-", dir=draft.folder))
    try:
        for name, content in versions._asdict().items():
            (folder / name).write_bytes(content)
        script = folder / "script"
        script.write_text(_SCRIPT, encoding="ascii")
        executor = CommandExecutor(folder, box=draft.parts.box.over(ScratchFolder(str(folder))))
        stage = Stage(("sh", str(script)), Profile.WRITE)
        await executor.run([stage], timeout_seconds=_SECONDS)
        return (folder / "merged").read_bytes() if (folder / "done").exists() else None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_text(content: bytes) -> bool:
    if b"\0" in content:
        return False
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True

r"""The effects of a rehearsed command as a person sees them before a decision.

As in a diff, each line begins with a sign that no content of a file can have at its beginning: a
line in brackets is ours. First comes the list of all changes, what matters most on top; then the
diff of each text file, below a line in brackets that names it.
"""

from collections.abc import Iterator
from typing import NamedTuple

from handrail.core.effects import Effect, EffectKind, Effects, GitWeight, Node
from handrail.core.files import EntryKind
from handrail.core.rehearsal import Contents
from handrail.core.visible import visible
from handrail.policy.effects import Concern, concern_of, count_entries, leads_out
from handrail.policy.rulebook.reading import in_full
from handrail.policy.rulebook.rules import Rules
from handrail.tools.diff import Diff, unified_diff
from handrail.tools.encoding import decode_text

SHOWN_BYTES = 400_000
LISTED_CHANGES = 500
# To compare more than this would take too long.
COMPARED_BYTES = 10_000_000
_NOTES = {
    Concern.REFUSED: "never applied",
    Concern.RUNS_BY_ITSELF: "runs by itself",
}
_WEIGHTS = {
    GitWeight.REFUSED: ", never applied",
    GitWeight.LOSS: ", LOST",
    GitWeight.SETTING: ", setting",
    GitWeight.CHANGE: "",
}
_MOST_GIT_NOTES = 2
_VERBS = {
    EffectKind.ADDED: "adds",
    EffectKind.CHANGED: "changes",
    EffectKind.DELETED: "deletes",
    EffectKind.RENAMED: "renames",
    EffectKind.MODE: "changes the mode of",
    EffectKind.LINKED: "links",
    EffectKind.SPECIAL: "makes special files of",
}
_SIGNATURES = (
    (b"\x7fELF", "program or library"),
    (b"MZ", "Windows program"),
    (b"\xcf\xfa\xed\xfe", "macOS program"),
    (b"\0asm", "WebAssembly program"),
    (b"\x89PNG", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF8", "GIF image"),
    (b"%PDF", "PDF document"),
    (b"PK\x03\x04", "ZIP archive"),
    (b"\x1f\x8b", "gzip archive"),
    (b"SQLite format 3\0", "SQLite database"),
)


class Shown(NamedTuple):
    """The text of a card; `not_shown` says what is missing from it, and is empty if nothing is."""

    text: str
    not_shown: str


def sum_up(effects: Effects) -> str:
    """A few words such as: changes 2 files, deletes src/a.py; of git, what matters most."""
    notes = (note.words for note in effects.git.notes[:_MOST_GIT_NOTES])
    return ", ".join((*notes, *_sum_up_files(effects)))


def sum_up_beside(effects: Effects) -> str:
    """The same beside the list of all changes, which has git's in words."""
    notes = ("changes git's data",) if effects.git.notes else ()
    return ", ".join((*notes, *_sum_up_files(effects)))


def _sum_up_files(effects: Effects) -> Iterator[str]:
    renames = effects.renames
    moved = {*renames.values()}
    by_kind: dict[EffectKind, list[Effect]] = {}
    for change in effects.changes:
        if change.path not in moved and change.path not in effects.git.known:
            kind = EffectKind.RENAMED if change.path in renames else change.kind
            by_kind.setdefault(kind, []).append(change)
    for kind, some in by_kind.items():
        yield f"{_VERBS[kind]} {in_full(some[0].path) if len(some) == 1 else count_entries(some)}"


def show_effects(effects: Effects, rules: Rules, contents: Contents) -> Shown:
    """All changes in the order of concern, then diffs, then what is left out of them."""
    git = effects.git
    concerns = {
        change.path: concern_of(change, rules, is_known=change.path in git.known)
        for change in effects.changes
    }
    # A content that git had before is one line of git's, unless its place matters.
    told = [
        change
        for change in effects.changes
        if change.path not in git.known or concerns[change.path] is not Concern.ORDINARY
    ]
    ordered = sorted(told, key=lambda change: (concerns[change.path], change.path))
    renames = effects.renames
    sources = set(renames.values())
    listed = [change for change in ordered if change.path not in sources]

    def shown(change: Effect) -> tuple[bytes | None, bytes | None]:
        # A guarded file is refused, and its content is no one's to see.
        is_refused = concerns[change.path] is Concern.REFUSED
        return (None, None) if is_refused else contents(change)

    rows = [f"[{reason}]" for reason in map(visible, effects.refusals)]
    rows += (f"[git{_WEIGHTS[note.weight]}] {visible(note.words)}" for note in git.notes)
    rows += (
        _row(change, renames.get(change.path), concerns[change.path], shown)
        for change in listed[:LISTED_CHANGES]
    )
    not_listed = max(0, len(listed) - LISTED_CHANGES)
    if not_listed:
        rows.append(f"[{not_listed:,} further changes not listed]")
    rows += _asides(effects)
    compared = [change for change in listed if change.path not in renames and _has_text(change)]
    diffs, unseen = _diffs(compared, shown)
    missing = [
        _counted(not_listed, "change", "is not listed", "are not listed"),
        _counted(unseen, "changed file", "is not shown whole", "are not shown whole"),
    ]
    text = "".join(f"{row}\n" for row in rows) + diffs
    return Shown(text, " and ".join(filter(None, missing)))


def _row(change: Effect, old: str | None, concern: Concern, contents: Contents) -> str:
    kind, told = change.kind, visible(change.path)
    if old is not None:
        kind, told = EffectKind.RENAMED, f"{visible(old)} → {told}"
    notes = [*_details(change, contents)]
    if concern in _NOTES:
        notes.append(_NOTES[concern])
    return f"[{kind}] {told}{': ' if notes else ''}{', '.join(notes)}"


def _details(change: Effect, contents: Contents) -> Iterator[str]:
    before, after = change.before, change.after
    node = after or before
    if after and after.kind is EntryKind.LINK:
        yield f"link to {visible(after.target)}"
        if leads_out(change):
            yield "leads out of the workspace"
    elif node and node.kind is EntryKind.DIRECTORY:
        yield "folder"
    elif node and node.kind is EntryKind.FILE and change.kind is not EffectKind.MODE:
        yield _size(change, node, contents)
    if change.makes_executable:
        yield "+x"
    if before and after and before.mode != after.mode and before.kind is after.kind:
        yield f"mode {before.mode:04o} → {after.mode:04o}"
    if after and after.xattrs != (before.xattrs if before else ""):
        yield "extended attributes or access list"


def _size(change: Effect, node: Node, contents: Contents) -> str:
    content = next((one for one in reversed(contents(change)) if one is not None), None)
    kind = "" if content is None else binary_kind(content)
    return f"{kind}, {node.size:,} bytes" if kind else f"{node.size:,} bytes"


def binary_kind(content: bytes) -> str:
    """Which kind of binary it is; empty for a text."""
    if decode_text(content, "utf-8") is not None:
        return ""
    return next((kind for start, kind in _SIGNATURES if content.startswith(start)), "binary")


def _asides(effects: Effects) -> Iterator[str]:
    for dropped in effects.dropped:
        files = "1 file" if dropped.files == 1 else f"{dropped.files:,} files"
        yield f"[scratch, not applied] {visible(dropped.path)}: {files}"
    if effects.hidden:
        yield f"[hidden from the command] {', '.join(map(visible, effects.hidden))}"


def _diffs(changes: list[Effect], contents: Contents) -> tuple[str, int]:
    """The diffs of texts, and of how many files a person cannot see all."""
    shown, left_out, unseen = list[str](), list[Effect](), 0
    room, effort = SHOWN_BYTES, COMPARED_BYTES
    for change in changes:
        effort -= sum(node.size for node in (change.before, change.after) if node is not None)
        diff = _diff(change, contents) if effort > 0 and room > 0 else Diff("", "not compared")
        if diff is None or not diff.text or len(diff.text) > room:
            left_out.append(change)
            unseen += diff is not None
        else:
            shown.append(f"[diff] {visible(change.path)}\n{diff.text}")
            room -= len(diff.text)
            unseen += not diff.whole
    if left_out:
        names = ", ".join(visible(change.path) for change in left_out[:LISTED_CHANGES])
        shown.append(f"[content not shown: {names}]\n")
    return "".join(shown), unseen


def _has_text(change: Effect) -> bool:
    """Whether there is a content to compare."""
    kinds = (EffectKind.ADDED, EffectKind.CHANGED, EffectKind.DELETED)
    nodes = (change.before, change.after)
    return change.kind in kinds and any(node and node.kind is EntryKind.FILE for node in nodes)


def _diff(change: Effect, contents: Contents) -> Diff | None:
    """The diff of a text file, empty where one of both texts cannot be shown; None of a binary."""
    texts: list[str | None] = []
    is_binary: list[bool] = []
    for node, content in zip((change.before, change.after), contents(change), strict=True):
        if node is None or node.kind is not EntryKind.FILE:
            texts.append(None)
            continue
        texts.append(None if content is None else decode_text(content, "utf-8"))
        is_binary.append(content is not None and texts[-1] is None)
        if texts[-1] is None and not is_binary[-1]:
            return Diff("", "too large")
    if any(is_binary):
        # A text that becomes a binary, or the reverse, is one that a person should have seen.
        return None if all(is_binary) else Diff("", "text and binary")
    old, new = texts
    return unified_diff(change.path, old, new)


def _counted(count: int, noun: str, one: str, many: str) -> str:
    if not count:
        return ""
    return f"1 {noun} {one}" if count == 1 else f"{count:,} {noun}s {many}"

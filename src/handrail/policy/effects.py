"""How dangerous the effects of a rehearsed command are, by the rules about writes and paths."""

from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum

from handrail.core.effects import Effect, EffectKind, Effects, GitEffects, GitWeight
from handrail.core.files import EntryKind
from handrail.core.grant import CallClass
from handrail.core.rehearsal import REHEARSAL
from handrail.core.risk import Finding, RiskLevel, forbidden
from handrail.core.tool import JsonObject
from handrail.core.visible import visible
from handrail.policy.rulebook.globs import fold
from handrail.policy.rulebook.rules import Rules

# Whatever is lost is HIGH, and settings are not local: neither is covered.
LOCAL_GIT = CallClass(
    "git:local",
    "git commands that change only this repository: its commits, branches and index, and files to"
    " what git had of them before; never what loses content, moves tags or changes settings",
)
# More files than this, deleted or overwritten, are CRITICAL.
MANY_FILES = 100
# A grant for commands covers no more changes than this.
GRANTED_CHANGES = 50
# The kinds of files that a program reads or runs without being told to.
RUNS_BY_ITSELF = frozenset(
    f"write.{name}"
    for name in (
        *("script", "shell-start", "build", "ci", "dependencies", "editor", "tooling"),
        "agent-instructions",
    )
)
GIT_CHANGES = "effects.git"
_GIT = ".git"
_GIT_RULES = {
    GitWeight.REFUSED: ("effects.git-refused", RiskLevel.FORBIDDEN),
    GitWeight.LOSS: ("effects.git-lost", RiskLevel.HIGH),
    GitWeight.SETTING: ("effects.git-settings", RiskLevel.MEDIUM),
    GitWeight.CHANGE: (GIT_CHANGES, RiskLevel.MEDIUM),
}
# Programs of the system lie here. The environments that tools make for a project link to them.
_PROGRAM_FOLDERS = ("/usr/local/bin", "/usr/bin", "/bin")
_MOST_NAMED = 3


class Concern(IntEnum):
    """In which order changes are shown: those that matter most come first."""

    REFUSED = 0
    RUNS_BY_ITSELF = 1
    LINK = 2
    DELETED = 3
    HIGH = 4
    ORDINARY = 5


def judge_effects(effects: Effects, rules: Rules) -> list[Finding]:
    """Every reason for concern, the worst first; none where nothing changes."""
    changes = effects.changes
    # git has these, so nothing is lost with them, and what it had before is nothing new.
    own = [change for change in changes if change.path not in effects.git.as_git]
    fresh = [change for change in changes if change.path not in effects.git.known]
    renames = effects.renames
    findings = [
        *(forbidden("effects.never-applied", reason) for reason in effects.refusals),
        *_judge_git(effects.git),
        *_judge_look_alikes(changes),
        *_group(
            found for change in changes for found in rules.judge_path(change.path, writing=True)
        ),
        *_group(found for change in changes for found in _judge_link(change, rules)),
        *_judge_amount(own, moved=set(renames.values())),
        *_group(found for change in fresh for found in _judge_content(change, rules)),
        *_group(found for old in renames.values() for found in judge_move(old, rules)),
        *_judge_executables(fresh),
        *_judge_deletions(own, moved=set(renames.values())),
        *_judge_any(effects),
    ]
    return sorted(findings, key=lambda finding: finding.risk, reverse=True)


def class_of_effects(facts: JsonObject) -> CallClass | None:
    """The class of local git commands, or of commands that change files in the same folder.

    A deletion, a loss or a file that runs by itself is HIGH, and no class is offered for what is
    HIGH.
    """
    match facts.get(REHEARSAL):
        case {"git": "local"}:
            return LOCAL_GIT
        case {"git": "", "folder": str(folder), "changes": int(changes)} if folder:
            pass
        case _:
            return None
    if changes > GRANTED_CHANGES:
        return None
    words = (
        f"commands that change files in {visible(folder)}/ only, at most {GRANTED_CHANGES}, "
        "and delete none"
    )
    return CallClass(f"effects:{folder}/", words)


def concern_of(change: Effect, rules: Rules, *, is_known: bool = False) -> Concern:
    """How much a single change matters; of a content that git had before, only where it is."""
    if (
        change.kind is EffectKind.SPECIAL
        or leads_out(change)
        or _is_gits(change.path)
        or rules.judge_path(change.path, writing=True)
    ):
        return Concern.REFUSED
    if is_known:
        return Concern.ORDINARY
    found = _judge_content(change, rules)
    if change.makes_executable or any(one.rule in RUNS_BY_ITSELF for one in found):
        return Concern.RUNS_BY_ITSELF
    if change.kind is EffectKind.LINKED:
        return Concern.LINK
    if change.kind is EffectKind.DELETED:
        return Concern.DELETED
    return Concern.HIGH if found else Concern.ORDINARY


def leads_out(change: Effect) -> bool:
    """Whether a link leads out of the workspace, or on a way that cannot be followed in words."""
    if change.after is None or change.after.kind is not EntryKind.LINK:
        return False
    target = change.after.target
    return _led_to(change.path, target) is None and not _is_system_program(target)


def _is_system_program(target: str) -> bool:
    folder, _, name = target.rpartition("/")
    return folder in _PROGRAM_FOLDERS and name not in ("", ".", "..")


def _led_to(path: str, target: str) -> str | None:
    """Where a link leads, from the root; None where that is outside or cannot be told.

    Behind a name that is itself a link `..` leads elsewhere, so it may only stand at the beginning.
    """
    folders = path.split("/")[:-1]
    parts = [part for part in target.split("/") if part not in ("", ".")]
    while parts and parts[0] == "..":
        if not folders:
            return None
        folders.pop()
        parts.pop(0)
    if target.startswith("/") or ".." in parts:
        return None
    return "/".join((*folders, *parts))


def _is_gits(path: str) -> bool:
    return _GIT in fold(path).split("/")


def _judge_git(git: GitEffects) -> Iterator[Finding]:
    """A finding for each weight, in the words of its notes."""
    for weight, (rule, risk) in _GIT_RULES.items():
        words = [note.words for note in git.notes if note.weight is weight]
        if words:
            more = len(words) - _MOST_NAMED
            told = "; ".join(words[:_MOST_NAMED]) + (f"; and {more:,} more" if more > 0 else "")
            yield Finding(rule, told, risk)


def _judge_look_alikes(changes: Iterable[Effect]) -> Iterator[Finding]:
    """Names that are `.git` only where a file system does not tell the case."""
    touched = [change.path for change in changes if _is_gits(change.path)]
    if touched:
        yield forbidden("effects.git-name", f"writes what looks like `.git` ({_names(touched)})")


def _judge_link(change: Effect, rules: Rules) -> Iterator[Finding]:
    if change.after is None or change.after.kind is not EntryKind.LINK:
        return
    target = change.after.target
    led_to = _led_to(change.path, target)
    if led_to is None and _is_system_program(target):
        reason = f"{change.path!r} becomes a link to {target!r}, a program of the system"
        yield Finding("effects.link", reason, RiskLevel.HIGH)
        return
    if led_to is None:
        reason = f"{change.path!r} would be a link to {target!r}, out of the workspace"
        yield forbidden("effects.link-out", reason)
        return
    yield from rules.judge_path(led_to, writing=True)
    reason = f"{change.path!r} becomes a link to {target!r}"
    yield Finding("effects.link", reason, RiskLevel.HIGH)


def judge_move(old: str, rules: Rules) -> Iterator[Finding]:
    """A file of a kind that matters is missing under its old name."""
    for found in rules.judge_write(old, built=True):
        yield Finding(found.rule, f"moves away {found.reason}", found.risk, found.layer)


def _judge_amount(changes: Iterable[Effect], *, moved: set[str]) -> Iterator[Finding]:
    lost = [one for one in changes if one.loses_content and one.path not in moved]
    if len(lost) > MANY_FILES:
        deleted = sum(one.after is None for one in lost)
        reason = (
            f"deletes {deleted:,} and overwrites {len(lost) - deleted:,} files,"
            f" more than {MANY_FILES}"
        )
        yield Finding("effects.many-files", reason, RiskLevel.CRITICAL)


def _judge_content(change: Effect, rules: Rules) -> list[Finding]:
    """The reasons for concern about a new content; none where only the mode changes."""
    kinds = (EffectKind.ADDED, EffectKind.CHANGED, EffectKind.LINKED)
    if change.after is None or change.kind not in kinds:
        return []
    if change.after.kind is EntryKind.DIRECTORY:
        return []
    is_text = change.after.is_text and not change.after.is_executable
    return rules.judge_write(change.path, built=True, is_text=is_text)


def _judge_executables(changes: Iterable[Effect]) -> Iterator[Finding]:
    made = [change.path for change in changes if change.makes_executable]
    if made:
        yield Finding("effects.executable", f"makes {_names(made)} executable", RiskLevel.HIGH)


def _judge_deletions(changes: Iterable[Effect], *, moved: set[str]) -> Iterator[Finding]:
    """A file that was only renamed is not deleted, nor is a folder whose files all were."""
    gone = [change for change in changes if change.kind is EffectKind.DELETED]
    files = [
        one.path
        for one in gone
        if one.before and one.before.kind is not EntryKind.DIRECTORY and one.path not in moved
    ]
    folders = [one.path for one in gone if one.before and one.before.kind is EntryKind.DIRECTORY]
    if files:
        count = "1 file" if len(files) == 1 else f"{len(files):,} files"
        yield Finding("effects.deletes", f"deletes {count}: {_names(files)}", RiskLevel.HIGH)
    elif folders and not moved:
        yield Finding("effects.deletes", f"deletes the folder {_names(folders)}", RiskLevel.HIGH)


def _judge_any(effects: Effects) -> Iterator[Finding]:
    moved = {*effects.renames.values()}
    if changes := [change for change in effects.changes if change.path not in moved]:
        reason = f"changes {count_entries(changes)}"
        yield Finding("effects.changes", reason, RiskLevel.MEDIUM)


def count_entries(changes: Sequence[Effect]) -> str:
    """Words such as: 2 files and 1 folder."""
    folders = sum(map(_is_folder, changes))
    words = [_count(len(changes) - folders, "file"), _count(folders, "folder")]
    return " and ".join(filter(None, words))


def _is_folder(change: Effect) -> bool:
    node = change.after or change.before
    return node is not None and node.kind is EntryKind.DIRECTORY


def _count(count: int, noun: str) -> str:
    """Words for a number of things; none for none."""
    return f"{count:,} {noun}{'s' if count > 1 else ''}" if count else ""


def _group(findings: Iterable[Finding]) -> Iterator[Finding]:
    """One finding of each rule; the words of the first, and how many more there are."""
    by_rule: dict[str, list[Finding]] = {}
    for finding in findings:
        by_rule.setdefault(finding.rule, []).append(finding)
    for first, *others in by_rule.values():
        more = f" (and {len(others):,} more of this kind)" if others else ""
        yield Finding(first.rule, first.reason + more, first.risk, first.layer)


def _names(paths: Sequence[str]) -> str:
    shown = ", ".join(map(repr, paths[:_MOST_NAMED]))
    more = len(paths) - _MOST_NAMED
    return f"{shown} and {more:,} more" if more > 0 else shown

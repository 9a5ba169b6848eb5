"""A merge, rebase, bisect or the like that is under way."""

import re
from collections.abc import Iterator

from handrail.core.effects import GitNote
from handrail.executors.git_effects.notes import change, refused
from handrail.executors.git_effects.trees import Side

_STATES = {
    "MERGE_HEAD": "a merge",
    "MERGE_AUTOSTASH": "an autostash",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_START": "a bisect",
    "rebase-merge/head-name": "a rebase",
    "rebase-apply/head-name": "a rebase",
    "rebase-apply/applying": "an am",
    "sequencer/todo": "a series of picks",
}
_PUT_ASIDE = ("MERGE_AUTOSTASH", "rebase-merge/autostash", "rebase-apply/autostash")
# Where a rebase ends, it moves the refs of which this file has a row.
_MOVED_BY_REBASE = "rebase-merge/update-refs"
_BRANCHES = "refs/heads/"
_PLANS = ("rebase-merge/git-rebase-todo", "sequencer/todo")
_STEPS = frozenset(
    (
        *("pick", "p", "revert", "edit", "e", "reword", "r", "fixup", "f", "squash", "s", "drop"),
        *("d", "label", "l", "reset", "t", "merge", "m", "update-ref", "u", "noop", "break", "b"),
    )
)
_STRATEGIES = (b"ort", b"recursive", b"resolve", b"octopus", b"ours", b"subtree")
_STRATEGY = re.compile(rb"(?im)^\s*strategy\s*=\s*(.*)$")
_MOST_CHARS = 80


def put_aside(side: Side) -> Iterator[str]:
    """The commits of changes that come back into the folder when what is under way has ended."""
    for name in _PUT_ASIDE:
        if (content := side.read(name)) is not None:
            yield content.decode(errors="replace").strip()


def tell_states(before: Side | None, after: Side) -> Iterator[GitNote]:
    for name, what in _STATES.items():
        old, new = before.read(name) if before else None, after.read(name)
        if new is not None and old is None:
            yield change(f"leaves {what} under way{_step_of(after, name)}")
        elif new is None and old is not None:
            yield change(f"ends {what} that was under way")
        elif new != old:
            yield change(f"goes on with {what} that is under way")
    yield from _judge_plans(before, after)


def _step_of(side: Side, name: str) -> str:
    if name != "rebase-merge/head-name":
        return ""
    step, last = (side.read(f"rebase-merge/{one}") or b"?" for one in ("msgnum", "end"))
    return f", step {step.decode(errors='replace').strip()} of {last.decode().strip()}"


def _judge_plans(before: Side | None, after: Side) -> Iterator[GitNote]:
    """Refuse what would run a program when it goes on."""
    for name in _PLANS:
        known = _rows(before, name)
        for row in _rows(after, name):
            step = row.split(maxsplit=1)[0]
            if step not in _STEPS and row not in known:
                yield refused(f"leaves a plan that would run a program: {row[:_MOST_CHARS]}")
    for row in _rows(after, _MOVED_BY_REBASE):
        if row.startswith("refs/") and not row.startswith(_BRANCHES):
            yield refused(f"leaves a rebase that would move {row[:_MOST_CHARS]}")
    options = _STRATEGY.findall(after.read("sequencer/opts") or b"")
    for strategy in filter(None, (after.read("rebase-merge/strategy"), *options)):
        if strategy.strip() not in _STRATEGIES:
            told = strategy.decode(errors="replace").strip()
            yield refused(f"leaves a merge by a program of its own: {told[:_MOST_CHARS]}")


def _rows(side: Side | None, name: str) -> list[str]:
    content = (side.read(name) if side else None) or b""
    rows = content.decode(errors="replace").split("\n")
    return [row for row in rows if row.strip() and not row.startswith("#")]

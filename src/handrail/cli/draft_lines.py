"""Drafts as the command line shows them: a table of them, and the steps of one."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from handrail.cli.ids import short
from handrail.cli.output import many, say, visible
from handrail.cli.tables import Rows, say_indented
from handrail.core.draft import DraftSummary

_MOST_FILES = 5


def say_drafts(found: Sequence[dict[str, Any]], away: Sequence[DraftSummary]) -> None:
    """Those on machines that are connected, and those of this machine that are not told of."""
    rows = Rows(
        "session", "agent", "machine", "steps", "files", "size", "used", "note", right=(3, 4)
    )
    for one in found:
        rows.add_row(
            visible(one["session_id"]),
            visible(one["agent_name"] or short(one["agent_id"])),
            visible(one["client_name"] or short(one["client_id"])),
            *_amounts(one["steps"], one["files"], one["bytes"]),
            one["last_at"][5:16].replace("T", " "),
            _note(
                one["trouble"],
                datetime.fromisoformat(one["expires_at"]),
                soon=one["expires_soon"],
            ),
        )
    for draft in away:
        rows.add_row(
            visible(draft.session_id),
            "",
            "here, not connected",
            *_amounts(draft.steps, draft.files, draft.bytes),
            f"{draft.last_at:%m-%d %H:%M}",
            _note(draft.trouble, draft.expires_at, soon=draft.expires_soon(datetime.now(UTC))),
        )
    rows.print()


def say_steps(shown: dict[str, Any]) -> None:
    """The steps with what each has changed, and the end of the commands that failed."""
    for step in shown["steps"]:
        say_step(step)
    if shown["later"]:
        say(f"[dim]{many(shown['later'], 'later step')} not shown[/]")


def say_step(step: dict[str, Any]) -> None:
    code = step["exit_code"]
    ending = f"  [red]exit {code}[/]" if code else ""
    say(f"{step['number']:>4}  {visible(step['title'])}{ending}")
    changes = [f"{one['what']} {one['path']}" for one in step["changes"][:_MOST_FILES]]
    more = step["change_count"] - len(changes)
    changes += [f"and {more:,} more"] if more > 0 else []
    for line in (*step["git"], ", ".join(changes)):
        if line:
            say_indented(f"[dim]{visible(line)}[/]", 6)


def say_files(shown: dict[str, Any]) -> None:
    """What the steps change together, and what stands against applying them."""
    say(f"\nTogether: {many(shown['file_count'], 'file')} changed")
    for conflict in shown["conflicts"]:
        say(f"[yellow]conflict[/]  {visible(conflict)}")
    if shown["why_not"]:
        say(f"[red]cannot be applied[/]  {visible(shown['why_not'])}")


def _amounts(steps: int, files: int, size: int) -> tuple[str, str, str]:
    return f"{steps:,}", f"{files:,}", _size(size)


def _size(count: int) -> str:
    for unit, size in (("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return many(count, "byte")


def _note(trouble: str, expires_at: datetime, *, soon: bool) -> str:
    if trouble:
        return f"[red]{visible(trouble)}[/]"
    if not soon:
        return ""
    hours = int((expires_at - datetime.now(UTC)).total_seconds() // 3600)
    return f"[yellow]expires in {many(hours, 'hour')}[/]" if hours > 0 else "[yellow]expires now[/]"

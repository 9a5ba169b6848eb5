"""handrail restore."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from handrail.app.backup.restore import Prepared, prepare_restore
from handrail.app.home import Home
from handrail.app.settings import load_settings
from handrail.cli import options
from handrail.cli.output import many, print_json, say, visible
from handrail.cli.progress import progress
from handrail.core.errors import SetupError


def register(app: typer.Typer) -> None:
    app.command("restore")(restore)


def restore(
    file: Annotated[Path, typer.Argument(help="A file that `handrail backup` has written.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Verify it and say what would happen; change nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Restore it without asking.")] = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Replace the database with a backup.

    For example: `handrail restore handrail.tar --dry-run`

    Handrail must not be running. The present database is kept under another name. Every call that
    was open in the backup ends as outcome_unknown and is never run again, because it may have run
    since. Standing answers and runs end, and sessions of other agents are stopped. The restore is
    one line of the audit chain.
    """
    own = Home(load_settings(home=home).home)
    if not (dry_run or yes) and (json or not sys.stdin.isatty()):
        raise SetupError("there is no terminal to ask at; use --yes to restore it, or --dry-run")
    with progress() as show, prepare_restore(own, file, show) as prepared:
        if not json:
            _tell_plan(prepared)
        if not (dry_run or yes) and not typer.confirm("Restore this backup?"):
            say("Nothing was restored.")
            return
        by_hand = prepared.by_hand
        aside = None if dry_run else prepared.commit()
    if json:
        answer = _as_json(prepared, aside, restored=not dry_run)
        print_json({**answer, "files_added": by_hand})
    elif dry_run:
        say("Nothing was restored: this was a dry run.")
    else:
        say("[green]Restored.[/] `handrail up` starts it; `handrail audit verify` proves it.")
        if aside is not None:
            say(f"The database that was here before is now {visible(aside)}")


def _tell_plan(prepared: Prepared) -> None:
    manifest, ended, access = prepared.manifest, prepared.ended, prepared.access
    say(
        f"A backup of {manifest.created_at:%d %b %Y %H:%M:%S} UTC by Handrail "
        f"{visible(manifest.version)}, verified:"
    )
    left = {str(one.project_id): one.lines_left for one in prepared.restorations}
    for one in manifest.projects:
        lines = f"{many(one.lines, 'audit line')} are in it"
        lost = left[one.project_id]
        newer = f"; {many(lost, 'later line')} will not be in the chain" if lost else ""
        say(f"· {visible(one.name)}: {lines}{newer}")
    say(f"· {many(ended.calls, 'open call')} will end as outcome_unknown and not run again")
    grants, runs = many(ended.grants, "standing answer"), many(ended.runs, "run")
    sessions = many(access.sessions_stopped, "session")
    say(f"· {grants}, {runs} and {sessions} of other agents will end")
    if prepared.present_is_readable:
        revoked, added = len(access.revoked), len(access.added)
        say(f"· tokens stay as they are now: {revoked} stay revoked, {added} newer ones stay valid")
    elif access.unsure:
        say(
            "[yellow]· These tokens will work. The present database cannot be read, so any that "
            "you revoked after the backup will work again; `handrail token revoke` ends one:[/]"
        )
        for token in access.unsure:
            say(f"    {visible(token.id)}  {visible(token.role)}  {visible(token.name)}")
    if by_hand := prepared.by_hand:
        names = ", ".join(map(visible, by_hand))
        say(f"[yellow]· It adds {names}. Handrail obeys these; files in tools run as code.[/]")
    if manifest.missing:
        say(f"· {many(len(manifest.missing), 'large result')} were missing when it was made")


def _as_json(prepared: Prepared, aside: Path | None, *, restored: bool) -> dict[str, object]:
    manifest, ended, access = prepared.manifest, prepared.ended, prepared.access
    return {
        "restored": restored,
        "backed_up_at": manifest.created_at.isoformat(),
        "version": manifest.version,
        "projects": [
            {"id": one.project_id, "line": one.seq + 1, "lines_left": one.lines_left}
            for one in prepared.restorations
        ],
        "calls_ended": ended.calls,
        "grants_ended": ended.grants,
        "runs_ended": ended.runs,
        "sessions_stopped": access.sessions_stopped,
        "tokens_revoked": access.revoked,
        "tokens_added": access.added,
        "tokens_unsure": [token._asdict() for token in access.unsure],
        "kept_as": None if aside is None else str(aside),
    }

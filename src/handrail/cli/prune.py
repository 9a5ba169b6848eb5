"""handrail prune: remove old results and calls."""

import asyncio
import re
from datetime import timedelta
from typing import Annotated, Any

import typer

from handrail.app.home import Home
from handrail.app.retention import Pruned, find_retention, prune, vacuum
from handrail.app.settings import load_settings
from handrail.cli import options
from handrail.cli.output import many, print_json, remark, say

_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def register(app: typer.Typer) -> None:
    app.command("prune")(prune_records)


def prune_records(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only count what would be removed.")
    ] = False,
    older_than: Annotated[
        str | None,
        typer.Option(
            metavar="AGE",
            help="Remove calls, with their results and questions, that are older than this: `12h`, "
            "`30d` or `8w`. Without it, the ages in the settings.",
        ),
    ] = None,
    rewrite: Annotated[
        bool,
        typer.Option(
            "--vacuum",
            help="Then rewrite the whole database file without its free space. Handrail must not "
            "be running.",
        ),
    ] = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Remove results and calls that are older than the settings allow.

    For example: `handrail prune --dry-run`, or `handrail prune --older-than 30d`.

    The server does this itself once an hour; it may keep running. The audit log stays complete.
    """
    if dry_run and rewrite:
        raise typer.BadParameter("with --dry-run, nothing is rewritten", param_hint="--vacuum")
    own, age = Home(load_settings(home=home).home), _read_age(older_than)
    if rewrite:
        with own.at_rest():
            pass  # Refused before anything is removed.
    pruned = asyncio.run(prune(own, find_retention(own, age), dry_run=dry_run))
    sizes = vacuum(own) if rewrite else None
    if json:
        print_json(_in_json(pruned, sizes, dry_run=dry_run))
    else:
        _tell(pruned, sizes, dry_run=dry_run)


def _read_age(words: str | None) -> timedelta | None:
    if words is None:
        return None
    found = re.fullmatch(r"([1-9][0-9]{0,4})([hdw])", words)
    if found is None:
        raise typer.BadParameter(
            "an age is a number with h, d or w for hours, days or weeks, such as 30d",
            param_hint="--older-than",
        )
    return int(found[1]) * _UNITS[found[2]]


def _in_json(pruned: Pruned, sizes: tuple[int, int] | None, *, dry_run: bool) -> dict[str, Any]:
    removed, space = pruned.removed, pruned.space
    return {
        "dry_run": dry_run,
        "calls": removed.calls,
        "results": removed.results,
        "questions": removed.questions,
        "bytes": removed.bytes,
        "database_bytes": space.bytes if sizes is None else sizes[1],
        "free_bytes": space.free_bytes if sizes is None else 0,
        "over_limit_bytes": max(0, space.used_bytes - pruned.max_bytes),
    }


def _tell(pruned: Pruned, sizes: tuple[int, int] | None, *, dry_run: bool) -> None:
    removed, space = pruned.removed, pruned.space
    verb = "Would remove" if dry_run else "Removed"
    say(
        f"{verb} {many(removed.calls, 'call')}, {many(removed.results, 'result')} and "
        f"{many(removed.questions, 'question')}: {_size(removed.bytes)}."
    )
    if space.used_bytes > pruned.max_bytes:
        over = _size(space.used_bytes - pruned.max_bytes)
        then = "The oldest results would go as well, then the oldest calls." if dry_run else ""
        say(f"The database is {over} above retention.max_database_mb. {then}".rstrip())
    if sizes is not None:
        say(f"Rewrote the database file: {_size(sizes[0])} before, {_size(sizes[1])} now.")
    elif space.free_bytes and not space.can_shrink and not dry_run:
        remark(
            f"{_size(space.free_bytes)} of the database file are free and will be used again. To "
            "make the file smaller, stop Handrail and run `handrail prune --vacuum`."
        )


def _size(count: int) -> str:
    for unit, size in (("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return many(count, "byte")

"""What people see: tables and sentences in the terminal, JSON for programs."""

import json
import os
import shutil
import sys
from typing import Any, cast

import typer
from rich.console import Console
from rich.markup import escape

from handrail.client.exit_codes import failed_exit
from handrail.core.masks import is_cut
from handrail.core.visible import cut
from handrail.core.visible import visible as make_visible

console = Console(highlight=False, emoji=False)
_beside = Console(stderr=True, highlight=False, emoji=False)

_STATUS_STYLE = {
    "completed": "green",
    "failed": "red",
    "rejected": "red",
    "timeout": "yellow",
    "awaiting_approval": "yellow",
}


def say(text: str = "") -> None:
    console.print(text, soft_wrap=True)


def remark(text: str) -> None:
    """Said beside what a program reads: on standard error."""
    _beside.print(text, soft_wrap=True)


def is_terminal() -> bool:
    """Whether standard output is read by a person and kept in no file.

    Not asked of Rich, which lets the environment decide.
    """
    return sys.stdout.isatty()


def program() -> str:
    """How to call this command from here: by its name if that finds it, else by its path."""
    found = shutil.which("handrail")
    if found is not None and os.path.realpath(found) == os.path.realpath(sys.argv[0]):
        return "handrail"
    return sys.argv[0] if sys.argv[0].endswith("handrail") else "python -m handrail"


def status(word: str) -> str:
    return f"[{_STATUS_STYLE.get(word, 'cyan')}]{visible(in_words(word))}[/]"


def in_words(status: str) -> str:
    """What people call a status, where that is another word than the one on the wire."""
    return "refused" if status == "rejected" else status


def ending(call: dict[str, Any]) -> str:
    """The status of a call, or the exit code of a command that failed."""
    code = failed_exit(call)
    return status(call["status"]) if code is None else f"[{_STATUS_STYLE['failed']}]exit {code}[/]"


def visible(text: object, *, keep: str = "") -> str:
    """Text from elsewhere, unable to move the cursor, change colours or hide anything."""
    return escape(make_visible(str(text), keep=keep))


def in_short(value: object, most: int = 60) -> str:
    """A value in a few words: many lines are counted, long ones cut."""
    text = " ".join(map(str, cast(list[object], value))) if isinstance(value, list) else str(value)
    if (lines := text.count("\n")) > 0:
        return f"[{lines:,} line{'s' * (lines > 1)}{' and more' * is_cut(text)}]"
    return cut(text, most)


def many(number: int, one: str, more: str | None = None) -> str:
    """A number of things, in words that agree with it."""
    return f"{number:,} {one if number == 1 else more or f'{one}s'}"


def complain(words: object) -> None:
    """Say on standard error what went wrong."""
    typer.echo(f"handrail: {make_visible(str(words), keep=chr(10))}", err=True)


def print_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=2, default=str))

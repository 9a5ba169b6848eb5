"""Files whose content goes through a pipe, or a redirection, to what runs it as code."""

import re
from collections.abc import Collection, Iterator, Sequence

from handrail.core.stage import ScriptFile
from handrail.policy.validators.commands import CommandValidator

# What stands behind a `<`, as far as it can be told without a shell.
_READ_IN = re.compile(r"(?<!<)<(?![<&(])[ \t]*(['\"]?)([\w.,+@%/-]{1,400})\1(?=[\s;|&)<>]|\Z)")


def files_read_by(
    validator: CommandValidator,
    command: str,
    args: Sequence[str],
    patterns: Collection[str] = (),
) -> Iterator[ScriptFile]:
    """What a command may open, as code that somebody else would run; many are no files at all."""
    folder = "" if validator.folder == "." else f"{validator.folder}/"
    several = {_plain(f"{folder}{pattern}") for pattern in patterns}
    for path, _ in validator.files_of(command, args):
        name = _plain(path)
        if name != "-" and not name.startswith("~"):
            yield ScriptFile(name, is_pattern=name in several)


def files_read_in(validator: CommandValidator, text: str) -> Iterator[ScriptFile]:
    """What redirections of a line of bash name, as far as that can be told."""
    for found in _READ_IN.finditer(text):
        path = validator.path_of(found[2])
        if path is not None:
            yield ScriptFile(_plain(path))


def _plain(path: str) -> str:
    return "/".join(part for part in path.split("/") if part not in ("", ".")) or "."

"""Files whose content goes through a pipe, or a redirection, to what runs it as code."""

from collections.abc import Collection, Iterator, Sequence

from handrail.core.stage import NamedFile
from handrail.policy.shell.sight import Seen
from handrail.policy.validators.commands import CommandValidator
from handrail.policy.validators.paths import plain


def files_read_by(
    validator: CommandValidator,
    command: str,
    args: Sequence[str],
    patterns: Collection[str] = (),
) -> Iterator[NamedFile]:
    """What a command may open, as code that somebody else would run; many are no files at all."""
    folder = "" if validator.folder == "." else f"{validator.folder}/"
    several = {plain(f"{folder}{pattern}") for pattern in patterns}
    for path, _ in validator.files_of(command, args):
        name = plain(path)
        if name != "-" and not name.startswith("~"):
            yield NamedFile(name, is_pattern=name in several)


def files_read_in(validator: CommandValidator, seen: Seen) -> Iterator[NamedFile]:
    """What redirections of a line of bash read from, as far as that can be told."""
    for target, is_written in seen.targets:
        path = None if is_written else validator.path_of(target)
        if path is not None:
            yield NamedFile(plain(path))

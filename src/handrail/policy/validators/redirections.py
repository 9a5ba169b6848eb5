"""Protected files that a line of bash redirects to or from."""

import re
from collections.abc import Iterator

from handrail.core.risk import Finding
from handrail.policy.shell.sight import Seen
from handrail.policy.validators.commands import SPELLING_RULES, CommandValidator
from handrail.policy.validators.paths import PathValidator

# Of the box itself, which has nothing behind them; and the numbers of streams, as in `2>&1`.
_OF_NOBODY = re.compile(
    r"/dev/(?:null|zero|full|u?random|tty|std(?:in|out|err)|fd/\d+)|/tmp/(?!.*\.\.).+|\d+|-"
)
_CHANGES_FOLDER = frozenset(["cd", "pushd", "popd"])


def refused_targets(seen: Seen, validator: CommandValidator) -> Iterator[Finding]:
    """Refusals of protected files. A path outside the workspace is left to the box.

    Where the line changes its folder first, only the end of a relative path is known.
    """
    paths, folder = PathValidator(validator.root, validator.rules), validator.folder
    moves = any(command[0] in _CHANGES_FOLDER for command in seen.commands)
    for path, is_written in seen.targets:
        if _OF_NOBODY.fullmatch(path):
            continue
        from_root = path if path.startswith(("/", "~")) or folder == "." else f"{folder}/{path}"
        judged = _end_of(path) if moves and not path.startswith(("/", "~")) else from_root
        findings = paths.validate_path(judged, writing=is_written) if judged else []
        yield from (one for one in findings if one.rule not in SPELLING_RULES)


def _end_of(path: str) -> str:
    """What is left of a path when all that leads upwards is taken from its beginning."""
    parts = path.split("/")
    while parts and parts[0] in ("", ".", ".."):
        parts.pop(0)
    return "/".join(part for part in parts if part != "..")

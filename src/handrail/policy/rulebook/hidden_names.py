"""Names that begin with a dot and are guarded, for which a pattern may stand."""

import re
from collections.abc import Iterable, Iterator

from handrail.core.wildcard import compile_wildcard
from handrail.policy.rulebook.paths import PathRule

_SPECIAL = re.compile(r"[*?\[]")


def guarded_names(rules: Iterable[PathRule]) -> tuple[str, ...]:
    """The hidden names of which path rules speak, by their patterns and examples."""
    told = (path for rule in rules for path in (*rule.patterns, *rule.caught))
    parts = (part for path in told for part in path.split("/") if part.startswith("."))
    return tuple(dict.fromkeys(part for part in parts if not _SPECIAL.search(part)))


def could_stand_for(pattern: str, names: Iterable[str]) -> Iterator[str]:
    """The pattern with a guarded name in the place of each part that fits one.

    Only a part that begins with a dot stands for hidden names. One with a `*` is left to whoever
    sees the names: `.py*` says nothing of a password file, as `.gi?` says of `.git`.
    """
    parts = pattern.split("/")
    for place, part in enumerate(parts):
        if not part.startswith(".") or "*" in part or not _SPECIAL.search(part):
            continue
        fits = compile_wildcard(part.casefold())
        for name in names:
            if fits.fullmatch(name):
                yield "/".join((*parts[:place], name, *parts[place + 1 :]))

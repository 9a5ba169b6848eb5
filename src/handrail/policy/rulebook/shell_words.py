"""Words that only a shell understands, where there is none."""

import re
from collections.abc import Iterable

from handrail.core.risk import Finding, forbidden
from handrail.policy.rulebook.reading import shown

HOW = "`command` is the name alone, `args` the words that follow, and no shell reads them"

LINES = "a line with pipes or redirections is for run_bash"

_FOR_A_SHELL = re.compile(r"[|&;]{1,2}|\|&|<{1,3}|[\d&]?>{1,2}[&|]?\S*")


def words_for_a_shell(words: Iterable[str]) -> list[Finding]:
    """Refuse them: they would be taken for the names of files."""
    return [
        forbidden(
            "command.spelling",
            f"{shown(word)} is for a shell, and no shell reads this; {HOW}; {LINES}",
        )
        for word in words
        if _FOR_A_SHELL.fullmatch(word)
    ]

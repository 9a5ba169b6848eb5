"""Words that stand in a line by mistake."""

import re

from handrail.core.risk import Finding, forbidden
from handrail.policy.rulebook.reading import shown

HOW = "`command` is the name alone, `args` the words that follow, and no shell reads them"

LINES = "a line with pipes or redirections is for run_bash"

_FOR_A_SHELL = re.compile(r"[|&;]{1,2}|\|&|<{1,3}|[\d&]?>{1,2}[&|]?\S*")


def refusal_of_a_shells(word: str) -> Finding | None:
    """What is said to a word that only a shell would understand."""
    if not _FOR_A_SHELL.fullmatch(word):
        return None
    reason = f"{shown(word)} is for a shell, and no shell reads this; {HOW}; {LINES}"
    return forbidden("command.spelling", reason)

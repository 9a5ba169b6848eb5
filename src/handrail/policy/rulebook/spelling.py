"""Words that are not what they should be where they stand."""

import re
from collections.abc import Iterator

from handrail.core.risk import Finding, RiskLevel, forbidden
from handrail.policy.rulebook.concerns import rule_of
from handrail.policy.rulebook.reading import shown

HOW = "put the program alone in `command` and its arguments in `args`; no shell reads them"

LINES = "use run_bash for pipes and redirections"

# Words of the shell itself, harmless in a shell that ends with its line.
SHELL_WORDS = frozenset(
    [
        *(":", ".", "[", "alias", "break", "builtin", "cd", "command", "continue", "declare"),
        *("dirs", "exec", "exit", "export", "getopts", "hash", "let", "local", "mapfile", "popd"),
        *("printf", "pushd", "read", "readonly", "return", "set", "shift", "shopt", "source"),
        *("test", "trap", "true", "false", "type", "typeset", "ulimit", "umask", "unset", "wait"),
    ]
)
_PROGRAMS_TOO = {"[", "false", "printf", "test", "true"}

ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)
ADDRESS = re.compile(
    r".*://|[\w.+-]{1,64}@[\w.-]{1,255}:|(?:git|github|gitlab|bitbucket|gist):", re.DOTALL
)
_FOR_A_SHELL = re.compile(r"[|&;]{1,2}|\|&|<{1,3}|[\d&]?>{1,2}[&|]?\S*")


def why_of_a_shells(name: str) -> str:
    """What is said to the name of a command that only a shell has; of others, nothing."""
    if name == "cd":
        return (
            "is a shell builtin; set working_dir to the folder, or use run_bash with"
            " `cd FOLDER && …`"
        )
    if name in SHELL_WORDS - _PROGRAMS_TOO:
        return "is a shell builtin; use run_bash"
    return ""


def refusal_of_a_shells(word: str) -> Finding | None:
    """What is said to a word that only a shell would understand."""
    if not _FOR_A_SHELL.fullmatch(word):
        return None
    reason = f"{shown(word)} is shell syntax; {HOW}; {LINES}"
    return forbidden("command.spelling", reason)


def code_in_address(title: str, flag: str, value: str) -> Iterator[Finding]:
    """Where a file of code is named, `data:…` is code itself, and other addresses are no better."""
    if ":" in value:
        reason = f"{title} {flag} {shown(value)} runs code that is no file of the workspace"
        yield Finding(rule_of(title), reason, RiskLevel.HIGH)

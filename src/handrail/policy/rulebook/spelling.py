"""Words of a shell that stand where no shell reads them."""

import re

from handrail.core.risk import Finding, forbidden
from handrail.policy.rulebook.reading import shown

HOW = "put the program alone in `command` and its arguments in `args`; no shell reads them"

_LINES = "use run_bash for pipes and redirections"

# Builtins that are harmless in a shell that ends with its line.
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


def builtin_reason(name: str) -> str:
    """Why a name means nothing outside a shell; empty for other names."""
    if name == "cd":
        return (
            "is a shell builtin; set working_dir to the folder, or use run_bash with"
            " `cd FOLDER && …`"
        )
    if name in SHELL_WORDS - _PROGRAMS_TOO:
        return "is a shell builtin; use run_bash"
    return ""


def refuse_shell_syntax(word: str) -> Finding | None:
    """A refusal of an operator such as `|` that was passed as an argument."""
    if not _FOR_A_SHELL.fullmatch(word):
        return None
    return forbidden("command.spelling", f"{shown(word)} is shell syntax; {HOW}; {_LINES}")

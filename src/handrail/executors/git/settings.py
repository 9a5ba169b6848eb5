"""Settings for git, as names and values."""

import os

Pairs = list[tuple[str, str]]
# git reads no settings of this machine, asks no questions and waits for nothing.
ALONE: Pairs = [
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", os.devnull),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_ASKPASS", "/bin/false"),
    ("GIT_NO_LAZY_FETCH", "1"),
]


def as_variables(settings: Pairs) -> Pairs:
    """Environment variables that set these settings, with precedence over all files."""
    variables = [("GIT_CONFIG_COUNT", str(len(settings)))]
    for number, (name, value) in enumerate(settings):
        variables += [(f"GIT_CONFIG_KEY_{number}", name), (f"GIT_CONFIG_VALUE_{number}", value)]
    return variables

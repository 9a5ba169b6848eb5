"""npm and its kin, which obey settings that no word names.

Settings that name a program are no project's to decide. npm obeys the `.npmrc` of every folder it
comes to, also of a package that it has just fetched; what stands in the environment counts for
more. An empty variable is none to it, one blank is.
"""

import os

from handrail.core.errors import ToolError
from handrail.core.stage import Stage
from handrail.executors.processes.programs import ProgramFinder

_NAMES = frozenset({"npm", "npx", "pnpm", "pnpx", "yarn", "yarnpkg"})
_NO_SCRIPTS = "--ignore-scripts"
_NOTHING = " "
_PINNED = (
    ("NPM_CONFIG_SCRIPT_SHELL", "/bin/sh"),
    ("NPM_CONFIG_SHELL", "/bin/sh"),
    ("NPM_CONFIG_NODE_OPTIONS", _NOTHING),
    ("NPM_CONFIG_BROWSER", _NOTHING),
    ("NPM_CONFIG_VIEWER", "man"),
    ("NPM_CONFIG_EDITOR", "false"),
    # Nothing can ever be there, so that it goes by its own.
    ("NPM_CONFIG_INIT_MODULE", "/dev/null/npm-init.js"),
)


def runs_npm(stage: Stage) -> bool:
    return any(os.path.basename(name) in _NAMES for name in (stage.argv[0], *stage.programs))


def npm_settings(stage: Stage, programs: ProgramFinder) -> tuple[tuple[str, str], ...]:
    """What it is told. Where scripts are off, they are so for all that it starts in turn."""
    if not runs_npm(stage):
        return ()
    scripts = (("NPM_CONFIG_IGNORE_SCRIPTS", "true"),) if _NO_SCRIPTS in stage.argv else ()
    return (*_PINNED, *_git(programs), *scripts)


def _git(programs: ProgramFinder) -> tuple[tuple[str, str], ...]:
    try:
        return (("NPM_CONFIG_GIT", programs.find("git")),)
    except ToolError:
        return (("NPM_CONFIG_GIT", "git"),)

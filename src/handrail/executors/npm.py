"""npm and its kin, which obey files that nobody named.

Settings that name a program are no project's to decide. npm obeys the `.npmrc` of every folder it
comes to, also of a package that it has just fetched; what stands in the environment counts for
more. An empty variable is none to it, one blank is.
"""

import os
from collections.abc import Iterable

from handrail.core.errors import CommandExecutionError, ToolError
from handrail.core.sight import FileSort, SeenFile
from handrail.core.stage import Stage
from handrail.executors.programs import ProgramFinder

_NAMES = frozenset({"npm", "npx", "pnpm", "pnpx", "yarn", "yarnpkg"})
_PROJECT = "package.json"
_IS_THERE = (FileSort.FILE, FileSort.LARGE)
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


def refuse_missing_project(stage: Stage, files: Iterable[SeenFile]) -> None:
    """Where the folder has no project that is a file, they would run one of a folder above it.

    Raises:
        CommandExecutionError: It is so.
    """
    path = os.path.normpath(os.path.join(stage.folder, _PROJECT))
    if not runs_npm(stage) or all(file.sort in _IS_THERE for file in files if file.path == path):
        return
    raise CommandExecutionError(
        f"{path} is no file, so that another one above it would be obeyed, which nobody has seen;"
        " set working_dir to the folder of the project that is meant"
    )

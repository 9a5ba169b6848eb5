"""Finding a program of the person, and the folders that it cannot run without."""

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from handrail.core.errors import CommandExecutionError
from handrail.core.visible import visible
from handrail.executors.toolchains.toolchain import is_systems

_MOST_SHEBANG_BYTES = 256
_SHEBANG = re.compile(rb"#!\s*(\S+)(?:[ \t]+(?:-S[ \t]+)?(\S+))?")
_PACKAGES = "node_modules"
_ENVIRONMENT = "pyvenv.cfg"
_PYTHON = re.compile(r"python[0-9.]*")


@dataclass(frozen=True, slots=True)
class Program:
    """A program by its true path, folders that it needs to see, and where its helpers are."""

    path: str
    shown: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


def find_program(name: str, search_path: str, root: str) -> Program:
    """Find what a name means in the person's shell; `root` is the workspace.

    Raises:
        CommandExecutionError: There is no such program, or it would need to see the whole home.
    """
    found = shutil.which(name, path=search_path)
    if found is None:
        raise CommandExecutionError(
            f"`{visible(name)}` is not a program on your PATH; install it, or name it by its path"
        )
    path = os.path.realpath(found)
    parts = [*_parts(path, search_path, root)]
    shown = dict.fromkeys(folder for part in parts for folder in part.shown)
    folders = dict.fromkeys(folder for part in parts for folder in part.folders)
    home = Path(os.path.realpath(Path.home()))
    if above := next((folder for folder in shown if home.is_relative_to(folder)), None):
        raise CommandExecutionError(
            f"{visible(path)} cannot run without {visible(above)}, which holds your whole home;"
            " install it in a folder of its own"
        )
    return Program(path, tuple(shown), tuple(folders))


def _parts(path: str, search_path: str, root: str) -> Iterator[Program]:
    """The program itself and the interpreter that it names, if neither is a part of the system."""
    if not (is_systems(path) or path.startswith(f"{root}/")):
        yield Program(path, tuple(_needed_by(path)))
    interpreter = _interpreter_of(path)
    if not interpreter:
        return
    found = shutil.which(interpreter, path=search_path)
    if found is None:
        raise CommandExecutionError(
            f"{visible(path)} needs `{visible(interpreter)}`, which is not installed"
        )
    true_path = os.path.realpath(found)
    if not is_systems(true_path):
        here = os.path.dirname(true_path)
        yield Program(true_path, tuple(_needed_by(true_path)), (here,))


def _needed_by(path: str) -> Iterator[str]:
    """The files that a program loads; never a whole home, which may hold secrets."""
    above = [*reversed(Path(path).parents)]
    packages = next((folder for folder in above if folder.name == _PACKAGES), None)
    environment = next((folder for folder in above if (folder / _ENVIRONMENT).is_file()), None)
    if packages is not None:
        yield str(packages)
    elif environment is not None:
        yield str(environment)
        base = os.path.realpath(environment / "bin" / "python")
        if not is_systems(base):
            yield from _python_at(base)
    elif _PYTHON.fullmatch(os.path.basename(path)):
        yield from _python_at(path)
    else:
        yield path


def _python_at(path: str) -> Iterator[str]:
    folder = os.path.dirname(path)
    yield folder
    library = os.path.join(os.path.dirname(folder), "lib")
    if os.path.isdir(library):
        yield library


def _interpreter_of(path: str) -> str:
    """The program in the first line of a script; `env` stands for the one that it finds."""
    try:
        with open(path, "rb") as file:
            first = file.read(_MOST_SHEBANG_BYTES).partition(b"\n")[0]
    except OSError:
        return ""
    match = _SHEBANG.match(first)
    if match is None:
        return ""
    program, word = (
        match.group(1).decode(errors="replace"),
        (match.group(2) or b"").decode(errors="replace"),
    )
    return word if os.path.basename(program) == "env" else program

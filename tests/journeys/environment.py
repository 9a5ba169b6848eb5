"""A virtual environment for a workspace, made of what runs the tests; nothing is downloaded."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

SYSTEM = Path("/usr/bin/python3")
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def make_environment(root: Path, *names: str) -> Path:
    """The folder `.venv` of a project, with these packages of the tests' own environment."""
    folder = root / ".venv"
    command = [str(SYSTEM), "-m", "venv", "--without-pip", str(folder)]
    subprocess.run(command, check=True, timeout=60)
    (packages,) = folder.glob("lib/python3*/site-packages")
    for found in _with_required(names):
        _copy(found, packages, folder / "bin")
    return folder


def _with_required(names: tuple[str, ...]) -> Iterator[Distribution]:
    todo, seen = [*names], set[str]()
    while todo:
        name = todo.pop().lower().replace("_", "-")
        if name in seen:
            continue
        seen.add(name)
        found = distribution(name)
        yield found
        # Those that belong to an extra or to another system carry a marker.
        needed = [one for one in found.requires or () if ";" not in one]
        todo += [match.group() for one in needed if (match := _NAME.match(one))]


def _copy(found: Distribution, packages: Path, programs: Path) -> None:
    for file in found.files or ():
        if ".." not in file.parts and "__pycache__" not in file.parts:
            target = packages / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(str(found.locate_file(file)), target)
        elif file.parent.name == "bin":
            shutil.copy2(str(found.locate_file(file)), programs / file.name)
    for entry in found.entry_points:
        if entry.group == "console_scripts":
            _write_program(programs / entry.name, *entry.value.split(":"))


def _write_program(path: Path, module: str, function: str) -> None:
    lines = (
        f"#!{path.parent}/python",
        "import sys",
        f"from {module} import {function.strip()}",
        f"sys.exit({function.strip()}())",
    )
    path.write_text("\n".join((*lines, "")))
    path.chmod(0o755)


def same_version() -> bool:
    """Whether packages that run the tests work for the system's Python, too."""
    words = [str(SYSTEM), "-c", "import sys; print(*sys.version_info[:2])"]
    told = subprocess.run(words, capture_output=True, text=True, check=False)
    return told.stdout.split() == [str(part) for part in sys.version_info[:2]]

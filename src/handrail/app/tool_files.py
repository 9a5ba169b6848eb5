"""Tools in single files: every `*.py` file in the `tools` folder of the home."""

import inspect
import os
import stat
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from handrail.core.errors import SetupError
from handrail.tools.base import AnyTool, Tool
from handrail.tools.registry import ToolRegistry


def list_tool_files(folder: Path) -> list[Path]:
    """The files in name order; a name that begins with `_` or `.` is skipped.

    Raises:
        SetupError: The folder is a link, or other users can write to it.
    """
    if not os.path.lexists(folder):
        return []
    if not stat.S_ISDIR(folder.lstat().st_mode):
        raise SetupError(f"{folder} is not a folder; tool files are not read from anywhere else")
    _check_own(folder.lstat(), folder)
    return sorted(path for path in folder.glob("*.py") if path.name[0] not in "_.")


def load_tool_file(path: Path) -> list[AnyTool]:
    """Run the file and collect its tools.

    They are those that its `register(registry)` adds or, without that function, its `Tool` classes.

    Raises:
        SetupError: The file can be changed by others, or has no tool. Errors of its own pass.
    """
    code = compile(_read_own(path), str(path), "exec")
    module = ModuleType(f"handrail_tool_{path.stem}")
    module.__file__ = str(path)
    # Pydantic finds the types that a class names by its module.
    sys.modules[module.__name__] = module
    try:
        # The owner of the home has put it there to be run.
        exec(code, module.__dict__)  # noqa: S102
    except BaseException:
        del sys.modules[module.__name__]
        raise
    if (register := getattr(module, "register", None)) is not None:
        return registered_by(register, path.name)
    if not (found := [tool() for tool in _classes_of(module)]):
        raise SetupError("it has no class derived from Tool and no function register(registry)")
    return found


def registered_by(register: Any, place: str) -> list[AnyTool]:
    """The tools that a function adds to the registry it is called with.

    Raises:
        SetupError: It is not a function, or has added no tool.
    """
    if isinstance(register, type) or not callable(register):
        raise SetupError(f"{place} is neither a Tool nor a function that registers one")
    own = ToolRegistry()
    register(own)
    if not len(own):
        raise SetupError(f"{place} has registered no tool")
    return list(own)


def _classes_of(module: ModuleType) -> list[type[AnyTool]]:
    classes: list[type[Any]] = [value for value in vars(module).values() if inspect.isclass(value)]
    return [
        cast(type[AnyTool], value)
        for value in classes
        if value.__module__ == module.__name__
        and not inspect.isabstract(value)
        and issubclass(value, Tool)
    ]


def _read_own(path: Path) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        if path.is_symlink():
            raise SetupError("it is a symbolic link; put the file itself there") from error
        raise SetupError(f"it cannot be read: {error.strerror}") from error
    with os.fdopen(descriptor, "rb") as stream:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise SetupError("it is not a regular file")
        if found.st_nlink > 1:
            # The other name may be in a workspace.
            raise SetupError("it has a second name (a hard link); copy it instead")
        _check_own(found, path)
        return stream.read()


def _check_own(found: os.stat_result, path: Path) -> None:
    if found.st_uid != os.geteuid():
        raise SetupError(f"it belongs to another user; give it back: sudo chown $(id -u) {path}")
    if found.st_mode & 0o022:
        raise SetupError(f"other users can write to it; close it: chmod go-w {path}")

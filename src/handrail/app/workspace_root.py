"""Which folders agents may work in."""

from pathlib import Path

from handrail.app.home import Home
from handrail.core.errors import SetupError


def usable_root(home: Home, workspace: Path) -> Path:
    """The true path of a folder that agents may work in.

    Raises:
        SetupError: It is not a folder, or Handrail's own folder is inside it.
    """
    root = workspace.resolve()
    if not root.is_dir():
        raise SetupError(f"{root} is not a folder; name the folder that agents should work in")
    if home.path.resolve().is_relative_to(root):
        raise SetupError(
            f"{root} contains Handrail's own folder {home.path}; choose the folder of a project"
        )
    return root

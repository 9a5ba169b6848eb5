"""Which folders agents may work in."""

from pathlib import Path

from handrail.app.home import Home
from handrail.app.settings import HOME
from handrail.core.errors import SetupError

_DEFAULT_HOME = Path(HOME.default)
# Folders of the operating system, with everything below them.
_SYSTEM_TREES = (
    "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/boot", "/dev", "/etc", "/proc", "/sys",
    "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64", "/usr/share",
    "/System", "/Library", "/private/etc",
)  # fmt: skip
# Folders of the operating system that have places for projects below them.
_SYSTEM_FOLDERS = ("/", "/usr", "/usr/local", "/var", "/opt", "/Applications")
_SHARED_MEMORY = "/dev/shm"  # noqa: S108  a folder as good as any other


def usable_root(home: Home, workspace: Path) -> Path:
    """The true path of a folder that agents may work in.

    Raises:
        SetupError: It is not a folder, it belongs to the operating system, or it contains or is
            inside a folder of Handrail's own.
    """
    root = workspace.resolve()
    if not root.is_dir():
        raise SetupError(f"{root} is not a folder; name the folder that agents should work in")
    if (found := _find_home_above(home, root)) is not None:
        inside = "is" if found == root else "is inside"
        raise SetupError(
            f"{root} {inside} a folder of Handrail's own, with its database and keys ({found}); "
            "choose the folder of a project"
        )
    if (found := _find_home_below(home, root)) is not None:
        raise SetupError(
            f"{root} contains Handrail's own folder {found}; choose the folder of a project"
        )
    if _is_of_system(root):
        raise SetupError(f"{root} belongs to the operating system; choose the folder of a project")
    return root


def _find_home_above(home: Home, root: Path) -> Path | None:
    own = home.path.resolve()
    places = (root, *root.parents)
    return next((place for place in places if place == own or Home(place).is_used()), None)


def _find_home_below(home: Home, root: Path) -> Path | None:
    if home.path.resolve().is_relative_to(root):
        return home.path
    others = (_DEFAULT_HOME.expanduser().resolve(), root / _DEFAULT_HOME.name)
    return next(
        (place for place in others if place.is_relative_to(root) and Home(place).is_used()), None
    )


def _is_of_system(root: Path) -> bool:
    if str(root) in _SYSTEM_FOLDERS:
        return True
    if root.is_relative_to(_SHARED_MEMORY):
        return False
    return any(root.is_relative_to(tree) for tree in _SYSTEM_TREES)

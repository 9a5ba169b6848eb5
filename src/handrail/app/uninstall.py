"""Taking away what Handrail has made, exactly that, and nothing that is a person's own."""

import os
import shutil
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from handrail.app.home import WRITTEN_BY_HAND, Home
from handrail.app.provider_keys import ProviderKeys
from handrail.core.errors import SetupError

TOUR_FOLDER = "handrail-tour"
POLICY_FOLDER = ".handrail"
UNDO_FOLDER = "undo"
_TOUR_FILES = {"config.json", "hello.txt"}
# Each home has at least one of them.
_MARKS = ("handrail.db", "audit.key")
# Whoever keeps such a folder in it keeps more there than Handrail does.
_FOREIGN = (".git", ".ssh", "Documents")


@dataclass(frozen=True, slots=True)
class Item:
    path: Path
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Estate:
    """The files that would be removed, those that stay, and the stored keys of providers.

    In workspaces, files of the tour and the before-images kept for undo are removed.
    """

    home: Path
    inside: list[Item]
    tours: list[Item]
    undo: list[Item]
    kept: list[Path]
    keys: dict[str, str]

    @property
    def size_bytes(self) -> int:
        return sum(item.size_bytes for item in (*self.inside, *self.tours, *self.undo))


def survey_estate(home: Home) -> Estate:
    """What there is; nothing is touched.

    Raises:
        SetupError: There is nothing, or it does not look like Handrail's own folder.
    """
    _check_is_ours(home)
    workspaces = sorted({Path(known.workspace) for known in home.list_credentials()})
    tours = [place / TOUR_FOLDER for place in workspaces]
    undo = [place / POLICY_FOLDER / UNDO_FOLDER for place in workspaces]
    policies = [place / POLICY_FOLDER for place in workspaces]
    return Estate(
        home.path,
        [
            Item(path, _size(path))
            for path in sorted(home.path.iterdir())
            if path.name not in WRITTEN_BY_HAND
        ],
        [Item(path, _size(path)) for path in tours if _is_made_by_the_tour(path)],
        [Item(path, _size(path)) for path in undo if _is_reached_without_links(path)],
        [
            *(path for path in _written_in(home.path) if os.path.lexists(path)),
            *(path for path in policies if _holds_more_than_undo(path)),
        ],
        ProviderKeys(home).kept(),
    )


def remove_estate(home: Home, estate: Estate) -> None:
    """Remove it, while no server and no client can run; links are removed, never followed."""
    with home.at_rest():
        _check_is_ours(home)
        _forget_keys(home, estate)
        for item in estate.tours:
            if _is_made_by_the_tour(item.path):
                _remove(item.path)
        for item in estate.undo:
            if _is_reached_without_links(item.path):
                _remove(item.path)
            with suppress(OSError):
                item.path.parent.rmdir()
        written = [path for path in _written_in(home.path) if os.path.lexists(path)]
        if not written:
            _remove(estate.home)
            return
        for path in home.path.iterdir():
            if path not in written:
                _remove(path)


def _forget_keys(home: Home, estate: Estate) -> None:
    """First of all: without the note in the folder nobody would know of a key in a keyring."""
    for provider in estate.keys:
        try:
            ProviderKeys(home).forget(provider)
        except SetupError as error:
            way_out = f"unlock it, or remove {home.keys} to leave the key where it is"
            raise SetupError(f"{error.message}; nothing was removed: {way_out}") from error


def _written_in(home: Path) -> list[Path]:
    return [home / name for name in WRITTEN_BY_HAND]


def _check_is_ours(home: Home) -> None:
    path = home.path
    if path.is_symlink():
        raise SetupError(f"{path} is a link; name the folder itself with --home")
    if not path.is_dir():
        raise SetupError(
            f"there is no {path}; Handrail has created nothing there; was it another --home?"
        )
    found = path.lstat()
    here = path.resolve()
    is_wider = Path.home().resolve().is_relative_to(here) or here == Path(here.anchor)
    # Others keep credentials in a file of that name; ours are in a folder, as JSON.
    has_marks = any((path / mark).is_file() for mark in _MARKS) or bool(home.list_credentials())
    has_more = any(os.path.lexists(path / name) for name in _FOREIGN)
    holds_work = any(
        Path(known.workspace).is_relative_to(here) for known in home.list_credentials()
    )
    if found.st_uid != os.geteuid() or is_wider or has_more or holds_work or not has_marks:
        raise SetupError(f"{path} does not look like Handrail's own folder; nothing was removed")


def _is_made_by_the_tour(path: Path) -> bool:
    """Whether a folder holds what the tour writes and nothing else."""
    try:
        if not stat.S_ISDIR(path.lstat().st_mode):
            return False
        found = list(os.scandir(path))
    except OSError:
        return False
    return all(
        entry.name in _TOUR_FILES and entry.is_file(follow_symlinks=False) for entry in found
    )


def _is_reached_without_links(undo: Path) -> bool:
    return undo.is_dir() and not undo.is_symlink() and not undo.parent.is_symlink()


def _holds_more_than_undo(folder: Path) -> bool:
    """True if a workspace's `.handrail` holds more than before-images, such as a policy."""
    if folder.is_symlink() or not folder.is_dir():
        return os.path.lexists(folder)
    return any(path.name != UNDO_FOLDER for path in folder.iterdir())


def _size(path: Path) -> int:
    """In bytes, without following links."""
    total = 0
    for folder, _, files in os.walk(path):
        for name in files:
            try:
                total += Path(folder, name).lstat().st_size
            except OSError:
                continue
    return total or path.lstat().st_size


def _remove(path: Path) -> None:
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    except OSError as error:
        left = error.filename or path
        raise SetupError(f"{left} could not be removed: {error.strerror}") from error

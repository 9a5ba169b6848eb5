"""Which of the effects below `.git` are applied as files, and under which of git's locks."""

from collections.abc import Iterable, Iterator

from handrail.core.effects import Effect, GitEffects, Node
from handrail.core.files import EntryKind
from handrail.executors.git_effects.finding import owner_of
from handrail.executors.git_effects.names import FileKind, inside, kind_of, place_of

_LOCKED = (FileKind.HEAD, FileKind.REF, FileKind.SETTINGS)
_INDEX = "index"
# git removes empty folders of refs. One that stays does no harm, and a lock may be in it.
_KEPT_FOLDERS = ("refs/", "logs/")
_OBJECTS = "objects"


def changes_of_files(git: GitEffects) -> Iterator[Effect]:
    """The changes but for objects, which are taken in by themselves and never removed."""
    replaced = {one.path for one in git.changes if _is_folder(one.before) and one.after}
    for one in git.changes:
        repository = owner_of(one.path, git.repositories)
        name = inside(repository, one.path)
        if repository and (name == _OBJECTS or name.startswith(f"{_OBJECTS}/")):
            continue
        is_kept = name.startswith(_KEPT_FOLDERS) and not any(
            one.path.startswith(f"{path}/") for path in replaced
        )
        if repository and one.after is None and _is_folder(one.before) and is_kept:
            continue
        yield one


def locks_for(changes: Iterable[Effect], git: GitEffects) -> Iterator[str]:
    """The locks by which git keeps others from these files."""
    for one in changes:
        repository = owner_of(one.path, git.repositories)
        if not repository or any(_is_folder(node) for node in (one.before, one.after)):
            continue
        place = place_of(repository, one.path)
        if kind_of(place) in _LOCKED or place.name == _INDEX:
            yield f"{one.path}.lock"


def _is_folder(node: Node | None) -> bool:
    return node is not None and node.kind is EntryKind.DIRECTORY

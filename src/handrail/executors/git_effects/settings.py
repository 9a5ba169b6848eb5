"""The settings of a repository before and after, parsed by git and never obeyed."""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator

from handrail.core.effects import GitNote
from handrail.executors.git_effects.notes import refused, setting

_HELPER = re.compile(r"[A-Za-z0-9+.-]*::|-|.*[\x00-\x1f]", re.DOTALL)
_UPDATES = frozenset({"checkout", "merge", "none", "rebase"})
_BORN_WITH = re.compile(r"core\..*|extensions\.objectformat")

# A key and its value; git says None for a key without any.
Setting = tuple[str, str | None]
LIST_SETTINGS = ("config", "--file", "-", "--no-includes", "--null", "--list")


def _any(value: str) -> bool:
    return "\n" not in value


def _is_address(value: str) -> bool:
    """True if no program chosen by the setting carries what is sent there."""
    return not _HELPER.match(value)


# The settings that git itself writes, and the name of the committer. None names a program.
_MAY_SET: tuple[tuple[re.Pattern[str], Callable[[str], bool]], ...] = tuple(
    (re.compile(pattern, re.DOTALL), is_fit)
    for pattern, is_fit in (
        (r"branch\..*\.(?:description|merge|pushremote|rebase|remote)", _any),
        (r"(?:remote|submodule)\..*\.(?:push)?url", _is_address),
        (r"remote\..*\.(?:fetch|tagopt)", _any),
        (r"remote\.pushdefault", _any),
        (r"submodule\..*\.(?:active|branch)", _any),
        (r"submodule\..*\.update", _UPDATES.__contains__),
        (r"submodule\.active", _any),
        (r"core\.(?:bare|filemode|ignorecase|logallrefupdates|precomposeunicode)", _any),
        (r"core\.(?:autocrlf|eol|repositoryformatversion|safecrlf|symlinks)", _any),
        (r"core\.(?:sparsecheckout|sparsecheckoutcone)", _any),
        (r"extensions\.(?:objectformat|worktreeconfig)", _any),
        (r"index\.(?:sparse|version)|pull\.(?:ff|rebase)|merge\.ff|rebase\.autostash", _any),
        (r"init\.defaultbranch|push\.default|rerere\.enabled|color\..*", _any),
        (r"user\.(?:email|name)", _any),
    )
)
_WORKTREE = "core.worktree"
_GIT = ".git"


def parse_settings(listed: bytes) -> list[Setting]:
    rows = listed.decode(errors="surrogateescape").split("\0")
    parted = (row.partition("\n") for row in rows if row)
    return [(key, value if is_set else None) for key, is_set, value in parted]


def tell_settings(
    before: list[Setting], after: list[Setting], *, is_new: bool, module: str
) -> Iterator[GitNote]:
    """A note for each setting that comes or goes; what each new repository gets is left out.

    `module` is the path of a submodule's repository, and empty for all others.
    """
    was, now = Counter(before), Counter(after)
    for key, value in now - was:
        told = f"{key} = {value or ''}"
        is_place = key == _WORKTREE and _is_place_for(module, value or "")
        if not is_place and not _may_be_set(key, value or ""):
            yield refused(f"changes a setting that git may run or trust: {told}")
        elif not (is_new and _BORN_WITH.fullmatch(key)):
            yield setting(f"setting: {told}")
    keys = {key for key, _ in now}
    for key, value in was - now:
        if key not in keys:
            yield setting(f"setting removed: {key} = {value or ''}")
    if [one for one in before if one in now] != [one for one in after if one in was]:
        yield refused("changes the order of settings, of which the last one counts")


def _is_place_for(module: str, value: str) -> bool:
    """Whether it leads from a submodule's repository to a folder further down in the workspace."""
    top, *folders = os.path.normpath(os.path.join(module, value)).split("/")
    is_below = top not in ("", ".", "..") and _GIT not in (top, *folders)
    return bool(module) and is_below and _any(value)


def _may_be_set(key: str, value: str) -> bool:
    return any(pattern.fullmatch(key) and is_fit(value) for pattern, is_fit in _MAY_SET)

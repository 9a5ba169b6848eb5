"""What macOS would be told to keep a command in: a profile for `sandbox-exec -p`, as text.

Nothing uses it yet: it is written after the same view of a workspace that boxes are made from, and
nobody has tried it on a Mac. Until somebody has, every command asks there.
"""

from collections.abc import Iterable, Iterator, Sequence

from handrail.core.box import Profile
from handrail.executors.sandbox.bubblewrap import View

_SYSTEM = ("/usr", "/bin", "/sbin", "/System", "/Library/Developer/CommandLineTools")
_SETTINGS = ("/private/etc/passwd", "/private/etc/localtime", "/private/etc/ssl")


def profile_text(profile: Profile, view: View, home: str, toolchains: Sequence[str] = ()) -> str:
    """The whole profile. Of rules that fit, the last one counts, so what is refused comes last.

    Raises:
        ValueError: A path holds what no such text can.
    """
    return "\n".join(_lines(profile, view, home, toolchains)) + "\n"


def _lines(profile: Profile, view: View, home: str, toolchains: Sequence[str]) -> Iterator[str]:
    writes = profile is not Profile.READ
    programs = (*_SYSTEM, *toolchains)
    yield "(version 1)"
    yield "(deny default)"
    yield '(import "system.sb")'
    # To find a file, every folder on the way is asked about.
    yield "(allow file-read-metadata)"
    yield _rule("allow file-read*", subpaths=(*programs, *_SETTINGS, view.root, home))
    yield _rule("allow process-exec", subpaths=(*programs, view.root) if writes else programs)
    if writes:
        yield "(allow process-fork)"
        yield "(allow signal (target same-sandbox))"
        yield _rule("allow file-write*", subpaths=(view.root, home))
        yield _rule("deny file-write*", subpaths=(*view.frozen, *view.missing))
        # Who could rename these would carry what is in them out from under its cover.
        yield _rule("deny file-write-unlink", literals=(view.root, *view.pinned))
    yield _rule("deny file-read* file-write*", view.hidden_folders, view.hidden_files)
    yield "(deny network*)"


def _rule(what: str, subpaths: Iterable[str] = (), literals: Iterable[str] = ()) -> str:
    """One rule for several paths; without any it would be a rule for all."""
    places = [
        *(f"(subpath {_quoted(path)})" for path in subpaths),
        *(f"(literal {_quoted(path)})" for path in literals),
    ]
    return f"({what} {' '.join(places)})" if places else f"; nothing to {what}"


def _quoted(path: str) -> str:
    if not path.startswith("/") or not path.isprintable():
        raise ValueError(f"{path!r} cannot stand in a profile")
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'

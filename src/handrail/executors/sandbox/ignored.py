"""What git is told, in the cover of our own folder, of names that it has nothing to do with.

Hidden files look like devices in a box. `git add` and `git clean` would fail on them.
"""

import os
import re
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager

from handrail.executors.processes.memory import in_memory
from handrail.executors.sandbox.bubblewrap import IN_OWN, OWN, View

# For `core.excludesFile`, from the root of a workspace.
HIDDEN_NAMES = f"{OWN}/{IN_OWN[1]}"
_SPECIAL = re.compile(rb"[\\*?\[ ]")


@contextmanager
def ignoring(view: View, *, writable: bool) -> Generator[Mapping[str, int]]:
    """The files that go into the cover of our own folder, if the box has that cover."""
    if os.path.join(view.root, OWN) not in view.emptied(writable=writable):
        yield {}
        return
    patterns = b"".join(pattern + b"\n" for pattern in dict.fromkeys(_patterns(view)))
    with ExitStack() as stack:
        contents = zip(IN_OWN, (b"*\n", patterns), strict=True)
        yield {name: stack.enter_context(in_memory(content)) for name, content in contents}


def _patterns(view: View) -> Iterator[bytes]:
    """The hidden names, from the root of each repository that they are in."""
    for path in view.hidden:
        folder = os.path.dirname(path)
        while f"{folder}/".startswith(f"{view.root}/"):
            if folder == view.root or os.path.lexists(os.path.join(folder, ".git")):
                name = os.fsencode(os.path.relpath(path, folder))
                if b"\n" not in name:
                    yield b"/" + _SPECIAL.sub(rb"\\\g<0>", name)
            folder = os.path.dirname(folder)
